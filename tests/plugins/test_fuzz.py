"""Mutated logs: no crash, no hang, and no hand in the casebase that does not replay.

The logs are those of `made_logs`, and real ones where ../shared/data is there (each mutation is of
one file's few hands, so that a hundred thousand can be tried).
"""

from __future__ import annotations

import lzma
import random
import re
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from made_logs import IRC, PHH, STARS, random_hands

from cbr.building.rows import prepare
from cbr.errors import BadValue
from cbr.store.records import CaseSource, Raw, Skipped
from cbr_holdem.situation import case_types, replay_texts
from cbr_holdem.table import Hand, HandArrays, Table
from cbr_logs import cbr_case_sources, write_acpc, write_phh

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

DATA = ROOT.parent / "shared" / "data"
SOURCES = {source.name: source for source in cbr_case_sources()}


def is_sentence(reason: str) -> bool:
    return bool(reason) and "\n" not in reason


def bodies(source: CaseSource, path: Path) -> Iterator[str]:
    """What a reader makes of a file; every refusal must be a sentence."""
    assert source.parse is not None
    for item in source.read(path):
        if isinstance(item, Skipped):
            assert is_sentence(item.reason)
            continue
        assert isinstance(item, Raw)
        try:
            yield source.parse(item.data)
        except BadValue as error:
            assert is_sentence(str(error))


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Some bytes of a file changed, cut out, doubled, swapped or put in from elsewhere in it."""
    text = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        a = rng.randrange(len(text) + 1)
        b = min(len(text), a + rng.choice((1, 1, 2, 5, 40)))
        match rng.randrange(7):
            case 0 if text and a < len(text):
                text[a] = rng.randrange(256)
            case 1:
                del text[a:b]
            case 2:
                text[a:a] = text[a:b]
            case 3:
                text[a:a] = rng.choice(
                    (b"9", b"-", b"0", b".", b"\n", b"Ah", b"r", b"f", b"/", b"'")
                )
            case 4:
                c = rng.randrange(len(text) + 1)
                text[a:b] = text[c : c + b - a]
            case 5 if digits := [m.span() for m in re.finditer(rb"\d+", bytes(text))]:
                first, last = rng.choice(digits)
                text[first:last] = str(rng.choice((0, 1, 7, 10**9, 10**20, -5))).encode()
            case _:
                lines = bytes(text).split(b"\n")
                rng.shuffle(lines)
                text = bytearray(b"\n".join(lines)) if rng.random() < 0.2 else text
    return bytes(text)


def verify(texts: list[str]) -> int:
    """Whether all that was accepted is sound; how many hands that is."""
    types = [t for t in case_types() if t.domain == "holdem"]
    found = replay_texts(texts)
    accepted = [text for place, text in enumerate(texts) if place not in found.rejected]
    for reason in found.rejected.values():
        assert is_sentence(reason)
    for text in accepted:
        hand = Hand.read(text)
        table = Table.of(hand)  # the other door: action by action
        assert table.over
        assert abs(sum(table.payoffs)) < 1e-6
    prepared = prepare(texts, types)
    assert found.rejected.keys() <= prepared.rejected.keys()
    again = HandArrays.read(accepted)
    assert not again.rejected
    return len(accepted)


def small_files(folder: Path) -> dict[str, Path]:
    """A file of a few hands in each format, and the reader's name for it."""
    for seats, betting in ((2, "limit"), (4, "nolimit")):
        hands = random_hands(4, seats, betting)
        write_acpc(iter(hands), folder / f"{betting}.log")
        write_phh(iter(hands), folder / f"{betting}.phhs")
    (folder / "own.phhs").write_text(PHH)
    (folder / "stars.txt").write_text(STARS)
    month = folder / "holdem1" / "199909"
    for name, text in IRC.items():
        (month / name).parent.mkdir(parents=True, exist_ok=True)
        (month / name).write_text(text)
    return {
        "acpc": folder / "limit.log",
        "acpc ": folder / "nolimit.log",
        "phh": folder / "limit.phhs",
        "phh ": folder / "nolimit.phhs",
        "phh  ": folder / "own.phhs",
        "pokerstars": folder / "stars.txt",
        "irc": month / "hdb",
    }


def fuzz(files: dict[str, Path], tries: int, seed: int) -> int:
    rng, sound, pending = random.Random(seed), 0, []
    originals = {path: path.read_bytes() for path in files.values()}
    companions: dict[str, Callable[[], Path]] = {
        "irc": lambda: rng.choice(sorted(p for p in files["irc"].parent.rglob("*") if p.is_file()))
    }
    for attempt in range(tries):
        name, path = rng.choice(sorted(files.items()))
        target = companions.get(name, lambda path=path: path)()
        before = originals.setdefault(target, target.read_bytes())
        target.write_bytes(mutated(before, rng))
        pending += bodies(SOURCES[name.strip()], path)
        target.write_bytes(before)
        if len(pending) > 400 or attempt == tries - 1:
            sound += verify(pending)
            pending = []
    return sound


@pytest.mark.long
def test_mutated_logs(tmp_path: Path) -> None:
    """A few in every run; `make test-all` tries a hundred thousand."""
    assert fuzz(small_files(tmp_path), 2_000, 1) > 1_000


@pytest.mark.slow
def test_a_hundred_thousand_mutations(tmp_path: Path) -> None:
    files = small_files(tmp_path) | real_files(tmp_path)
    assert fuzz(files, 100_000, 2) > 50_000


def real_files(folder: Path) -> dict[str, Path]:
    """A few real hands of each kind, if they are there."""
    if not DATA.is_dir():
        return {}
    found = {}
    for name in ("pluribus", "handhq_6p"):
        with lzma.open(DATA / f"{name}.phhs.xz", "rt", encoding="utf-8") as file:
            text = file.read(12_000)
        path = folder / f"{name}.phhs"
        path.write_text(text[: text.rindex("\n[")])
        found[f"phh{' ' * (3 + len(found))}"] = path
    with tarfile.open(DATA / "nine_seat_bots.tar.xz") as archive:
        archive.extractall(folder / "nine", filter="data")
    log = next((folder / "nine").rglob("mixed.log"))
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:8]))
    return found | {"acpc  ": log}


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ABCDfcr/0123456789", max_size=40), st.integers(2, 6))
def test_any_actions(actions: str, seats: int) -> None:
    """Both doors agree on what is a hand: many at once, and action by action."""
    text = "\t".join(
        ["1", "nolimit 5/10", ",".join(["200"] * seats)]
        + [",".join((["10", "5"] if seats == 2 else ["5", "10"]) + ["0"] * (seats - 2))]
        + ["", "," * (seats - 1), "2c3d4h5s6c", actions, ""]
        + [f"p{s}" for s in range(seats)]
    )
    found = replay_texts([text])
    try:
        table = Table.of(Hand.read(text))
        sound = table.over
    except BadValue:
        sound = False
    if not found.rejected:
        assert sound
    elif sound:  # only what a table does not look at may have been wrong
        assert re.search("turn|street", found.rejected[0]), found.rejected[0]


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(st.lists(st.text(max_size=12), min_size=1, max_size=14))
def test_any_text_is_a_hand_or_a_reason(fields: list[str]) -> None:
    found = replay_texts(["\t".join(fields), random_hands(1, 3)[0]])
    assert list(found.rejected) == [0]
