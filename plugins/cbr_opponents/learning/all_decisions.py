"""Every decision of a casebase or of logs as named columns, those with hidden cards too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr import BadValue, Casebase
from cbr.building import SourceScan, files_in
from cbr.errors import EmptyStage, NoSuchName
from cbr.plugging import default_plugins
from cbr_holdem.cards import DECK
from cbr_holdem.situation import ACTIONS, COLUMNS, SIZES
from cbr_opponents.logged_hands import BATCH, replay_decisions

#: Columns of the decision itself; the others are those of `Situations`.
_OWN = ("hand", "step", "player", "action", "put", "share", "size", "known", "outcome")
_SIZES = np.array([*SIZES, ""], object)

Columns = dict[str, NDArray[Any]]


def decisions(
    source: Casebase | str | Path, columns: Sequence[str] | None = None, limit: int | None = None
) -> Columns:
    """All decisions of the players in a casebase, a log, or a folder or archive of logs.

    Columns [n] by name (all of them unless `columns` names some):

        hand, step    the number of the hand (its record in a casebase), of the decision in it
        player        the player's name
        action        f, k (check), c, b (bet) or r (raise)
        put           chips that the action puts in
        share         a bet or raise as a share of the pot after a call, NaN elsewhere
        size          the class of that share, "" elsewhere
        known         whether the player's cards are known
        outcome       what the player won from here on, in small bets or big blinds

    and those of `cbr_holdem.situation.Situations`: street, seat, pot_odds, hs and so on, NaN where
    they are not known. `limit` is the most hands. `pandas.DataFrame(decisions(...))` is a table.
    """
    wanted = tuple(columns or (*_OWN, *COLUMNS))
    for name in wanted:
        if name not in _OWN and name not in COLUMNS:
            raise NoSuchName("column", name, (*_OWN, *COLUMNS))
    parts: list[Columns] = []
    done = 0
    for numbers, bodies in _hands(source):
        if limit is not None:
            numbers, bodies = numbers[: limit - done], bodies[: limit - done]
        parts.append(_columns(numbers, bodies, wanted))
        done += len(bodies)
        if done == limit:
            break
    if not any(len(part[wanted[0]]) for part in parts):
        raise EmptyStage(f"{_name(source)} has no hands with decisions")
    return {name: np.concatenate([part[name] for part in parts]) for name in wanted}


def _columns(numbers: Sequence[int], bodies: Sequence[str], wanted: Sequence[str]) -> Columns:
    played, _, player = replay_decisions(bodies)
    seen = played.situations
    own: Columns = {
        "hand": np.array(numbers, np.int64)[played.hand],
        "step": played.step,
        "player": player,
        "action": np.array(ACTIONS, object)[played.action],
        "put": played.put,
        "share": played.share,
        "size": _SIZES[played.size],
        "known": np.all(seen.hole < DECK, axis=1),
        "outcome": played.outcome,
    }
    return {name: own[name] if name in own else seen[name] for name in wanted}


def _hands(source: Casebase | str | Path) -> Iterator[tuple[Sequence[int], Sequence[str]]]:
    """Hands as texts with their numbers, in batches."""
    if isinstance(source, Casebase):
        yield from source.read_records(BATCH)
        return
    path = Path(source)
    if not path.exists():
        raise BadValue(f"no file or folder {path}")
    if path.suffix == ".db":
        with Casebase.open(path) as base:
            yield from base.read_records(BATCH)
        return
    plugins = default_plugins()
    scan = SourceScan([path], files_in([path]), plugins, "", {}, None, BATCH)
    number = 0
    for batch in scan.batches():
        reader = plugins.get("case source", batch.reader) if batch.items else None
        bodies = []
        for _, item in batch.items:
            try:
                bodies.append(reader.body_of(item) if reader else "")
            except BadValue:
                continue  # `cbr build` reports why a hand cannot be read
        if bodies:
            yield range(number, number + len(bodies)), bodies
            number += len(bodies)


def _name(source: Casebase | str | Path) -> str:
    return str(source.path if isinstance(source, Casebase) else source)
