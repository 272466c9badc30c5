"""All figures of the page of opponent models, from public logs: moves of held-out players with and
without what was seen of them, cards that were shown, and programs that were left out.

Held-out players are a fifth of a log's. The programs of the competition of 2009 played every deal
twice with exchanged cards, so they are split by match: a model learns from four of them in most
matches, and is tested on the fifth in the others.

What was measured on a log is kept in the output folder as a JSON document with the commit, and read
from there while the options are the same. So a run that was stopped goes on; remove the documents
to measure anew. With `kept` the tables are of these documents alone, each with its own options.
"""

from __future__ import annotations

import json
import re
import tarfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from cbr import BadValue, Casebase
from cbr.plots import COLOURS, LINE_GREY, picture, style_axis
from cbr.statistics import Mean, clustered_mean
from cbr_opponents.learning import Observed, observe
from cbr_opponents.prediction import Group, Prediction, compare, evaluate
from experiment import built, say
from results import Table, commit

PUBLIC, PROFILES = "trees?profiles=false", "trees"
#: Models that know what was seen of a player; the last one where there is a goal.
LEARNED = (PROFILES, "ponsen", "ponsen?prior=trees")
#: Hands of which the shown cards are looked at.
_CARDS = 4_000
#: Classes of `prediction.SEEN_CLASSES` below 10 hands, and from 100 on.
_FEW, _MANY = 3, 5


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
    People("nine_seat_bots.tar.xz"),  # programs that play at one table
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


class Options(NamedTuple):
    """The folder of logs, the folder of what is kept, the seed, the most hands of a log of people,
    how many matches of the programs count, the logs that are measured (none: all), and whether
    only what is kept counts."""

    logs: Path
    out: Path
    seed: int
    hands: int | None
    matches: int
    only: list[str]
    kept: bool = False


def figures(options: Options) -> tuple[list[Table], Path | None]:
    """All tables, and the picture of what is learned of a player."""
    if not options.logs.is_dir():
        raise BadValue(f"no folder {options.logs}; give the folder with the logs")
    options.out.mkdir(parents=True, exist_ok=True)
    found = [one for log in PEOPLE if (one := _kept(log.log, options, partial(_people, log)))]
    tables, drawn = [], None
    if found:
        tables = [_moves(found), _learning(found), _shown(found)]
        drawn = options.out / "opponent-models.png"
        _draw(found, drawn)
    if programs := _kept(MATCHES, options, _programs):
        tables += [_table_of_programs(programs, "with cards", 0)]
        tables += [_table_of_programs(programs, "without cards", 1)]
    if not tables:
        raise BadValue(f"{options.logs} has none of the logs, such as {PEOPLE[0].log}")
    all_ = [*found, *([programs] if programs else [])]
    measured = [[one["log"], one["part"], one["commit"]] for one in all_]
    tables.append(Table("When each log was measured", ["log", "part of it", "commit"], measured))
    return tables, drawn


# --- measuring ------------------------------------------------------------------------------------


def _kept(
    log: str, options: Options, measure: Callable[[Path, Options], dict[str, Any]]
) -> dict[str, Any] | None:
    """What is kept of a log, or what is measured now; None if it is left out."""
    name = log.partition(".")[0]
    if options.only and name not in options.only:
        return None
    file, matches = options.logs / log, log == MATCHES
    settings = [options.seed, options.matches if matches else options.hands]
    kept = options.out / f"{name}.json"
    if kept.exists():
        before = json.loads(kept.read_text("utf-8"))
        if options.kept or before["settings"] == settings:
            say(f"{name}: figures are those of {kept}")
            count = before["settings"][1]
            unit = "matches" if matches else "hands"
            part = "all" if count is None else f"the first {count:,} {unit}"
            found: dict[str, Any] = before["found"]
            return {**found, "part": part}
    if options.kept or not file.exists():
        say(f"left out: {name}, no file {kept if options.kept else file}")
        return None
    if matches:
        base = _built_matches(file, options)
    else:
        most = options.hands
        base = built([file], options.out / f"{name}{f'-{most}' if most else ''}.db", most)
    found = {"log": name, "commit": commit(), **measure(base, options)}
    kept.write_text(json.dumps({"settings": settings, "found": found}, indent=1), "utf-8")
    return _kept(log, options, measure)


