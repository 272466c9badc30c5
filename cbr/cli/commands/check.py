"""``cbr check``: whether a casebase is sound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from cbr.cli.options import File, Json
from cbr.cli.output import emit, lines

if TYPE_CHECKING:
    from cbr.cli.app import App


def add(app: App) -> None:
    app.command("check", epilog="Example: cbr check casebases/cars.db")(check)


def check(file: File, json: Json = False) -> None:
    """Check whether a casebase is sound.

    The exit code is 0 if it is; if not, it is 1 and the findings are listed. A stale index is not
    a finding: it is never used, and `cbr info` shows it.
    """
    from cbr.upkeep.soundness import check as run

    findings = run(file)
    if json:
        emit({"file": str(file), "sound": not findings, "findings": findings})
    else:
        sentences = (" ".join(finding.split()) for finding in findings)
        lines(*sentences, f"{file} is {'not sound' if findings else 'sound'}")
    if findings:
        raise typer.Exit(1)
