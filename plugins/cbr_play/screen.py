"""Screen output: the table during a hand, the end of a hand, and the winnings of the session."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from cbr_holdem.situation import Move, View
from cbr_play.cards import hand_name, painted
from cbr_play.session import ME, Ended
from cbr_play.words import action, amount, by_street, short_names, signed, verb

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from cbr_arena import Match
    from cbr_play.watching import Decision

_WIDEST = 100
#: Columns that keep their width from screen to screen, so that the table does not jump.
_STEADY = {"player": 8, "cards": 7, "bet:": 5, "this street": 13, "hand": 24, "total:": 7}
_KEY, _SOFT, _GOOD, _BAD = "bold cyan", "dim", "green", "red"


class Screen:
    """Shows a match as the person may see it."""

    def __init__(self, console: Console, match: Match, hands: int) -> None:
        self.console, self.match, self.hands = console, match, hands
        self.names = short_names([player.name for player in match.players])
        # Suit signs need a Unicode encoding.
        self.signs = "utf" in console.encoding.lower()

    # Whole screens.

    def turn(self, number: int, view: View, seats: Sequence[int], totals: Sequence[float]) -> None:
        """The table when it is the person's turn."""
        self._begin(number, view.street, view.board, view.pot)
        rows = _table("", "player", "", "cards", "stack:", "bet:", "this street", "total:")
        last = {move.seat: move for move in view.moves if move.street == view.street}
        for player in range(len(seats)):
            seat = seats.index(player)
            name = self.names[player]
            mine, folded = player == ME, view.folded[seat]
            hole = self._cards(view.hole) if mine else Text("folded" if folded else "-- --", _SOFT)
            stack = amount(view.stacks[seat]) if view.stacks[seat] or folded else "all-in"
            rows.add_row(
                ">" if mine else "",
                name,
                _place(seat, len(seats)),
                hole,
                stack,
                amount(view.bets[seat]) if view.bets[seat] else "",
                action(last[seat], name) if seat in last and not folded else "",
                self._money(totals[player]),
                style=_SOFT if folded else ("bold" if mine else ""),
            )
        self._print(rows)
        done = by_street(view.moves, [self.names[player] for player in seats])
        if view.street in done:
            self._print(_pairs({view.street: done[view.street]}))

    def ended(self, number: int, ended: Ended, totals: Sequence[float]) -> None:
        """The table at the end of a hand: the cards shown, and the chips won."""
        seats, table = ended.seats, ended.table
        shown = table.showdown
        board = _spaced(ended.hand.board)
        self._begin(number, "showdown" if shown else table.street, board, ended.pot)
        rows = _table("", "player", "", "cards", "hand", "won:", "total:")
        for player in range(len(seats)):
            seat = seats.index(player)
            hole, folded = _spaced(ended.hand.holes[seat]), bool(table.tables.folded[0, seat])
            seen = seat in shown or player == ME
            made = hand_name(f"{hole} {board}") if seat in shown else ("folded" if folded else "")
            rows.add_row(
                ">" if player == ME else "",
                self.names[player],
                _place(seat, len(seats)),
                self._cards(hole) if seen else Text("" if folded else "-- --", _SOFT),
                made,
                self._money(ended.won[seat]),
                self._money(totals[player]),
                style=_SOFT if folded else ("bold" if player == ME else ""),
            )
        self._print(rows)
        for seat, chips in sorted(ended.taken.items(), key=lambda item: -item[1]):
            name = self.names[seats[seat]]
            hand = f"{_spaced(ended.hand.holes[seat])} {board}"
            how = f" with {_a(hand_name(hand))}" if shown else ""
            self._print(Text(f"{name} {verb('win', name)} {amount(chips)}{how}.", "bold"))
        for player, reason in ended.faults:
            name = self.names[player]
            self.say(f"{name} failed ({reason}), so a check or fold was played for it.", _BAD)

    def history(self, moves: Sequence[Move], seats: Sequence[int]) -> None:
        """All actions of a hand."""
        done = by_street(moves, [self.names[player] for player in seats])
        self._print(_pairs(done or {"": "nothing was done yet"}))

    def why(
        self, decisions: Sequence[Decision], moves: Sequence[Move], seats: Sequence[int]
    ) -> None:
        """The explanations of bots' decisions, each with the bot's cards."""
        for decision in decisions:
            name = self.names[seats[decision.view.seat]]
            done = Text()
            done.append(name, "bold")
            if decision.move < len(moves):
                done.append(f" {action(moves[decision.move], name)}", "bold")
            done.append(f"   {decision.view.street}   ", _SOFT)
            done.append_text(self._cards(decision.view.hole))
            if decision.view.board:
                done.append("  on  ", _SOFT)
                done.append_text(self._cards(decision.view.board))
            self._print(done)
            lines = decision.why([self.names[player] for player in seats])
            self._print(Padding(Text("\n").join(lines), (0, 0, 0, 2)))

    def help(self, lines: Iterable[tuple[str, str]]) -> None:
        self._print(_pairs(dict(lines), _KEY))

    def totals(self, hands: int, totals: Sequence[float]) -> None:
        """The winnings of all players in the session."""
        unit = "small bets" if self.match.game.betting == "limit" else "big blinds"
        rows = _table("", f"won in {hands:,} hand{'' if hands == 1 else 's'}:", f"{unit}:")
        big = self.match.game.big_blind
        for name, total in zip(self.names, totals, strict=True):
            rows.add_row(name, self._money(total), f"{total / big:+.1f}" if total else "0")
        self._print(rows)

    # Single lines.

    def say(self, sentence: str, style: str = "") -> None:
        self._print(Text(sentence, style), after=0)

    def line(self, text: str) -> None:
        """Text to be copied: on one line without wrapping."""
        self.console.print(Text(f" {text}"), soft_wrap=True)

    def keys(self, offered: Iterable[tuple[str, str]]) -> None:
        """A line with the keys offered, and a prompt."""
        line = Text()
        for key, what in offered:
            line.append("   " if line else "")
            line.append(key, _KEY)
            line.append(f" {what}")
        self._print(line, after=0)
        self.prompt()

    def prompt(self) -> None:
        self.write(" > ")

    def write(self, text: str) -> None:
        """Write text without a newline, as it is: rich would leave out backspaces."""
        self.console.file.write(text)
        self.console.file.flush()

    def clear(self) -> None:
        """Clear the screen of a terminal."""
        if self.console.is_terminal:
            self.console.clear()
        self.console.print()

    def _begin(self, number: int, street: str, board: str, pot: int) -> None:
        game = self.match.game
        head = Text()
        head.append(f"Hand {number + 1:,}", "bold")
        head.append(f" of {self.hands:,}" if self.hands else "")
        head.append(f"   {game.betting} {game.small_blind}/{game.big_blind}", _SOFT)
        self._print(head)
        line = Text()
        line.append(f"{street.capitalize():<10}", "bold")
        line.append_text(self._cards(board) if board else Text("no board yet", _SOFT))
        line.append("   pot ", _SOFT)
        line.append(amount(pot), "bold")
        self._print(line)

    def _cards(self, names: str) -> Text:
        return painted(names, self.signs)

    def _money(self, chips: float) -> Text:
        return Text(signed(chips), _GOOD if chips > 0 else (_BAD if chips < 0 else ""))

    def _print(self, what: RenderableType, after: int = 1) -> None:
        width = min(self.console.width, _WIDEST)
        self.console.print(Padding(what, (0, 1, after, 1), expand=False), width=width)


