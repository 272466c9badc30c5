"""``cbr cache``: what is kept to share arrays between processes; ``cbr cache clear``: remove it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from cbr.cli.options import Json
from cbr.cli.output import count, emit, lines, table

if TYPE_CHECKING:
    from cbr.cli.app import App


def add(app: App) -> None:
    group = typer.Typer(
        rich_markup_mode=None,
        epilog="Example: cbr cache --json",
        help="Show what the cache folder keeps.\n\n"
        "Arrays of casebases are kept, which processes share. They are made when worker processes "
        "read a casebase or a large one is opened, and again when they are missing. "
        "All of them together have at most CBR_CACHE_LIMIT bytes (2GB if it is not set, 0 keeps "
        "none); what was not used for longest makes room. CBR_CACHE_DIR sets another folder.",
    )

    @group.callback(invoke_without_command=True)
    def show(context: typer.Context, json: Json = False) -> None:
        if context.invoked_subcommand is None:
            _show(json)

    group.command("clear", epilog="Example: cbr cache clear")(clear)
    app.add_typer(group, name="cache")


def _show(json: bool) -> None:
    from cbr.store import cache

    entries, limit, others = cache.entries(), cache.limit(), cache.others()
    size = sum(entry.bytes for entry in entries)
    if json:
        emit(
            {
                "folder": str(cache.cache_folder()),
                "bytes": size,
                "limit": limit,
                "entries": [
                    {
                        "path": str(entry.path),
                        "casebase": entry.casebase or None,
                        "stage": entry.stage,
                        "bytes": entry.bytes,
                        "stale": entry.is_stale,
                    }
                    for entry in entries
                ],
                "others": others,
            }
        )
        return
    lines(
        f"{cache.cache_folder()}: arrays of {count(len(entries), 'stage')}, {_size(size)} of at "
        f"most {_size(limit)}"
    )
    table(
        "",
        ["casebase", "stage", "size", "", "path"],
        [
            (
                entry.casebase or None,
                entry.stage,
                _size(entry.bytes),
                "stale" if entry.is_stale else "",
                str(entry.path.relative_to(cache.cache_folder())),
            )
            for entry in entries
        ],
    )
    if others:
        told = ", ".join(f"{name} ({_size(size)})" for name, size in others.items())
        lines(f"not counted, and never removed: {told}")


def clear(json: Json = False) -> None:
    """Remove the arrays of casebases.

    Processes that use them go on undisturbed. Other files in the folder, such as the tables of
    plugins, stay.
    """
    from cbr.store import cache

    gone = cache.clear()
    size = sum(entry.bytes for entry in gone)
    if json:
        emit({"folder": str(cache.cache_folder()), "removed": len(gone), "bytes": size})
        return
    lines(f"{cache.cache_folder()}: removed arrays of {count(len(gone), 'stage')}, {_size(size)}")


def _size(number: int) -> str:
    """
    >>> _size(1_234_567), _size(12)
    ('1.2 MB', '12 bytes')
    """
    for unit, step in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if number >= step:
            return f"{number / step:.1f} {unit}"
    return count(number, "byte")