def _built_matches(archive: Path, options: Options) -> Path:
    """A casebase of the first matches of the programs alone, built with the game definition that
    lies beside them."""
    base = options.out / f"{archive.name.partition('.')[0]}-{options.matches}-matches.db"
    if base.exists():
        return base
    with TemporaryDirectory() as folder, tarfile.open(archive) as packed:
        for member in packed:
            number = re.search(r"match(\d+)", member.name)
            if number is None or int(number[1]) <= options.matches:
                packed.extract(member, folder, filter="data")
        return built([Path(folder)], base)


def _people(goals: People, file: Path, options: Options) -> dict[str, Any]:
    with Casebase.open(file) as base:
        observed = observe(base)
        public = _evaluated(base, observed, PUBLIC, options.seed, _CARDS)
        models = [_record(public)]
        for model in LEARNED[: len(LEARNED) if goals.gain else 2]:
            cards = _CARDS if model == PROFILES else 0
            one = _evaluated(base, observed, model, options.seed, cards)
            compare(one, public)
            models.append(_record(one, public))
    return {"models": models}


def _evaluated(base: Casebase, observed: Observed, model: str, seed: int, cards: int) -> Prediction:
    found = evaluate(base, observed, model, "players", seed, cards)
    of = found.public
    say(f"{base.path}, {model}: accuracy {of.accuracy.mean:.3f}, log-loss {of.log_loss.mean:.4f}")
    return found


def _record(one: Prediction, public: Prediction | None = None) -> dict[str, Any]:
    """The figures of a model, and what it gains over the public one."""
    of, cards = one.public, one.cards
    record: dict[str, Any] = {
        "model": one.model,
        "decisions": one.decisions,
        "accuracy": _pair(of.accuracy),
        "log_loss": _pair(of.log_loss),
        "legal": [of.baseline_accuracy.mean, of.baseline_log_loss.mean],
        "cards": None
        if cards is None
        else [cards.hands, _pair(cards.multiple), _pair(cards.log), cards.uniform_log],
    }
    if public is not None:
        less = public.scored.log_loss - one.scored.log_loss
        spans = [(gain.hands_seen, gain.decisions, gain.gain) for gain in one.gains[public.model]]
        for name, here in (("under 10", one.seen < _FEW), ("100 and more", one.seen >= _MANY)):
            gain = clustered_mean(less[here], one.scored.cluster[here])
            spans.append((name, int(np.count_nonzero(here)), gain))
        record["gain"] = _pair(one.against[public.model])
        record["by_hands"] = [[name, count, _pair(gain)] for name, count, gain in spans if count]
    return record


def _programs(file: Path, options: Options) -> dict[str, Any]:
    with Casebase.open(file) as base:
        observed = observe(base)
        later, found = observed.take(observed.place[:, 0] > 0), []
        for model in ("frequencies", PUBLIC):
            say(f"{file}: {model}, {len(later):,} decisions after the flop")
            one = evaluate(base, later, model, "matches", options.seed, 0)
            groups = (one.players_known, one.players)
            found.append({"model": model, "groups": [_by_program(some) for some in groups]})
    return {"models": found}


def _by_program(groups: list[Group]) -> dict[str, Any]:
    return {
        name: {
            "decisions": of.decisions,
            "accuracy": _pair(of.accuracy),
            "log_loss": _pair(of.log_loss),
            "legal": [of.baseline_accuracy.mean, of.baseline_log_loss.mean],
        }
        for name, of in groups
    }


def _pair(of: Mean) -> list[float | None]:
    return [of.mean, of.ci95]


# --- tables ---------------------------------------------------------------------------------------


