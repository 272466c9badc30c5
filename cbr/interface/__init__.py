"""The engine as a Python program uses it: one class, `Casebase`, with the words of the commands.

casebase   Casebase: open, add, nearest, update, delete, and everything else a command does
making     build and describe, from files and from frames
nearest    Nearest: the cases nearest to a situation, and what they propose
evaluated  an evaluation that shows itself
targets    situations of a program as arrays
showing    tables as text and HTML
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
