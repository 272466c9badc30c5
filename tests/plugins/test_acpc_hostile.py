"""Whoever is at the other end: it hangs, dies, floods or talks nonsense, and the end comes in time.

A match that cannot go on is one sentence and exit code 2; what the protocol lets pass goes on.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from acpc_peers import (
    HELLO,
    HOST,
    Peer,
    Script,
    deal,
    finish,
    nothing_is_left,
    program,
    says,
    warm,
)

from cbr import BadValue
from cbr.plugging.plugins import Plugins, use_plugins
from cbr_arena.acpc import door
from cbr_arena.acpc.client import visit
from cbr_arena.acpc.lines import Lines
from cbr_arena.acpc.mind import Mind
from cbr_arena.acpc.seats import Limits
from cbr_holdem.table import Table
from cbr_logs import SHIPPED

NAME = "holdem.limit.2p.reverse_blinds.game"
GAME = SHIPPED[NAME]
#: Seconds in which everything here has to be over, however busy the machine: against a hang.
SOON = 300.0


@pytest.fixture(autouse=True, scope="module")
def _warm() -> None:
    use_plugins(Plugins().load())
    warm("call")


@pytest.fixture(autouse=True)
def _ends_soon() -> Iterator[None]:
    begun = time.monotonic()
    with nothing_is_left():
        yield
        assert time.monotonic() - begun < SOON


# --- programs at our dealer ---------------------------------------------------------------------


@pytest.fixture
def dealer(cbr: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Run `cbr dealer` with scripts at its ports."""

    def run(scripts: Sequence[Script | None], *words: object) -> Any:
        peers: list[Peer] = []
        listen = door.listen

        def listen_and_tell(*given: Any) -> list[socket.socket]:
            found = listen(*given)
            for script, server in zip(scripts, found, strict=True):
                if script:
                    peers.append(Peer(script, server.getsockname()[1]))
            return found

        monkeypatch.setattr(door, "listen", listen_and_tell)
        answer = cbr("dealer", NAME, "--hands", 5, *words)
        finish(peers)
        return answer

    return run


def sends(*pieces: bytes, then: float = 0.0) -> Script:
    """Greet, say something, and wait so long for what comes."""

    def script(link: socket.socket) -> None:
        for piece in pieces:
            link.sendall(piece)
        waits(link, then)

    return script


def waits(link: socket.socket, seconds: float) -> None:
    """Hear until the other end is gone, or so long."""
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        link.settimeout(left)
        try:
            if not link.recv(65_536):
                return
        except TimeoutError:
            return