def _moves(found: list[dict[str, Any]]) -> Table:
    goals = {one.log.partition(".")[0]: one for one in PEOPLE}
    rows = []
    for one in found:
        goal = goals[one["log"]]
        for model in one["models"]:
            public = model["model"] == PUBLIC
            rows.append(
                [
                    one["log"],
                    model["model"],
                    f"{model['decisions']:,}",
                    *_scores(model, goal.public if public else goal.profiles),
                    "-" if public else _shown_as(model["gain"], ".4f"),
                    "-" if public else _goal(goal.gain),
                ]
            )
    heads = "log,model,decisions,accuracy,goal,legal,log-loss,legal,gain by the player,goal"
    note = (
        "A fifth of the players is held out. The gain is what the log-loss is less than that of "
        "the trees without profiles, paired; `ponsen` corrects these very trees, or those with "
        "profiles."
    )
    return Table("Moves of players held out, without cards", heads.split(","), rows, note)


def _scores(of: dict[str, Any], goal: float | None) -> list[str]:
    return [
        _shown_as(of["accuracy"], ".3f"),
        _goal(goal),
        f"{of['legal'][0]:.3f}",
        _shown_as(of["log_loss"], ".4f"),
        f"{of['legal'][1]:.4f}",
    ]


def _learning(found: list[dict[str, Any]]) -> Table:
    rows = [
        [one["log"], model["model"], name, f"{count:,}", _shown_as(gain, ".4f")]
        for one in found
        for model in one["models"]
        for name, count, gain in model.get("by_hands", ())
    ]
    heads = ["log", "model", "hands seen", "decisions", "gain"]
    note = "Gain in log-loss over the trees without profiles, which are the prior of `ponsen`."
    return Table("What is learned of a player, by hands seen before", heads, rows, note)


def _shown(found: list[dict[str, Any]]) -> Table:
    rows = []
    for one in found:
        for model in one["models"]:
            if model["cards"]:
                hands, multiple, log, uniform = model["cards"]
                shown = [_shown_as(multiple, ".2f"), "3", _shown_as(log, ".3f"), f"{uniform:.3f}"]
                rows.append([one["log"], model["model"], f"{hands:,}", *shown])
    heads = ["log", "model", "hands", "in 1/1326", "goal", "logarithm", "if all hands were alike"]
    return Table("Mean probability of the cards that players turned out to hold", heads, rows)


def _table_of_programs(found: dict[str, Any], title: str, which: int) -> Table:
    rows = [
        [name, one["model"], f"{of['decisions']:,}", *_scores(of, goals[which])]
        for one in found["models"]
        for name, goals in PROGRAMS.items()
        if (of := one["groups"][which].get(name))
    ]
    heads = ["program", "model", "decisions", "accuracy", "goal", "legal", "log-loss", "legal"]
    note = (
        "Each program is predicted after the flop by a model of the other programs, in a fifth of "
        "the matches, at least one, whose cards were not in those that the model learned from. "
        "Intervals are over hands. Nobody has published a log-loss on these logs."
    )
    return Table(f"Programs of the competition of 2009, {title}", heads, rows, note)


def _draw(found: list[dict[str, Any]], path: Path) -> None:
    """The gain of each model by the hands seen of a player, a panel for each log."""
    with picture(path, 5.0 * len(found), 4.2) as figure:
        for axis, one in zip(figure.subplots(1, len(found), squeeze=False)[0], found, strict=True):
            axis.axhline(0.0, color=LINE_GREY, linewidth=0.8)
            for model, colour in zip(one["models"][1:], COLOURS, strict=False):
                spans = model["by_hands"][:-2]
                at = [name for name, _, _ in spans]
                mean = [gain[0] for _, _, gain in spans]
                interval = [gain[1] or 0.0 for _, _, gain in spans]
                axis.errorbar(
                    at, mean, interval, color=colour, marker="o", capsize=3, label=model["model"]
                )
            axis.tick_params(axis="x", labelrotation=45)
            style_axis(axis, one["log"], grid="y")
            axis.set_xlabel("hands seen of the player before")
            axis.set_ylabel("gain in log-loss")
            axis.legend(frameon=False, fontsize=8)


def _shown_as(pair: list[float | None], form: str) -> str:
    mean, ci95 = pair
    assert mean is not None
    return shown(Mean(mean, ci95), form)


def shown(of: Mean, form: str) -> str:
    """A mean with its interval."""
    mean = f"{of.mean:{form}}"
    return mean if of.ci95 is None else f"{mean} ± {of.ci95:{form}}"


def _goal(goal: float | None) -> str:
    return "-" if goal is None else f"{goal:g}"
