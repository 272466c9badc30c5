"""Which features cases have: those of their case types, and what ``--features`` changes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from cbr.case import CaseType, ExtraFeature
from cbr.errors import BadValue, NoSuchName


def choose_features(
    case_types: Sequence[CaseType], wish: str, extras: Iterable[ExtraFeature]
) -> list[CaseType]:
    """Case types with the features selected by `wish`, for example ``casper,+texture,-pot``.

    The first word may name the feature set of the case types, ``+name`` adds a plugin's feature
    (in place of the one it replaces, if any), ``-name`` removes one.
    """
    chosen, extras = list(case_types), list(extras)
    for place, word in enumerate(filter(None, (part.strip() for part in wish.split(",")))):
        sign, name = (word[0], word[1:]) if word[0] in "+-" else ("", word)
        if sign == "+":
            chosen = _with_extra(chosen, name, extras)
        elif sign == "-":
            chosen = _without(chosen, name)
        elif place:
            raise BadValue(f"{word!r} in --features must be first, or have a sign: +{word}")
        elif any(case_type.feature_set != name for case_type in chosen):
            sets = sorted({case_type.feature_set for case_type in case_types})
            raise NoSuchName("feature set", name, sets)
    return chosen


def _with_extra(
    case_types: list[CaseType], name: str, extras: list[ExtraFeature]
) -> list[CaseType]:
    named = [extra for extra in extras if extra.feature.name == name]
    if not named:
        raise NoSuchName("extra feature", name, sorted({e.feature.name for e in extras}))
    suiting = [[e for e in named if e.suits(case_type)] for case_type in case_types]
    if not any(suiting):
        raise BadValue(
            f"feature {name!r} is for case type {', '.join(e.case_type for e in named)}, "
            f"not for {', '.join(case_type.name for case_type in case_types)}"
        )
    return [_put(t, fits[-1]) if fits else t for t, fits in zip(case_types, suiting, strict=True)]


def _put(case_type: CaseType, extra: ExtraFeature) -> CaseType:
    features = list(case_type.features)
    names = [feature.name for feature in features]
    old = extra.replaces or extra.feature.name
    if extra.replaces is not None and old not in names:
        # If it was added before, it has already replaced the old feature.
        old = extra.feature.name if extra.feature.name in names else old
        if old == extra.replaces:
            raise NoSuchName("feature to replace", old, names)
    if old in names:
        features[names.index(old)] = extra.feature
    else:
        features.append(extra.feature)
    return dataclasses.replace(case_type, features=tuple(features))


def _without(case_types: list[CaseType], name: str) -> list[CaseType]:
    if not any(name == feature.name for t in case_types for feature in t.features):
        raise NoSuchName("feature", name, sorted({f.name for t in case_types for f in t.features}))
    return [
        dataclasses.replace(t, features=tuple(f for f in t.features if f.name != name))
        for t in case_types
    ]
