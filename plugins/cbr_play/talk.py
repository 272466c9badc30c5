"""Prompts of a session: which keys are offered, and what each key does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cbr import BadValue
from cbr_arena import CALL, FOLD, RAISE
from cbr_holdem.situation import Move, View
from cbr_play.keys import END, ENTER, ERASE, ESCAPE, OTHER, Keyboard
from cbr_play.person import Done, Left, shares_of_pot
from cbr_play.words import amount

if TYPE_CHECKING:
    from cbr_play.screen import Screen
    from cbr_play.session import Ended, Session

_HELP = (
    ("f", "fold"),
    ("c", "check, or call"),
    ("r", "bet, or raise; in no-limit it asks for the amount"),
    ("h", "history: all that was done in this hand"),
    ("e", "explain: why bots did what they did, if they tell"),
    ("q", "quit; hands that are over are saved"),
    ("?", "this help"),
)
#: Keys that stand for amounts.
_AMOUNTS = {"m": "least", "h": "half pot", "p": "pot", "a": "all-in"}
#: Most digits of a typed amount; more than the highest amount has.
_DIGITS = 15


class Talk:
    """The dialogue at one table; `explain` allows explanations of bots during a hand."""

    def __init__(self, keyboard: Keyboard, screen: Screen, explain: bool) -> None:
        self.keyboard, self.screen, self.explain = keyboard, screen, explain
        self._read = False

    def turn(self, session: Session, view: View) -> Done:
        """The action that the person chooses in a view."""
        self.screen.clear()
        self.screen.turn(session.hands, view, session.seats, session.totals)
        while True:
            match self._choose(_offers(view)):
                case "f" if view.call:
                    return FOLD, 0
                case "f":
                    self.screen.say("There is nothing to call, so c checks.")
                case "c":
                    return CALL, 0
                case "r":
                    to = self._raise(view)
                    if to:
                        return RAISE, to
                case "e" if not self.explain:
                    self.screen.say(
                        "An explanation shows a bot's cards: after the hand, or now with --explain."
                    )
                case key:
                    self._look(key, session, view.moves, session.seats)

    def after(self, session: Session, ended: Ended, last: bool) -> None:
        """The dialogue after a hand, until the person wants the next one."""
        self.screen.clear()
        if self.explain:  # shown first, so that the end of the hand stays visible below it
            self.screen.why(session.decisions, ended.moves, ended.seats)
        self.screen.ended(session.hands - 1, ended, session.totals)
        offers = [("Enter", "finish" if last else "next hand")]
        offers += [("e", "explain")] if session.explains else []
        offers += [("h", "history"), ("q", "quit")]
        while True:
            key = self._choose(offers)
            if key in {ENTER, " ", "n"}:
                return
            self._look(key, session, ended.moves, ended.seats)

    def _look(
        self, key: str, session: Session, moves: Sequence[Move], seats: Sequence[int]
    ) -> None:
        """Handle keys that only show something."""
        match key:
            case "h":
                self.screen.history(moves, seats)
            case "e" if session.decisions:
                self.screen.why(session.decisions, moves, seats)
            case "e" if session.explains:
                self.screen.say("No bot that explains itself has acted in this hand.")
            case "e":
                self.screen.say("No bot at this table explains itself; cbr:FILE.db does.")
            case "?":
                self.screen.help(_HELP)
            case "q":
                raise Left
            case _:
                what = key if len(key) == 1 else ("That" if key == OTHER else key.capitalize())
                self.screen.say(f"{what} does nothing here; ? shows the keys.")

    def _raise(self, view: View) -> int:
        """The amount that a bet or raise goes to; 0 if none is legal or the person cancels it."""
        if not view.raise_to:
            self.screen.say("No bet or raise is possible here.")
            return 0
        if view.raise_from == view.raise_to or view.game.betting == "limit":
            return view.raise_from
        chosen = {key: shares_of_pot(view)[name] for key, name in _AMOUNTS.items()}
        least, most = amount(view.raise_from), amount(view.raise_to)
        self.screen.say(f"{_raising(view).capitalize()} {least} to {most}: an amount, then Enter.")
        offers = [(key, f"{name} {amount(chosen[key])}") for key, name in _AMOUNTS.items()]
        self.screen.keys([*offers, ("Esc", "back")])
        typed = ""
        while True:
            key = self._key()
            if key == ESCAPE or key == "q":
                self._echo("\n")
                return 0
            if key == ENTER and typed:
                self._echo("\n")
                if view.raise_from <= int(typed) <= view.raise_to:
                    return int(typed)
                self.screen.say(f"{amount(int(typed))} is not from {least} to {most}.")
                self.screen.prompt()
                typed = ""
            before, typed = typed, _edited(typed, key, chosen)
            if typed != before:
                self._echo("\b \b" * len(before) + typed)

    def _choose(self, offers: Sequence[tuple[str, str]]) -> str:
        """Offer keys and read one; keys typed before are discarded."""
        self.keyboard.forget()
        self.screen.keys(offers)
        key = self._key()
        self._echo(f"{key if len(key) == 1 else ''}\n")
        return key

    def _key(self) -> str:
        key = self.keyboard.key()
        if key == END:
            if not self._read and not self.keyboard.single:
                raise BadValue("nothing can be read from stdin; play in a terminal")
            self.screen.write("\n")
            raise Left
        self._read = True
        return key

    def _echo(self, text: str) -> None:
        """Echo text in single-key mode, where the terminal does not echo."""
        if self.keyboard.single:
            self.screen.write(text)


def _edited(typed: str, key: str, chosen: dict[str, int]) -> str:
    """An amount after a key.

    >>> _edited("4", "0", {}), _edited("40", ERASE, {}), _edited("4", "p", {"p": 950})
    ('40', '4', '950')
    """
    if key in chosen:
        return str(chosen[key])
    if key == ERASE:
        return typed[:-1]
    digit = len(key) == 1 and key.isascii() and key.isdigit()
    return typed + key if digit and len(typed) < _DIGITS else typed


def _offers(view: View) -> list[tuple[str, str]]:
    """The keys of the legal actions, and the other keys."""
    everything = view.stacks[view.seat] + view.bets[view.seat]
    offers = [("f", "fold")] if view.call else []
    all_in = " (all-in)" if view.call and view.call == view.stacks[view.seat] else ""
    offers.append(("c", f"call {amount(view.call)}{all_in}" if view.call else "check"))
    if view.raise_to and view.raise_from == view.raise_to:
        all_in = " (all-in)" if view.raise_to == everything else ""
        offers.append(("r", f"{_raising(view)} {amount(view.raise_to)}{all_in}"))
    elif view.raise_to:
        offers.append(("r", _raising(view).removesuffix(" to")))
    return [*offers, ("h", "history"), ("?", "help"), ("q", "quit")]


def _raising(view: View) -> str:
    return "raise to" if any(view.bets) else "bet"