def floods(piece: bytes, most: int = 64_000_000) -> Script:
    """Send one thing again and again."""

    def script(link: socket.socket) -> None:
        link.sendall(HELLO)
        for _ in range(most // len(piece)):
            link.sendall(piece)

    return script


BYTES = random.Random(1).randbytes(5_000).replace(b"\n", b"")


@pytest.mark.long
@pytest.mark.parametrize(
    ("script", "says"),
    [
        (None, "p1 did not connect to port"),
        (sends(then=3), "p1 connected and did not send VERSION:2.0.0 within 0.4 s"),
        (sends(b"VERSION:2.0", then=3), "p1 connected and did not send VERSION:2.0.0"),
        (sends(), "p1 closed the connection before it sent VERSION:2.0.0"),
        (sends(b"VERSION:1.0.0\r\n", then=3), "p1 began with 'VERSION:1.0.0', not VERSION:2.0.0"),
        (sends(b"GET / HTTP/1.1\r\n\r\n", then=3), "p1 began with 'GET / HTTP/1.1'"),
        (sends(b"\xff\x00\n", then=3), r"p1 began with '\xff\x00'"),
        (sends(b"V" * 40_000, then=3), "p1 began with 'a long line'"),
    ],
)
def test_a_program_that_does_not_come_in(script: Script | None, says: str, dealer: Any) -> None:
    answer = dealer([script, sends(HELLO, then=3)], "--start-timeout", 0.4)
    assert (answer.code, answer.err.count("\n")) == (2, 1), answer.err
    assert says in answer.err


def comes_after(*probes: bytes | None, silent: int = 1) -> Script:
    """A program that comes to its port after others: some that say nothing and stay, and some that
    say this; those with None go away again. Gives what it heard and what the silent ones heard."""

    def script(link: socket.socket) -> tuple[list[str], list[bytes]]:
        place = link.getpeername()
        stay = [link, *(socket.create_connection(place, SOON) for _ in range(silent - 1))]
        for probe in probes:
            other = socket.create_connection(place, SOON)
            if probe is None:
                other.close()
            else:
                other.sendall(probe)
                stay.append(other)
        with socket.create_connection(place, SOON) as mine:
            mine.settimeout(SOON)
            heard = program(GAME, says("c"))(mine)
        return heard, [_last(one) for one in stay]

    return script


def _last(link: socket.socket) -> bytes:
    """What comes before the other end closes a connection."""
    with link:
        link.settimeout(SOON)
        try:
            return link.recv(1_000)
        except ConnectionError:
            return b""


HTTP = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.parametrize(
    "script",
    [
        comes_after(),
        comes_after(None, None, None),
        comes_after(HTTP, None, HTTP),
        comes_after(b"\x16\x03\x01" + BYTES, b"\n", b"\0", b"VERSION:1.0.0\r\n"),
        comes_after(b"VERSION:2.0.", b"V" * 5_000, b"MATCHSTATE:0:0::|:c\r\n"),
        comes_after(HTTP, silent=3 * door.MOST_WAITING),
    ],
)
def test_probes_neither_end_the_match_nor_keep_the_player_out(script: Script) -> None:
    expected, _, [heard] = deal(GAME, [program(GAME, says("c"))], ["call"], hands=2)
    outcome, _, [(also_heard, others)] = deal(GAME, [script], ["call"], hands=2)
    assert (outcome.ended, outcome.totals) == ("", expected.totals)
    assert also_heard == heard
    assert set(others) == {b""}  # closed, and told nothing


def test_the_first_to_greet_has_the_seat() -> None:
    def script(link: socket.socket) -> tuple[list[str], bytes]:
        with socket.create_connection(link.getpeername(), SOON) as mine:
            heard = program(GAME, says("c"))(mine)
            with contextlib.suppress(OSError):  # too late, though it came first
                link.sendall(HELLO)
            return heard, _last(link)

    outcome, _, [(heard, late)] = deal(GAME, [script], ["call"], hands=2)
    assert (outcome.ended, outcome.hands, late) == ("", 2, b"")
    assert len(heard) > 2


def test_what_comes_with_the_greeting_is_not_lost(dealer: Any) -> None:
    script = sends(HELLO + b"hello\n" * 2, then=3)
    answer = dealer([script], "--bot", "call", "--response-limit", 0.3)
    assert "p1 sent 2 times no answer" in answer.err


def test_players_may_come_in_any_order() -> None:
    """The second before the first, while somebody silent is at the first's port."""
    there = threading.Event()

    def first(link: socket.socket) -> Any:
        there.wait(SOON)
        with socket.create_connection(link.getpeername(), SOON) as mine:
            return program(GAME, says("c"))(mine)

    def second(link: socket.socket) -> Any:
        link.sendall(HELLO)
        there.set()
        link.sendall(b"# here\n")
        return program(GAME, says("c"))(link)

    outcome, _, _ = deal(GAME, [first, second], hands=2)
    assert outcome.ended == ""


@pytest.mark.long
@pytest.mark.parametrize(
    ("script", "says"),
    [
        (sends(HELLO), "it closed the connection"),
        (sends(HELLO, then=3), "no answer within 0.3 s"),
        (sends(HELLO, BYTES, then=3), "no answer within 0.3 s"),
        (sends(HELLO, BYTES + b"\n", BYTES, b"\r\n\0\n", then=3), "no answer within 0.3 s"),
        (sends(HELLO, b"MATCHSTATE:0:0:c:", then=3), "no answer within 0.3 s"),
        (sends(HELLO, b"MATCHSTATE:0:0:c:"), "it closed the connection"),
        (sends(HELLO, b"MATCHSTATE:0:0::2c2d|:c\r\n" * 9, then=3), "no answer within 0.3 s"),
        (floods(b"x" * 65_536), "p1 at hand 0: "),
        (floods(b"hello\n" * 1_000), "1,000 lines that are no answer"),
        (floods(b"MATCHSTATE:0:0::2c2d|:c\r\n" * 1_000), "1,000 lines that are no answer"),
        (floods(b"# a comment\n" * 1_000), "1,000 lines that are no answer"),
    ],
)
def test_a_program_that_cannot_go_on(
    script: Script, says: str, dealer: Any, tmp_path: Path
) -> None:
    log = tmp_path / "match.log"
    words = ["--response-limit", 0.3, "--log", log, "--bot", "call"]
    answer = dealer([script], *words)
    [*notes, error] = answer.err.splitlines()
    assert answer.code == 2, answer.err
    assert error.startswith("Error: the match ended after 0 of 5 hands: p1 at hand 0: ")
    assert says in error
    assert all(note.startswith("Note: p1 sent ") for note in notes)
    written = log.read_text()
    assert written.splitlines()[-1].startswith("# the match ended early: p1 at hand 0: ")
    assert "SCORE" not in written
    assert len(written) < 1_000_000


def test_a_match_that_breaks_off_keeps_what_was_played(dealer: Any, tmp_path: Path) -> None:
    log = tmp_path / "match.log"

    def leaves(line: str, table: Table) -> bytes:
        if ":3:" in line:
            raise ConnectionError
        return f"{line}:c\r\n".encode()

    answer = dealer([program(GAME, leaves)], "--bot", "call", "--log", log, "--json")
    assert answer.code == 2
    assert (answer.json["hands"], answer.json["players"][0]["name"]) == (3, "p1")
    assert "it closed the connection" in answer.json["ended"]
    assert log.read_text().count("\nSTATE:") == 3


def slowly(seconds: float) -> Script:
    def answer(line: str, table: Table) -> bytes:
        time.sleep(seconds)
        return f"{line}:c\r\n".encode()

    return program(GAME, answer)


@pytest.mark.long
@pytest.mark.parametrize(
    ("limits", "ended"),
    [
        (Limits(0.05, 9, 9), "p1 at hand 0: no answer within 0.05 s"),
        (Limits(9, 0.3, 9), "p1 at hand 0: more than 0.3 s for a hand"),
        (Limits(9, 9, 0.25), "p1 at hand 1: more than 0.25 s a hand on average"),
        (Limits(9, 9, 9), ""),
    ],
)
def test_limits_of_time(limits: Limits, ended: str) -> None:
    """Four answers in a hand, each after a tenth of a second."""
    outcome, _, _ = deal(GAME, [slowly(0.1)], ["call"], hands=3, limits=limits)
    assert outcome.ended == ended


@pytest.mark.long
def test_nobody_pays_for_the_time_of_others() -> None:
    limits = Limits(9, 0.35, 9)
    outcome, _, _ = deal(GAME, [program(GAME, says("c")), slowly(0.1)], hands=2, limits=limits)
    assert outcome.ended == "p2 at hand 0: more than 0.35 s for a hand"


# --- what the protocol lets pass ----------------------------------------------------------------


def folds_for_nothing(line: str, table: Table) -> bytes:
    return f"{line}:{'f' if not table.legal().fold else 'c'}\n".encode()


def talks(line: str, table: Table) -> bytes:
    """Comments, nonsense, an old state and its own fold in another hand before it answers."""
    other = line.replace("MATCHSTATE:", "MATCHSTATE:1", 1)
    said = [
        "# thinking",
        "; still",
        "hello",
        "",
        f"{other}:f",
        f"{line[:-1]}:f",
        f"{line}:c and so",
    ]
    return "\r\n".join(said).encode() + b"\r\n"


@pytest.mark.parametrize(
    ("answer", "warned"),
    [
        (says("c"), {}),
        (says("call"), {}),
        (says("x"), {"no action, changed to a call": 8}),
        (says(""), {"no action, changed to a call": 8}),
        (lambda line, table: line.encode() + b"\n", {"no action, changed to a call": 8}),
        (says("\xff\x00"), {"no action, changed to a call": 8}),
        (folds_for_nothing, {"a fold for nothing, changed to a call": 7}),
        (
            talks,
            {"no answer, ignored": 16, "an answer to another state, ignored": 16},
        ),
    ],
)
def test_what_is_ignored_or_becomes_a_call(answer: Any, warned: dict[str, int]) -> None:
    """As if it had called everything; with each line in the log, as a comment."""
    expected, calls, _ = deal(GAME, [program(GAME, says("c"))], ["call"], hands=2)
    outcome, log, _ = deal(GAME, [program(GAME, answer)], ["call"], hands=2)
    assert outcome.ended == ""
    assert outcome.warnings == {(0, what): times for what, times in warned.items()}
    lines = log.splitlines()
    assert [line for line in lines if not line.startswith("#")] == calls.splitlines()
    comments = [line for line in lines if line.startswith("#")]
    assert len(comments) == sum(warned.values())
    for what in warned:
        assert any(what in line and line.startswith("# p1, hand ") for line in comments)
    assert outcome.totals == expected.totals


def test_the_line_is_in_the_log() -> None:
    _, log, [heard] = deal(GAME, [program(GAME, says("why not"))], ["call"], hands=1)
    line = f"{heard[1]}:why not"
    assert f"# p1, hand 0: no action, changed to a call: '{line}'\n" in log


def test_raises_where_none_is_left() -> None:
    outcome, log, _ = deal(GAME, [program(GAME, says("r")) for _ in range(2)], hands=1)
    assert log.splitlines()[-2].startswith("STATE:0:rrrc/rrrrc/rrrrc/rrrrc:")
    assert sum(outcome.warnings.values()) == 4


def test_amounts_that_are_made_legal() -> None:
    game = SHIPPED["holdem.nolimit.2p.reverse_blinds.game"]
    outcome, log, _ = deal(game, [program(game, says("r1")), program(game, says("c"))], hands=1)
    assert log.splitlines()[-2].startswith("STATE:0:cr200c/r300c/r400c/r500c:")
    assert outcome.warnings == {(0, "an amount that is not legal, changed to the nearest"): 4}


def test_a_program_that_writes_byte_by_byte() -> None:
    def script(link: socket.socket) -> None:
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in HELLO:
            link.sendall(bytes([byte]))
        with link.makefile("r", newline="\r\n") as lines:
            for line, _ in zip(lines, range(100), strict=False):
                for byte in f"{line.strip()}:c\r\n".encode():
                    link.sendall(bytes([byte]))

    outcome, _, _ = deal(GAME, [script], ["call"], hands=1)
    assert (outcome.ended, outcome.hands) == ("", 1)


def test_a_log_is_not_filled_by_nonsense(dealer: Any, tmp_path: Path) -> None:
    log = tmp_path / "match.log"

    def chatters(line: str, table: Table) -> bytes:
        return b"bla\n" * 900 + f"{line}:c\n".encode()

    answer = dealer([program(GAME, chatters)], "--bot", "call", "--log", log)
    assert answer.code == 0, answer.err
    comments = [line for line in log.read_text().splitlines() if line.startswith("# ")]
    assert comments[-1] == "# further lines like these are not logged"
    assert len(comments) == 1_002
    assert "p1 sent 18,000 times no answer, ignored" in answer.err


# --- dealers at which our bot plays -------------------------------------------------------------


def line(text: str) -> bytes:
    return f"MATCHSTATE:{text}\r\n".encode()


FIRST = line("1:0::|AhKd")
FOLDED = [line("0:0::2c2d|"), line("0:0:f:2c2d|")]


@pytest.mark.long
@pytest.mark.parametrize(
    ("pieces", "says"),
    [
        ([b""], "the dealer closed the connection before the first hand"),
        ([b"# welcome\r\n"], "the dealer closed the connection before the first hand"),
        ([b"MATCHSTATE:1:0:"], "the dealer closed the connection before the first hand"),
        ([FIRST], "in the middle of a hand, after 0"),
        ([*FOLDED, line("1:1::|AhKd")], "in the middle of a hand, after 1"),
        ([b"HTTP/1.1 400 Bad Request\r\n"], "'HTTP/1.1 400 Bad Request' is not a match state"),
        ([BYTES + b"\n"], "is not a match state"),
        ([b"\n"], "'' is not a match state"),
        ([b"x" * 100_000], "a line that is too long for a match state"),
        ([b"# bla\n" * 1_001], "1,000 lines in a row that say nothing new"),
        ([FIRST, FIRST * 1_001], "1,000 lines in a row that say nothing new"),
        ([line("1:5::|AhKd"), line("1:4::|AhKd")], "went back from hand 5 to hand 4"),
        ([line("1:0:cr:|AhKd"), line("1:0:c:|AhKd")], "does not go on from"),
        ([FIRST, line("0:0:c:2c2d|")], "does not go on from"),
        ([FIRST, line("1:0:c:|AhKs")], "does not go on from"),
        ([FIRST, line("1:0:c:|")], "does not go on from"),
        ([line("1:0:cc/:|AhKd/2c3c4c"), line("1:0:cc/c:|AhKd/2c3c5c")], "does not go on from"),
        ([FIRST, line("1:0:c:Ah2d|AhKd")], "Ah is twice"),
        ([*FOLDED, line("0:0:fc:2c2d|")], "the hand is over"),
        ([line("1:0::|AhKd|")], "not a state of a game for 2"),
        ([line("1:0:rrrr:|AhKd")], "a raise is not legal"),
        ([line("1:0:r50:|AhKd")], "without an amount"),
        ([line("0:0::|AhKd")], "own cards"),
        ([line("7:0::|AhKd")], "not a state of a game for 2"),
        ([line("1:0:r300c/:|AhKd/2c3c4c")], "without an amount"),
        ([line("1:0::|AhKd2c2d")], "is not a match state"),
        ([line("1:0:cc/cc/cc/cc:2c2d|AhKd/3c4c5c/6c/7c") * 2 + FIRST], "does not go on from"),
        ([line("1:0:ffff:|AhKd")], "the hand is over"),
        ([line("1:0:" + "c" * 5_000 + ":|AhKd")], "is not as the game allows"),
        ([line("1:0::|AhXx")], "is not as the game allows"),
        ([line("1:99999999999::|AhKd")], "is not a match state"),
        ([b"MATCHSTATE:1:0::|AhKd" * 2_000], "a line that is too long"),
    ],
)
def test_a_dealer_that_talks_nonsense(pieces: list[bytes], says: str, cbr: Any) -> None:
    answer = at_dealer(cbr, sends(*pieces, then=0.0))
    assert answer.code == 2, answer.out
    assert says in answer.err
    assert answer.err.count("\n") == 1


def deals(script: Script) -> Script:
    """A dealer that hears the greeting, does so, and says goodbye."""

    def run(link: socket.socket) -> None:
        assert link.recv(len(HELLO), socket.MSG_WAITALL) == HELLO
        script(link)
        link.shutdown(socket.SHUT_WR)
        waits(link, 3)

    return run


def at_dealer(cbr: Any, script: Script, *words: object) -> Any:
    """`cbr acpc` at a dealer that does so."""
    with socket.create_server((HOST, 0)) as server:
        peer = Peer(deals(script), server=server)
        port = server.getsockname()[1]
        join = ["acpc", "--bot", "call", "--port", port, "--game", NAME]
        answer = cbr(*join, *(words or ("--timeout", 3)))
        finish([peer])
    return answer


def drips(link: socket.socket) -> None:
    for byte in itertools.islice(itertools.cycle(b"MATCHSTATE:1:0"), 200):
        link.sendall(bytes([byte]))
        time.sleep(0.02)


@pytest.mark.long
@pytest.mark.parametrize("script", [sends(then=2), sends(FIRST, then=2), drips])
def test_a_dealer_that_is_silent(script: Script, cbr: Any) -> None:
    begun = time.monotonic()
    answer = at_dealer(cbr, script, "--timeout", 0.3)
    assert time.monotonic() - begun < SOON
    assert answer.code == 2
    assert "Error: the dealer was silent for 0.3 s after 0 hands" in answer.err


def test_a_dealer_that_never_reads() -> None:
    """It asks again and again and leaves the answers unread, until no more can be sent."""
    ours, theirs = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_096)
    with theirs:
        theirs.sendall(b"".join(line(f"1:{hand}::|AhKd") for hand in range(2_000)))
        with pytest.raises(BadValue, match=r"the dealer was silent for 0\.2 s"):
            visit(Lines(ours), Mind("call", GAME.game, 1), GAME, 0.2)


