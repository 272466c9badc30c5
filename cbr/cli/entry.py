"""The entry point of ``cbr``: loads the plugins, runs the command, reports errors.

Exit codes: 0 success; 1 a check found something, or an internal error; 2 bad input, explained by
one sentence on stderr; 130 interrupted.
"""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given == ["--version"]:
        from importlib.metadata import version

        print("cbr-engine", version("cbr-engine"))
        sys.exit(0)
    from cbr.errors import CbrError

    # SIGTERM ends a command as Ctrl-C does, so that it cleans up after itself.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    code = 0
    try:
        code = _run(given or ["--help"], for_good=arguments is None)
        sys.stdout.flush()
    except CbrError as error:
        _fail(error, f"Error: {error}", 2)
    except KeyboardInterrupt as error:
        again = "again with --resume" if "evolve" in given[:1] else "again"
        _interrupted(error, again, leave=arguments is None)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader is gone
        code = 1
    except Exception as error:
        _fail(error, *_sentence(error))
    sys.exit(code)


def _interrupted(error: BaseException, again: str, leave: bool) -> NoReturn:
    """Print a message and exit; with `leave` without waiting for threads that serve workers."""
    sentence = f"Interrupted; everything written so far is complete. Run it {again} to go on."
    if not leave or os.environ.get("CBR_DEBUG"):
        _fail(error, sentence, 130)
    print(sentence, file=sys.stderr, flush=True)
    os._exit(130)


def _sentence(error: Exception) -> tuple[str, int]:
    """The sentence and the exit code for an error that is not a `CbrError`."""
    import sqlite3

    from cbr.plugging.guard import one_line
    from cbr.store.connection import hindrance

    text = " ".join(str(error).split())
    if isinstance(error, sqlite3.DatabaseError):
        if "full" in text:
            return "Error: the disk is full; everything written before is complete", 2
        if reason := hindrance(error):
            return f"Error: the casebase or run file {reason}", 2
        return f"Error: the casebase cannot be used: {text}; run `cbr check` on it", 2
    if isinstance(error, OSError):
        return f"Error: {error.filename or 'output'}: {error.strerror or text}", 2
    if isinstance(error, UnicodeError):
        return f"Error: a name or text is not UTF-8: {text}", 2
    if hasattr(error, "format_message"):  # typer: wrong arguments
        context = getattr(error, "ctx", None)
        which = getattr(context, "command_path", "cbr")
        return f"Error: {error.format_message().rstrip('.')}. See `{which} --help`.", 2
    return f"Internal error: {one_line(error)} (CBR_DEBUG=1 shows the traceback)", 1


def _run(words: list[str], for_good: bool) -> int:
    from cbr.cli.output import only_results
    from cbr.errors import BadValue

    arguments, files, strict = split_plugin_options(words)
    for file in files:
        if not Path(file).is_file():
            raise BadValue(f"--plugin {file}: there is no such file")
    # With --json, stdout has one document and nothing else, whatever a plugin prints.
    with only_results("--json" in arguments and not {"--help", "-h"} & set(arguments), for_good):
        return _command(arguments, files, strict)


def _command(arguments: list[str], files: list[str], strict: bool) -> int:
    from cbr import compile_notice
    from cbr.cli.app import make_app
    from cbr.cli.output import complain, note
    from cbr.errors import PluginFailure
    from cbr.plugging.plugins import Plugins, use_plugins

    plugins = use_plugins(Plugins().load(files))
    reported: set[str] = set()

    def report_problems() -> None:
        for problem in plugins.problems:
            if problem not in reported:
                reported.add(problem)
                complain(problem)

    def warn(message: Warning | str, *_: object, **__: object) -> None:
        note(str(message))

    warnings.showwarning = warn
    compile_notice.to_terminal()
    app = make_app(plugins, arguments)
    if strict and plugins.problems:
        raise PluginFailure(plugins.problems[0])
    report_problems()
    try:
        code = int(app(arguments, prog_name="cbr", standalone_mode=False) or 0)
        if code == 130:  # typer turned a KeyboardInterrupt into this code
            raise KeyboardInterrupt
        return code
    finally:
        report_problems()


def split_plugin_options(given: Sequence[str]) -> tuple[list[str], list[str], bool]:
    """The command line without ``--plugin FILE`` and ``--strict-plugins``, the files, and whether
    plugins are strict.

    Both may stand anywhere: plugins add commands, so they load before the command is parsed.

    >>> split_plugin_options(["query", "x.db", "--plugin", "my.py", "--strict-plugins"])
    (['query', 'x.db'], ['my.py'], True)
    """
    from cbr.errors import BadValue

    rest: list[str] = []
    files: list[str] = []
    strict = False
    words = iter(given)
    for word in words:
        if word == "--":
            return [*rest, word, *words], files, strict
        if word == "--strict-plugins":
            strict = True
        elif word == "--plugin":
            file = next(words, "")
            if not file:
                raise BadValue("--plugin needs a file: --plugin FILE.py")
            files.append(file)
        elif word.startswith("--plugin="):
            files.append(word.partition("=")[2])
        else:
            rest.append(word)
    return rest, files, strict


def _fail(error: BaseException, sentence: str, code: int) -> NoReturn:
    if os.environ.get("CBR_DEBUG"):
        raise error
    from cbr.cli.output import to_stderr

    to_stderr(" ".join(sentence.split()))
    sys.exit(code)
