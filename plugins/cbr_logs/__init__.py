"""Hand histories: readers of logs, and writers of some of them.

This module is loaded by every command, so it imports nothing heavy.
"""
