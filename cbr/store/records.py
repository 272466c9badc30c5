"""Case sources, and the records that they read from files.

A source turns a file into a stream of `Record` (a complete unit: a row, a game) and `Skipped`
(something that could not be read, with the reason). A source for long files cuts them into `Raw`
pieces, which its `parse` turns into bodies in worker processes. The case type then turns the bodies
of records into situations. The casebase stores the bodies, so features can be computed again
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
    """One record of a source, in the domain's own format; `line` is where it starts.

    `offset` is the number of bytes of the file read so far, for the progress bar.
    """

    body: str
    line: int
    offset: int = 0


@dataclass(frozen=True)
class Raw:
    """A record that is cut out of its file but not yet parsed (`CaseSource.parse`)."""

    data: Any
    line: int
    offset: int = 0


@dataclass(frozen=True)
class Skipped:
    """A place in a source that contains no usable record, with the reason in one sentence."""

    line: int
    reason: str
    offset: int = 0


class Numbered(NamedTuple):
    """A record's body with its place in the source, and the digest that identifies its content."""

    ordinal: int
    line: int
    digest: bytes
    body: str


@dataclass(frozen=True)
class CaseSource:
    """A reader of files for some domains (none named: for every domain whose records are rows).

    `can_read(path, head)` decides by the file's name and first bytes (decompressed); it is also
    true for a file that only accompanies another (such as a list of names) and has no records.
    `read(path, **options)` yields the content of the file in a fixed order. For `Raw` pieces,
    `parse(data)` returns the body of the record, or raises `BadValue` with the reason to skip it.
    `domain_of(body, options)` returns the domain of a record; `identity(path)` the name of a file
    in a casebase, if that is not the file's name. `write(bodies, path)` writes records to a file,
    by default with this `suffix`, and returns their number.
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
            raise PluginFailure(f"reader {self.name!r} returns raw records but has no parse")
        return self.parse(item.data)

    def serves(self, case_types: Sequence[CaseType]) -> bool:
        if not case_types:  # the type to build is not known yet
            return True
        if self.domains:
            return case_types[0].domain in self.domains
        return case_types[0].situate is None
