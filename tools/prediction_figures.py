"""Figures of how well player models predict, on public logs of people and of programs.

Casebases are built from the logs into a folder and used again. Nobody is on both sides: a fifth of
the people is held out, and of programs each in turn, with the cards of a fifth of the matches.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from cbr import BadValue, Casebase
from cbr.statistics import Mean
from cbr_opponents.learning import Observed, observe
from cbr_opponents.prediction import Group, Prediction, compare, evaluate
from experiment import built, say
from results import Table

PUBLIC, PROFILES = "trees?profiles=false", "trees"
PONSEN, BOTH = "ponsen", "ponsen?prior=trees"
#: Hands of which the shown cards are looked at.
_CARDS = 4_000
#: Classes of `prediction.SEEN_CLASSES` below 10 hands.
_FEW = ("0", "1 to 2", "3 to 9")


class People(NamedTuple):
    """A log of people: accuracies to reach without and with what was seen of a player, and the gain
    in log-loss by it; None where there is no goal."""

    log: str
    public: float | None = None
    profiles: float | None = None
    gain: float | None = None


#: Goals are those of a trial with LightGBM on these logs, which nothing was tuned for.
PEOPLE = (
    People("handhq_2p.phhs.xz", 0.61, 0.645, 0.06),
    People("handhq_6p.phhs.xz", 0.715, 0.72, 0.05),
    People("handhq_9p.phhs.xz", 0.77, 0.775, 0.045),
    People("irc_h1-nobots.tar.xz"),
)
#: Programs of the competition of 2009, with the goals after the flop, with cards and without.
#: Accuracies that Kuendig published had the predicted move among the attributes.
MATCHES = "acpc2009_nolimit.tar.xz"
PROGRAMS = {
    "HyperboreanNL-Eqm": (0.81, 0.67),
    "HyperboreanNL-BR": (0.67, 0.57),
    "BluffBot4": (0.79, 0.63),
    "Tartanian3": (0.76, 0.65),
    "Tartanian3RM": (0.76, 0.65),
}
#: Programs that play at one table, for what is learned of one player.
TABLES = "nine_seat_bots.tar.xz"


class _Found(NamedTuple):
    """What was measured on one log."""

    people: People
    public: Prediction
    profiles: Prediction
    ponsen: Prediction
    both: Prediction

    @property
    def learned(self) -> tuple[Prediction, ...]:
        """The models that know what was seen of a player."""
        return self.profiles, self.ponsen, self.both


def figures(logs: Path, out: Path, seed: int, hands: int | None) -> list[Table]:
    """All tables, from the logs of a folder; casebases are kept in `out`."""
    if not logs.is_dir():
        raise BadValue(f"no folder {logs}; give the folder with the logs")
    out.mkdir(parents=True, exist_ok=True)
    found = []
    for one in (*PEOPLE, People(TABLES)):
        if file := _casebase(logs / one.log, out, hands):
            found.append(_measured(file, one, seed))
    tables = [_people(found), _learning(found), _few(found), _shown(found)] if found else []
    if file := _casebase(logs / MATCHES, out, None):  # its matches belong together
        tables += _programs(file, seed)
    if not tables:
        raise BadValue(f"{logs} has none of the logs, such as {PEOPLE[0].log}")
    return tables


def _casebase(log: Path, out: Path, hands: int | None) -> Path | None:
    if not log.exists():
        say(f"left out: no file {log}")
        return None
    suffix = f"-{hands}" if hands else ""
    return built([log], out / f"{_name(log.name)}{suffix}.db", hands)


def _name(log: str) -> str:
    return log.partition(".")[0]


def _measured(file: Path, people: People, seed: int) -> _Found:
    with Casebase.open(file) as base:
        observed = observe(base)
        one = _evaluated(base, observed, PUBLIC, seed, _CARDS)
        two = _evaluated(base, observed, PROFILES, seed, _CARDS)
        three = _evaluated(base, observed, PONSEN, seed, 0)
        four = _evaluated(base, observed, BOTH, seed, 0)
    for model in (two, three, four):
        compare(model, one)
    return _Found(people, one, two, three, four)


def _evaluated(base: Casebase, observed: Observed, model: str, seed: int, cards: int) -> Prediction:
    found = evaluate(base, observed, model, "players", seed, cards)
    of = found.public
    say(f"{base.path}, {model}: accuracy {of.accuracy.mean:.3f}, log-loss {of.log_loss.mean:.4f}")
    return found


def _people(found: list[_Found]) -> Table:
    rows: list[list[Any]] = []
    for one in found:
        for model in (one.public, *one.learned):
            alone = model is one.public
            goal, known = (one.people.public, None) if alone else one.people[2:]
            of = model.public
            gain = model.against.get(one.public.model)
            rows.append(
                [
                    _name(one.people.log),
                    model.model,
                    f"{model.decisions:,}",
                    shown(of.accuracy, ".3f"),
                    _goal(goal),
                    f"{of.baseline_accuracy.mean:.3f}",
                    shown(of.log_loss, ".4f"),
                    f"{of.baseline_log_loss.mean:.4f}",
                    "-" if gain is None else shown(gain, ".4f"),
                    _goal(known),
                ]
            )
    heads = "log,model,decisions,accuracy,goal,legal,log-loss,legal,gain by the player,goal"
    note = (
        "A fifth of the players is held out. The gain is what the log-loss is less than that of "
        "the trees without profiles, paired; `ponsen` corrects these very trees, or those with "
        "profiles."
    )
    return Table("Moves of players held out, without cards", heads.split(","), rows, note)


def _learning(found: list[_Found]) -> Table:
    rows = [
        [
            _name(one.people.log),
            model.model,
            gain.hands_seen,
            f"{gain.decisions:,}",
            shown(gain.gain, ".4f"),
        ]
        for one in found
        for model in one.learned
        for gain in model.gains[one.public.model]
    ]
    heads = ["log", "model", "hands seen", "decisions", "gain"]
    note = "Gain in log-loss over the trees without profiles, which are the prior of `ponsen`."
    return Table("What is learned of a player, by hands seen before", heads, rows, note)


def _few(found: list[_Found]) -> Table:
    rows = []
    for one in found:
        for model in one.learned:
            some = [g for g in model.gains[one.public.model] if g.hands_seen in _FEW]
            count = sum(g.decisions for g in some)
            mean = sum(g.gain.mean * g.decisions for g in some) / max(1, count)
            rows.append([_name(one.people.log), model.model, f"{count:,}", f"{mean:.4f}"])
    heads = ["log", "model", "decisions", "gain"]
    return Table("The same with fewer than ten hands seen", heads, rows)


def _shown(found: list[_Found]) -> Table:
    rows = [
        [
            _name(one.people.log),
            model.model,
            f"{model.cards.hands:,}",
            shown(model.cards.multiple, ".2f"),
            "3",
            shown(model.cards.log, ".3f"),
            f"{model.cards.uniform_log:.3f}",
        ]
        for one in found
        for model in (one.public, one.profiles)
        if model.cards is not None
    ]
    heads = ["log", "model", "hands", "in 1/1326", "goal", "logarithm", "if all hands were alike"]
    return Table("Mean probability of the cards that players turned out to hold", heads, rows)


def _programs(file: Path, seed: int) -> list[Table]:
    with Casebase.open(file) as base:
        observed = observe(base)
        later = observed.take(observed.place[:, 0] > 0)
        found = []
        for model in ("frequencies", PUBLIC):
            say(f"{base.path}: {model}")
            found.append(evaluate(base, later, model, "matches", seed, 0))
    return [
        _table_of_programs("with cards", [(one.model, one.players_known) for one in found], 0),
        _table_of_programs("without cards", [(one.model, one.players) for one in found], 1),
    ]


def _table_of_programs(title: str, found: list[tuple[str, list[Group]]], goal: int) -> Table:
    rows = []
    for model, groups in found:
        of = {group.name: group.figures for group in groups}
        for name, goals in PROGRAMS.items():
            if one := of.get(name):
                rows.append(
                    [
                        name,
                        model,
                        f"{one.decisions:,}",
                        shown(one.accuracy, ".3f"),
                        _goal(goals[goal]),
                        f"{one.baseline_accuracy.mean:.3f}",
                        shown(one.log_loss, ".4f"),
                        f"{one.baseline_log_loss.mean:.4f}",
                    ]
                )
    heads = ["program", "model", "decisions", "accuracy", "goal", "legal", "log-loss", "legal"]
    note = (
        "Each program is predicted after the flop by a model of the other programs, in a fifth of "
        "the matches, whose cards were not in those that the model learned from. Intervals are "
        "over hands. Nobody has published a log-loss on these logs."
    )
    return Table(f"Programs of the competition of 2009, {title}", heads, rows, note)


def shown(of: Mean, form: str) -> str:
    """A mean with its interval."""
    mean = f"{of.mean:{form}}"
    return mean if of.ci95 is None else f"{mean} ± {of.ci95:{form}}"


def _goal(goal: float | None) -> str:
    return "-" if goal is None else f"{goal:g}"