def mutated(lines: Sequence[str], rng: random.Random) -> bytes:
    """A transcript with some of its lines changed, lost, doubled or swapped."""
    found = list(lines)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(found))
        text = found[at]
        place = rng.randrange(len(text) + 1)
        sign = rng.choice("fcr/|:0129AKhd \0\xff\n#")
        change = rng.randrange(6)
        if change == 0:
            found[at] = text[:place] + sign + text[place + 1 :]
        elif change == 1:
            found[at] = text[:place] + sign * rng.choice([1, 2, 300]) + text[place:]
        elif change == 2:
            found[at] = text[:place]
        elif change == 3:
            found.insert(at, found[rng.randrange(len(found))])
        elif change == 4 and len(found) > 1:
            del found[at]
        else:
            other = rng.randrange(len(found))
            found[at], found[other] = found[other], found[at]
    return "".join(f"{one}\r\n" for one in found).encode("latin-1")


@pytest.mark.long
@pytest.mark.parametrize("name", [NAME, "holdem.nolimit.2p.reverse_blinds.game"])
def test_mutated_matches(name: str) -> None:
    """A dealer of the other game, and 600 of this one whose lines were changed at random: a match
    that is played, or one sentence."""
    game = SHIPPED[name]
    _, _, [heard] = deal(game, [program(game, says("c"))], ["raise"], hands=3)
    other = SHIPPED["holdem.limit.3p.game"]
    _, _, [strange] = deal(other, [program(other, says("c"))], ["raise", "call"], hands=1)
    rng, refused = random.Random(5), 0
    for sent in [*(mutated(heard, rng) for _ in range(600)), "\r\n".join(strange).encode()]:
        ours, theirs = socket.socketpair()
        with theirs:
            theirs.sendall(sent)
            theirs.shutdown(socket.SHUT_WR)
            try:
                found = visit(Lines(ours), Mind("call", game.game, 1), game, 2.0)
            except BadValue as error:
                refused += 1
                assert "\n" not in str(error)
                assert str(error).isascii()
            else:
                assert found.hands <= 9
    assert refused > 200


