"""Mutated logs of every format: no crash, and PokerKit agrees with the outcome of every hand.

Logs are made here, and taken from the folder that SOAK_LOGS names (PHH, ACPC, IRC, PokerStars).
"""

from __future__ import annotations

import os
import random
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from conftest import ROOT

from cbr.building.rows import prepare
from cbr.errors import BadValue
from cbr.store.records import Raw, Skipped
from cbr_holdem.situation import case_types
from cbr_holdem.table import USUAL_RAKE, Hand
from cbr_logs import cbr_case_sources, write_acpc, write_phh
from soak.part import Found, dice
from soak.referee import Beyond, faults

sys.path.insert(0, str(ROOT / "tests" / "plugins"))
from made_logs import IRC, PHH, STARS, random_hands

SOURCES = {source.name: source for source in cbr_case_sources()}
_CARD = re.compile(rb"\b[2-9TJQKA][cdhs](?=[2-9TJQKA|/,'\] \n]|\b)")
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
_WORD = re.compile(rb"\b[A-Za-z]\w+\b")
#: Where formats state results: the last numbers of a STATE line, stacks at the end, chips won.
_RESULT = re.compile(
    rb"(?<=:)-?[\d.]+(?:\|-?[\d.]+)+(?=:)|(?<=finishing_stacks = \[)[^\]\n]*"
    rb"|(?<=collected )\S+|(?<=Rake )\S+|(?<=Total pot )\S+"
    rb"|(?<= )\d+ +\d+ +\d+(?=\s*(?:\n|$|\w\w ))"
)
_RAKED = """\
PokerStars Hand #201:  Hold'em No Limit ($0.50/$1 USD) - 2010/07/26 6:17:21 ET
Table 'Demo' 6-max Seat #3 is the button
Seat 1: ann ($48 in chips)
Seat 3: bob ($100 in chips)
Seat 6: cy ($20.50 in chips)
cy: posts small blind $0.50
ann: posts big blind $1
*** HOLE CARDS ***
bob: raises $1.50 to $2.50
cy: folds
ann: calls $1.50
*** FLOP *** [Ts 4c 2h]
ann: checks
bob: bets $3
ann: raises $5 to $8
bob: calls $5
*** TURN *** [Ts 4c 2h] [9d]
ann: checks
bob: checks
*** RIVER *** [Ts 4c 2h 9d] [9s]
ann: bets $37.50 and is all-in
bob: calls $37.50
*** SHOW DOWN ***
ann: shows [Ah Kd] (a pair of Nines)
bob: mucks hand
ann collected $94.50 from pot
*** SUMMARY ***
Total pot $96.50 | Rake $2
Board [Ts 4c 2h 9d 9s]
Seat 1: ann (big blind) showed [Ah Kd] and won ($94.50) with a pair of Nines
Seat 3: bob (button) mucked [Qc Jc]
"""


# --- mutation -----------------------------------------------------------------------------------


