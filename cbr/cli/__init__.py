"""The command line ``cbr``: one module a command, on top of the engine's modules.

Exit codes: 0 done; 1 a check found something, or a bug; 2 bad input, with one sentence on stderr.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given == ["--version"]:
        from importlib.metadata import version

        print("cbr-engine", version("cbr-engine"))
        sys.exit(0)
    from cbr.errors import CbrError

    try:
        _run(given)
    except CbrError as error:
        _fail(error, f"Error: {error}", 2)
    except KeyboardInterrupt as error:
        _fail(error, "Interrupted; what was written is whole. Run it again to go on.", 130)
    except Exception as error:
        import sqlite3

        what = " ".join(f"{type(error).__name__}: {error}".split())
        if isinstance(error, sqlite3.DatabaseError):
            _fail(error, f"Error: the casebase cannot be used: {error}; run `cbr check` on it", 2)
        _fail(error, f"Internal error: {what} (CBR_DEBUG=1 shows where)", 1)


def _run(given: list[str]) -> None:
    from cbr.cli.app import make_app
    from cbr.cli.output import complain, note, only_results
    from cbr.errors import BadValue, PluginFailure
    from cbr.plugins import Plugins, use_plugins

    arguments, files, strict = split_plugin_options(given)
    for file in files:
        if not Path(file).is_file():
            raise BadValue(f"--plugin {file}: there is no such file")
    plugins = use_plugins(Plugins().load(files))
    told: set[str] = set()

    def tell_problems() -> None:
        for problem in plugins.problems:
            if problem not in told:
                told.add(problem)
                complain(problem)

    def warn(message: Warning | str, *_: object, **__: object) -> None:
        note(str(message))

    warnings.showwarning = warn
    app = make_app(plugins)
    if strict and plugins.problems:
        raise PluginFailure(plugins.problems[0])
    tell_problems()
    # With --json there is one document on stdout and nothing else, whatever a plugin prints.
    quiet = "--json" in arguments and "--help" not in arguments
    try:
        with only_results(quiet):
            app(arguments, prog_name="cbr")
    finally:
        tell_problems()


def split_plugin_options(given: Sequence[str]) -> tuple[list[str], list[str], bool]:
    """What is left of a command line without ``--plugin FILE`` and ``--strict-plugins``.

    They may stand anywhere, because plugins add commands and must be there before these are read.

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


def _fail(error: BaseException, sentence: str, code: int) -> None:
    if os.environ.get("CBR_DEBUG"):
        raise error
    print(sentence, file=sys.stderr)
    sys.exit(code)
