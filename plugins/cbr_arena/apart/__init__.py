"""Bots in processes of their own: `--isolate`.

    wire      messages between the match and such a process: fixed layouts, and no objects
    inside    the process: it builds the bot and answers for it
    outside   the bot in the match: it asks the process, and starts another if that one fails

The process gets what its seat may see and random numbers of its own. It is used for one rotation of
some deals and then ended, so it never meets a deal twice. It cannot raise, print or stop anything
in the match; what it sends is read as numbers of a known count, or as text that is cut and cleaned.
"""