def mutate(text: bytes, rng: random.Random) -> bytes:
    """A log with one to three faults: changed amounts, cards, names or results; lines that are
    dropped, doubled or exchanged; an early end; flipped bits."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        text = rng.choice(_FAULTS)(text, rng)
    return text


def _with(text: bytes, found: re.Match[bytes], new: bytes) -> bytes:
    return text[: found.start()] + new + text[found.end() :]


def _one(pattern: re.Pattern[bytes], text: bytes, rng: random.Random) -> re.Match[bytes] | None:
    found = list(pattern.finditer(text))
    return rng.choice(found) if found else None


def _other_number(number: bytes, rng: random.Random) -> bytes:
    value = float(number)
    new = rng.choice(
        (value + 1, value - 1, value * 2, value / 2, -value, value + rng.uniform(0, 9))
    )
    places = len(number.partition(b".")[2]) or rng.choice((0, 0, 2))
    return f"{new:.{places}f}".encode()


def _amount(text: bytes, rng: random.Random) -> bytes:
    found = _one(_NUMBER, text, rng)
    return _with(text, found, _other_number(found[0], rng)) if found else text


def _result(text: bytes, rng: random.Random) -> bytes:
    """One number of a result, or two by the same amount, so that their sum stays."""
    found = _one(_RESULT, text, rng)
    numbers = list(_NUMBER.finditer(found[0])) if found else []
    if not found or not numbers:
        return text
    new, by = found[0], rng.choice((1, 2, 5, 10, 0.5))
    for number, sign in zip(rng.sample(numbers, min(len(numbers), 2)), (1, -1), strict=False):
        if sign > 0 or rng.random() < 0.5:
            changed = f"{float(number[0]) + sign * by:g}".encode()
            new = new.replace(number[0], changed, 1)
    return _with(text, found, new)


def _card(text: bytes, rng: random.Random) -> bytes:
    found = _one(_CARD, text, rng)
    card = f"{rng.choice('23456789TJQKA')}{rng.choice('cdhs')}".encode()
    return _with(text, found, card) if found else text


def _name(text: bytes, rng: random.Random) -> bytes:
    one, other = _one(_WORD, text, rng), _one(_WORD, text, rng)
    return _with(text, one, other[0]) if one and other else text


def _lines(text: bytes, rng: random.Random) -> bytes:
    lines = text.split(b"\n")
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(3):
        case 0:
            del lines[a]
        case 1:
            lines.insert(a, lines[b])
        case _:
            lines[a], lines[b] = lines[b], lines[a]
    return b"\n".join(lines)


def _actions(text: bytes, rng: random.Random) -> bytes:
    """An action dropped, doubled or changed to another."""
    found = _one(
        re.compile(rb"'p\d+ [^']*'|(?<=[:fcr/\d])[fcr](?=[fcr/:\d])| [Bkbcrf]+ "), text, rng
    )
    if not found:
        return text
    new = rng.choice((b"", found[0] * 2, found[0].replace(b"cc", b"f"), b"c", b"r", b"f"))
    return _with(text, found, new)


def _end(text: bytes, rng: random.Random) -> bytes:
    return text[: rng.randrange(len(text) + 1)]


def _bits(text: bytes, rng: random.Random) -> bytes:
    data = bytearray(text)
    for _ in range(rng.choice((1, 1, 4))):
        if data:
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


_FAULTS = (_amount, _amount, _result, _result, _result, _card, _card, _name, _lines, _actions, _end,
           _bits)  # fmt: skip


# --- judgement ----------------------------------------------------------------------------------


@dataclass
class Judged:
    """What became of mutated hands. `beyond` counts accepted hands that PokerKit cannot play, by
    the reason; `wrong` has a sentence for each outcome that it does not confirm."""

    read: int = 0
    accepted: int = 0
    confirmed: int = 0
    beyond: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def judge(bodies: Sequence[str], judged: Judged) -> None:
    """Build the hands as `cbr build` does, and let PokerKit play those that are accepted."""
    for domain in ("holdem", "holdem-nolimit"):
        own = [
            body
            for body in bodies
            if body.split("\t")[1].startswith("limit ") == (domain == "holdem")
        ]
        types = [case_type for case_type in case_types() if case_type.domain == domain]
        prepared = prepare(own, types, {"rake": USUAL_RAKE})
        judged.read += len(own)
        outcomes: dict[int, dict[int, float]] = {}
        for rows in (*prepared.rows.values(), *prepared.hidden.values()):
            given = (rows.record.tolist(), rows.step.tolist(), rows.outcome.tolist())
            for record, step, outcome in zip(*given, strict=True):
                outcomes.setdefault(record, {})[step] = outcome
        for place, body in enumerate(own):
            if place in prepared.rejected:
                continue
            judged.accepted += 1
            try:
                found = faults(Hand.read(body), outcomes.get(place, {}))
            except Beyond as beyond:
                judged.beyond[re.sub(r"\d+", "#", str(beyond))[:80]] += 1
                continue
            judged.confirmed += not found
            judged.wrong += [f"{fault}: {body!r}" for fault in found]


def bodies_of(reader: str, path: Path) -> Iterator[str]:
    """The hands that a reader finds in a file; refusals must be one line."""
    source = SOURCES[reader]
    for item in source.read(path):
        try:
            if isinstance(item, Skipped):
                raise BadValue(item.reason)
            assert isinstance(item, Raw)
            yield source.body_of(item)
        except BadValue as error:
            if not str(error) or "\n" in str(error):
                raise AssertionError(f"{reader} refuses with {str(error)!r}") from error


# --- logs ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Log:
    """A log of a few hands: the file that is read, and those that may be mutated."""

    reader: str
    path: Path
    files: tuple[Path, ...]


def made_logs(folder: Path) -> list[Log]:
    """Small logs of every format."""
    logs = []
    games = ((2, "limit"), (2, "nolimit"), (3, "limit"), (5, "nolimit"), (9, "limit"))
    for seats, betting in games:
        for seed in (1, 2, 3):
            hands = random_hands(4, seats, betting, seed)
            name = f"{betting}{seats}-{seed}"
            write_acpc(iter(hands), folder / f"{name}.log")
            write_phh(iter(hands), folder / f"{name}.phhs")
            logs.append(Log("acpc", folder / f"{name}.log", (folder / f"{name}.log",)))
            logs.append(Log("phh", folder / f"{name}.phhs", (folder / f"{name}.phhs",)))
    for name, text in (("own.phhs", PHH), ("limit.txt", STARS), ("raked.txt", _RAKED)):
        (folder / name).write_text(text)
        reader = "phh" if name.endswith(".phhs") else "pokerstars"
        logs.append(Log(reader, folder / name, (folder / name,)))
    month = folder / "holdem1" / "199909"
    for name, text in IRC.items():
        (month / name).parent.mkdir(parents=True, exist_ok=True)
        (month / name).write_text(text)
    return [*logs, Log("irc", month / "hdb", tuple(month / name for name in IRC))]


def given_logs() -> list[Log]:
    """The logs of the folder that SOAK_LOGS names; they should have a few hands each."""
    given = os.environ.get("SOAK_LOGS")
    found = []
    for path in sorted(Path(given).rglob("*")) if given else ():
        head = path.read_bytes()[:4096] if path.is_file() else b""
        reader = next((s.name for s in SOURCES.values() if head and s.can_read(path, head)), "")
        if reader == "irc" and path.name == "hdb":
            found.append(Log("irc", path, tuple(p for p in path.parent.rglob("*") if p.is_file())))
        elif reader not in {"", "irc"} and path.suffix != ".game":
            found.append(Log(reader, path, (path,)))
    return found


def soak(logs: Sequence[Log], tries: int, rng: random.Random, found: Found) -> Judged:
    """Mutate logs, and judge all hands in them that are not those of the original."""
    judged, pending = Judged(), []
    originals = {log: set(bodies_of(log.reader, log.path)) for log in logs}
    for attempt in range(tries):
        log = rng.choice(logs)
        target = rng.choice(log.files)
        before = target.read_bytes()
        after = mutate(before, rng)
        target.write_bytes(after)
        try:
            new = set(bodies_of(log.reader, log.path)) - originals[log]
            pending += sorted(new)
        except Exception as error:
            found.crashed.append(f"{log.reader} on {after!r} raised {error!r}")
        finally:
            target.write_bytes(before)
        if len(pending) > 200 or attempt == tries - 1:
            judge(pending, judged)
            pending = []
    found.items += judged.read
    found.wrong += judged.wrong
    return judged


def piece(seed: int, number: int, folder: Path) -> Found:
    found = Found()
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.filterwarnings("ignore", module="pokerkit")
        soak([*made_logs(folder), *given_logs()], 600, dice("logs", seed, number), found)
    return found
