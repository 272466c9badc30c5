"""The rows of tables in memory: pandas and Polars frames, columns by name, dictionaries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cbr.errors import BadValue
from cbr.store.records import Record
from cbr.tables.reading import Row, flat, record_of


def is_frame(data: object) -> bool:
    """Whether these are rows in memory, not the name of a file."""
    if isinstance(data, Mapping) or hasattr(data, "to_dict"):
        return True
    return isinstance(data, list | tuple) and bool(data) and isinstance(data[0], Mapping)


def records_of(data: Any) -> list[Record]:
    """The rows of a frame as records, in their order."""
    return [record_of(Row(cells, line)) for line, cells in enumerate(rows_of(data), 1)]


def rows_of(data: Any) -> Iterator[dict[str, Any]]:
    """The rows of a frame as cells: pandas, Polars, a dictionary of columns, or dictionaries."""
    for row in _rows(data):
        yield {str(name): flat(cell) for name, cell in row.items()}


def _rows(data: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(data, Mapping):
        columns = {str(name): list(column) for name, column in data.items()}
        lengths = {len(column) for column in columns.values()}
        if len(lengths) > 1:
            raise BadValue("the columns given have different lengths")
        cells: Iterator[tuple[Any, ...]] = zip(*columns.values(), strict=True)
        return (dict(zip(columns, row, strict=True)) for row in cells)
    if hasattr(data, "iter_rows"):  # Polars
        return iter(data.iter_rows(named=True))
    if hasattr(data, "itertuples"):  # pandas
        names = [str(name) for name in data.columns]
        _verify_distinct(names)
        return (
            dict(zip(names, row, strict=True)) for row in data.itertuples(index=False, name=None)
        )
    if isinstance(data, Sequence) and all(isinstance(row, Mapping) for row in data):
        return iter(data)
    raise BadValue(
        f"{type(data).__name__} is no table; give a pandas or Polars frame, a dictionary of "
        "columns, or a list of dictionaries"
    )


def orders_of(data: Any) -> dict[str, tuple[str, ...]]:
    """The order of the categories of each column that a frame declares as ordered."""
    found: dict[str, tuple[str, ...]] = {}
    if hasattr(data, "itertuples"):
        for name in data.columns:
            kind = data[name].dtype
            if getattr(kind, "ordered", False):
                found[str(name)] = tuple(map(str, kind.categories))
    elif hasattr(data, "iter_rows"):
        for name, kind in data.schema.items():
            if type(kind).__name__ == "Enum":
                found[name] = tuple(map(str, kind.categories))
    return found


def _verify_distinct(names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise BadValue(f"column {name!r} appears twice")
