"""Command lines run in this process, and what to say of one that did not end as it should."""

from __future__ import annotations

import io
import sys
import traceback
from contextlib import redirect_stderr, redirect_stdout

from conftest import Answer

from cbr.cli import main


def run(*words: object) -> Answer:
    """Run a command line; an exception that leaves it has code -1 and is in `err`."""
    out, err = io.StringIO(), io.StringIO()
    code = 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main([str(word) for word in words])
        except SystemExit as stop:
            code = int(stop.code or 0)
        except BaseException:
            code = -1
            traceback.print_exc(file=sys.stderr)
    return Answer(code, out.getvalue(), err.getvalue())


def crash(answer: Answer) -> str:
    """What is wrong with an answer to hostile input: anything but success or one sentence."""
    lines = answer.err.strip().splitlines()
    if answer.code not in (0, 2) or "Traceback" in answer.err or "Internal error" in answer.err:
        return f"it ended with code {answer.code}: {lines[-1] if lines else 'it said nothing'}"
    if answer.code == 2 and [line[:7] for line in lines if line[:5] != "Note:"] != ["Error: "]:
        return f"it ended with code 2 and not one sentence: {answer.err.strip()!r}"
    if "encountered in" in answer.err:
        return f"a warning of numpy reached the user: {lines[-1]}"
    return ""
