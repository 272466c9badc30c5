"""Records: what a case source reads from a file, before cases are made of it.

A source turns a file into a stream of `Record` (something whole: a row, a game) and `Skipped`
(something that could not be read, with the reason). One that is meant for long files cuts them into
`Raw` pieces, which its `parse` turns into bodies in worker processes. The case type then turns the
bodies of records into situations. The casebase keeps the bodies, so features can be computed again
without the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from cbr.case import BuildOption, CaseType
from cbr.errors import BadValue, PluginFailure


@dataclass(frozen=True)
class Record:
    """One thing a source holds, in the domain's neutral form; `line` is where it starts.

    `offset` says how many bytes of the file have been read by then, for the progress bar.
    """

    body: str
    line: int
    offset: int = 0


@dataclass(frozen=True)
class Raw:
    """A record that is cut out of its file but not yet read: `CaseSource.parse` does that."""

    data: Any
    line: int
    offset: int = 0


@dataclass(frozen=True)
class Skipped:
    """A place in a source that gave no record, and why in one sentence."""

    line: int
    reason: str
    offset: int = 0


class Numbered(NamedTuple):
    """A record's body with its place in the source, and the digest by which it is known again."""

    ordinal: int
    line: int
    digest: bytes
    body: str


@dataclass(frozen=True)
class CaseSource:
    """A reader of files for some domains (none named: for every domain whose records are rows).

    `can_read(path, head)` decides by the file's name and first bytes (decompressed); it is also
    true of a file that only goes with another (a list of names, say) and gives nothing itself.
    `read(path, **options)` streams what the file holds, in a fixed order. Where that is `Raw`,
    `parse(data)` gives the body of its record, or raises `BadValue` with the reason to skip it.
    `domain_of(body, options)` says which of the domains a record is for; `identity(path)` what a
    file is called in a casebase, if that is not its name. `write(bodies, path)` puts records into
    a file, by default with this `suffix`, and returns how many.
    """

    name: str
    can_read: Callable[[Path, bytes], bool]
    read: Callable[..., Iterator[Record | Skipped | Raw]]
    domains: tuple[str, ...] = ()
    options: tuple[BuildOption, ...] = ()
    meaning: str = ""
    parse: Callable[[Any], str] | None = None
    domain_of: Callable[[str, Mapping[str, Any]], str] | None = None
    identity: Callable[[Path], str] | None = None
    write: Callable[[Iterator[str], Path], int] | None = None
    suffix: str = ""

    kind: ClassVar[str] = "case source"

    def __post_init__(self) -> None:
        for option in self.options:
            if not isinstance(option, BuildOption) or not option.name.isidentifier():
                raise BadValue(f"options of case source {self.name!r} must be named BuildOptions")

    def body_of(self, item: Record | Raw) -> str:
        """The body of a record, parsed where it is raw."""
        if isinstance(item, Record):
            return item.body
        if self.parse is None:
            raise PluginFailure(f"reader {self.name!r} gives raw records and cannot parse them")
        return self.parse(item.data)

    def serves(self, case_types: Sequence[CaseType]) -> bool:
        if not case_types:  # what is to be built is not known yet
            return True
        if self.domains:
            return case_types[0].domain in self.domains
        return case_types[0].situate is None