def _table(*heads: str) -> Table:
    """A table with these columns; those with a colon hold numbers and are right-aligned."""
    made = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style=_SOFT)
    for head in heads:
        right = head.endswith(":")
        made.add_column(
            Text(head.removesuffix(":")),
            justify="right" if right else "left",
            no_wrap=right or head == "cards",  # in a narrow terminal words may wrap, numbers not
            min_width=_STEADY.get(head),
        )
    return made


def _pairs(lines: dict[str, str], style: str = _SOFT) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    for name, text in lines.items():
        grid.add_row(Text(name, style), Text(text))
    return grid


def _place(seat: int, seats: int) -> str:
    """The label of a seat: dealer button or blind."""
    if seats == 2:
        return ("BB", "D SB")[seat]
    return {0: "SB", 1: "BB", seats - 1: "D"}.get(seat, "")


def _spaced(cards: str) -> str:
    return " ".join(cards[at : at + 2] for at in range(0, len(cards), 2))


def _a(hand: str) -> str:
    """
    >>> _a("pair of aces"), _a("two pair, aces and kings"), _a("ace high")
    ('a pair of aces', 'two pair, aces and kings', 'ace high')
    """
    counted = hand.startswith(("two", "three", "four")) or hand.endswith(" high")
    return hand if counted and not hand.startswith("flush") else f"a {hand}"