def test_a_dealer_that_cannot_be_reached(cbr: Any) -> None:
    with socket.create_server((HOST, 0)) as server:
        port = server.getsockname()[1]
    join = ["acpc", "--bot", "call", "--game", NAME, "--connect-timeout", 0.3]
    for host, place in ((HOST, port), ("a" * 70, 1)):
        answer = cbr(*join, "--host", host, "--port", place)
        assert (answer.code, answer.err.count("\n")) == (2, 1)
        assert f"no dealer answers at {host} port {place}" in answer.err


@pytest.mark.long
def test_a_dealer_that_comes_late(cbr: Any) -> None:
    with socket.create_server((HOST, 0)) as server:
        port = server.getsockname()[1]

    def open_late() -> None:
        time.sleep(0.5)
        with socket.create_server((HOST, port)) as server:
            finish([Peer(deals(sends(*FOLDED)), server=server)])

    opener = threading.Thread(target=open_late)
    opener.start()
    answer = cbr("acpc", "--bot", "call", "--game", NAME, "--port", port)
    opener.join(10)
    assert answer.code == 0, answer.err
    assert answer.out == f"call at 127.0.0.1 port {port}: 1 hands, +5 chips, +0.500 sb/h\n"


@pytest.mark.long
def test_what_a_good_dealer_may_say(cbr: Any) -> None:
    """Comments, a state told twice and answered once, LF alone, a hand that is not played out, and
    cards that are shown after the end."""
    heard: list[bytes] = []

    def script(link: socket.socket) -> None:
        link.sendall(b"# welcome\n; to the match\n" + FIRST + FIRST)
        heard.append(link.recv(100))
        link.sendall(line("1:0:c:|AhKd") + b"MATCHSTATE:1:0:cc/:|AhKd/2c3c4c\n")
        link.sendall(line("0:7::2c2d|") + line("0:7:f:2c2d|") + line("0:7:f:2c2d|3c3d"))

    answer = at_dealer(cbr, script)
    assert heard == [b"MATCHSTATE:1:0::|AhKd:c\r\n"]
    assert (answer.code, answer.err) == (0, "")
    assert ": 1 hands, +5 chips" in answer.out
