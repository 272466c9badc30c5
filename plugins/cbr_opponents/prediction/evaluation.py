"""A player model fitted to a part of a casebase's decisions and tested on the rest."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr.errors import BadValue
from cbr.spec import Spec
from cbr.statistics import Mean, clustered_mean
from cbr.store import Casebase
from cbr.typing import Flags, Floats, Ints
from cbr_holdem.table import RAISE, STREETS
from cbr_opponents.decision_features import FEATURES
from cbr_opponents.learning import Observed
from cbr_opponents.learning.streaming import streamed_chances
from cbr_opponents.opponent_model import described_chances, workspace
from cbr_opponents.player_models import PlayerModel, SequentialModel, model_maker
from cbr_opponents.prediction.scores import (
    Figures,
    Scored,
    figures,
    kinds_of,
    legal_baseline,
    scored,
    size_baseline,
)
from cbr_opponents.prediction.shown_cards import CardFigures, card_figures
from cbr_opponents.prediction.splits import splits_of

#: Lower bounds of the classes of hands seen of a player, for the learning curve.
SEEN_CLASSES = (0, 1, 3, 10, 30, 100, 300, 1_000)


class Group(NamedTuple):
    """The figures of some decisions: of a player, of a street with or without a bet to call, or of
    players of whom so many hands were seen."""

    name: str
    figures: Figures


class Gain(NamedTuple):
    """The gain over another model in decisions of players of whom so many hands were seen."""

    hands_seen: str
    decisions: int
    gain: Mean


@dataclass
class Prediction:
    """How well a model predicts: `public` without the cards and `with_cards` where they are known;
    by player, by situation and by hands seen (public), by player with cards (`players_known`); the
    sizes of raises; and the cards shown.
    `scored` are the single decisions without cards, and `seen` [n] the class of hands seen before
    each. `against` is the gain over other models, `gains` the same by hands seen."""

    model: str
    split: str
    decisions: int
    public: Figures
    with_cards: Figures | None
    players: list[Group]
    players_known: list[Group]
    situations: list[Group]
    curve: list[Group]
    sizes: Figures | None
    cards: CardFigures | None
    scored: Scored
    seen: Ints
    against: dict[str, Mean] = field(default_factory=dict)
    gains: dict[str, list[Gain]] = field(default_factory=dict)


class _Tested(NamedTuple):
    """Predicted decisions of one split."""

    observed: Observed
    public: Floats
    baseline: Floats
    with_cards: Floats  # NaN where the cards are unknown
    sizes: Floats  # of raises alone, as are the next two
    size_baseline: Floats
    size: Ints
    size_cluster: Ints


def evaluate(
    base: Casebase,
    observed: Observed,
    model: str,
    split: str,
    seed: int = 0,
    cards: int = 4_000,
    pool: Executor | None = None,
) -> Prediction:
    """Fit a model, given by its spec, and test it; `cards` is the most hands whose shown cards are
    looked at."""
    make = model_maker(model)
    parts, shown = [], []
    for one in splits_of(observed, split, seed, base):
        fitted = make(observed.take(one.known))
        _verify_apart(fitted, base)
        parts.append(_tested(base, fitted, observed, one.known, one.tested))
        if cards and fitted.arrays is not None:
            shown.append(card_figures(base, fitted.arrays, observed, one.tested, cards))
    return _prediction(str(Spec.parse(model)), split, parts, shown)


def _verify_apart(model: PlayerModel, base: Casebase) -> None:
    """Refuse to test a model on the casebase whose cases it retrieves."""
    file = getattr(model, "file", None)
    if file is not None and Path(file).samefile(base.path):
        raise BadValue(
            f"{file} has the decisions that the model would be tested on; build the hands to "
            "retrieve from into a casebase of their own"
        )


def _tested(
    base: Casebase, model: PlayerModel, observed: Observed, known: Flags, tested: Flags
) -> _Tested:
    mine = observed.take(tested)
    fitted = observed.take(known)
    public = predicted(base, model, observed, tested, cards=False)
    with_cards = np.full((len(mine), 3), np.nan)
    if mine.known.any():
        some = tested.copy()
        some[tested] = mine.known
        found = predicted(base, model, observed, some, cards=True)
        with_cards[mine.known] = kinds_of(found, mine.take(mine.known))
    raised = mine.move >= RAISE
    raises = public[raised, RAISE:]
    return _Tested(
        mine,
        kinds_of(public, mine),
        legal_baseline(fitted, mine),
        with_cards,
        raises / np.maximum(raises.sum(axis=1, keepdims=True), 1e-12),
        size_baseline(fitted, mine.take(raised)),
        mine.move[raised] - RAISE,
        mine.player[raised],
    )


def predicted(
    base: Casebase, model: PlayerModel, observed: Observed, chosen: Flags, cards: bool
) -> Floats:
    """Chances of moves [n, moves] of the chosen decisions, with the cards or without them."""
    if isinstance(model, SequentialModel):
        return model.in_sequence(observed, chosen, cards)
    if not getattr(model, "exact", True) or model.arrays is None:
        return streamed_chances(base, model, chosen, cards)
    mine = observed.take(chosen)
    out = np.empty((len(mine), observed.moves))
    held = mine.hand_class if cards else np.full(len(mine), -1, np.int64)
    space = workspace(model.arrays)
    described_chances(mine.place, mine.features, held, model.arrays, space, out)
    return out


def _prediction(
    model: str, split: str, parts: list[_Tested], shown: list[CardFigures | None]
) -> Prediction:
    observed = Observed.joined([part.observed for part in parts])
    # Intervals are over players; where there is one, over hands.
    several = len(np.unique(observed.player)) > 1
    cluster = observed.player if several else observed.hand

    def of(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(part, name) for part in parts])

    ours = scored(of("public"), observed.kind, cluster)
    theirs = scored(of("baseline"), observed.kind, cluster)
    known = observed.known
    with_cards, players_known = None, []
    if known.any():
        both = scored(of("with_cards")[known], observed.kind[known], cluster[known])
        with_cards = figures(both, theirs.take(known))
        players_known = _players(observed.take(known), both, theirs.take(known))
    sizes = None
    if observed.moves > RAISE + 1 and len(of("size")):
        size, of_whom = of("size"), of("size_cluster")
        sizes = figures(
            scored(of("sizes"), size, of_whom), scored(of("size_baseline"), size, of_whom)
        )

    def groups(key: Ints, names: list[str]) -> list[Group]:
        found = []
        for at, name in enumerate(names):
            here = key == at
            if here.any():
                found.append(Group(name, figures(ours.take(here), theirs.take(here))))
        return found

    situation = 2 * observed.place[:, 0] + observed.facing
    named = [f"{street}, {bet}" for street in STREETS for bet in ("free", "facing a bet")]
    seen = 2.0 ** (observed.features[:, FEATURES] / 16.0) - 0.5
    curve = np.searchsorted(SEEN_CLASSES, seen, "right") - 1
    return Prediction(
        model,
        split,
        len(observed),
        figures(ours, theirs),
        with_cards,
        _players(observed, ours, theirs),
        players_known,
        groups(situation, named),
        groups(curve, _spans()),
        sizes,
        _joined(shown),
        ours,
        curve,
    )


def _spans() -> list[str]:
    """The classes of hands seen, in words."""
    edges = [*SEEN_CLASSES[1:], 0]
    return [
        f"{low} to {high - 1}" if high > low + 1 else (str(low) if high else f"{low} or more")
        for low, high in zip(SEEN_CLASSES, edges, strict=True)
    ]


def _players(observed: Observed, ours: Scored, theirs: Scored) -> list[Group]:
    """The figures of each player, those with the most decisions first; intervals over hands."""
    ours, theirs = ours._replace(cluster=observed.hand), theirs._replace(cluster=observed.hand)
    order = np.argsort(observed.player, kind="stable")
    who, first = np.unique(observed.player[order], return_index=True)
    found = [
        Group(observed.names[player], figures(ours.take(mine), theirs.take(mine)))
        for player, mine in zip(who, np.split(order, first[1:]), strict=True)
    ]
    return sorted(found, key=lambda group: -group.figures.decisions)


def _joined(shown: list[CardFigures | None]) -> CardFigures | None:
    """The figures of shown cards over several splits; the intervals are of their mean."""
    some = [one for one in shown if one is not None]
    if len(some) <= 1:
        return some[0] if some else None
    number = np.arange(len(some))

    def mean(values: list[float]) -> Mean:
        return clustered_mean(np.array(values), number)

    return CardFigures(
        sum(one.hands for one in some),
        mean([one.multiple.mean for one in some]),
        mean([one.log.mean for one in some]),
        float(np.mean([one.uniform_log for one in some])),
    )


def paired_gain(one: Prediction, other: Prediction) -> Mean:
    """How much less the log-loss of the first is than that of the other, on the same decisions."""
    less = other.scored.log_loss - one.scored.log_loss
    return clustered_mean(less, one.scored.cluster)


def compare(one: Prediction, other: Prediction) -> None:
    """Write the paired gain of the first over the other into the first, in all and by hands
    seen."""
    one.against[other.model] = paired_gain(one, other)
    less = other.scored.log_loss - one.scored.log_loss
    found = []
    for at, name in enumerate(_spans()):
        here = one.seen == at
        if here.any():
            gain = clustered_mean(less[here], one.scored.cluster[here])
            found.append(Gain(name, int(here.sum()), gain))
    one.gains[other.model] = found


def as_json(found: Prediction) -> dict[str, Any]:
    """The figures for scripts."""
    known = {name: _figures(of) for name, of in found.players_known}
    return {
        "model": found.model,
        "split": found.split,
        "rows": [
            {"player": name, **_figures(of), "with_cards": known.get(name)}
            for name, of in found.players
        ],
        "all": {
            **_figures(found.public),
            "with_cards": None if found.with_cards is None else _figures(found.with_cards),
            "sizes": None if found.sizes is None else _figures(found.sizes),
            "situations": [{"situation": name, **_figures(of)} for name, of in found.situations],
            "curve": [{"hands_seen": name, **_figures(of)} for name, of in found.curve],
        },
        "cards": None
        if found.cards is None
        else {
            "multiple": found.cards.multiple.mean,
            "log": found.cards.log.mean,
            "uniform_log": found.cards.uniform_log,
            "ci95": found.cards.multiple.ci95,
            "log_ci95": found.cards.log.ci95,
            "hands": found.cards.hands,
        },
        "against": {
            name: {
                "gain": gain.mean,
                "ci95": gain.ci95,
                "curve": [
                    {
                        "hands_seen": one.hands_seen,
                        "decisions": one.decisions,
                        "gain": one.gain.mean,
                        "ci95": one.gain.ci95,
                    }
                    for one in found.gains[name]
                ],
            }
            for name, gain in found.against.items()
        },
    }


def _figures(of: Figures) -> dict[str, Any]:
    return {
        "decisions": of.decisions,
        "accuracy": of.accuracy.mean,
        "log_loss": of.log_loss.mean,
        "brier": of.brier.mean,
        "baseline_accuracy": of.baseline_accuracy.mean,
        "baseline_log_loss": of.baseline_log_loss.mean,
        "ci95": of.log_loss.ci95,
        "accuracy_ci95": of.accuracy.ci95,
        "gain": of.gain.mean,
        "gain_ci95": of.gain.ci95,
    }
