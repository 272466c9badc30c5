"""Stored case types, combined with the definitions and functions of loaded plugins."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cbr.case import CaseType, ExtraFeature, Feature, Value
from cbr.errors import BadValue, NoSuchName, PluginFailure
from cbr.plugging.guard import guarded
from cbr.plugging.plugins import Plugins
from cbr.store.feature_choice import choose_features
from cbr.weights import GivenWeights, Weights, read_weights, weights_of

if TYPE_CHECKING:
    from cbr.store.casebase import Casebase


def case_types_of(domain: str, plugins: Plugins) -> list[CaseType]:
    """The case types of a domain, or the one named ``domain/stage``."""
    known: dict[str, CaseType] = plugins.named("case type")
    if not known:
        raise BadValue("no case type is loaded; a plugin brings them: --plugin FILE.py")
    domains = sorted({case_type.domain for case_type in known.values()})
    if not domain:
        if len(domains) > 1:
            raise BadValue(f"give --type, the type to build; there is {', '.join(domains)}")
        domain = domains[0]
    found = [t for t in known.values() if domain in (t.domain, t.name)]
    if not found:
        raise NoSuchName("case type", domain, domains)
    return found


def wished(case_types: Sequence[CaseType], wish: str, plugins: Plugins) -> list[CaseType]:
    """Case types with the features selected by ``--features``."""
    return choose_features(case_types, wish, extras_of(plugins))


def extras_of(plugins: Plugins) -> list[ExtraFeature]:
    return list(plugins.named("feature").values())


def types_in(base: Casebase, wish: str, plugins: Plugins) -> list[CaseType]:
    """The case types of a casebase as its plugins define them now, with the features in `wish`.

    Without `wish` the features stay the same. A wish that names the feature set starts from that
    set; one that only adds and removes features starts from the present ones, and may add features
    of the set again.
    """
    known: dict[str, CaseType] = plugins.named("case type")
    current = [_now(t, known.get(t.name), extras_of(plugins)) for t in base.case_types]
    own = [known[t.name] for t in current if t.name in known]
    words = [word.strip() for word in wish.split(",") if word.strip()]
    if words and words[0][0] not in "+-":
        if len(own) != len(current):
            raise BadValue(
                f"feature set {words[0]!r} comes with the case type {base.domain!r}, which is not "
                f"loaded; load its plugin with --plugin FILE.py"
            )
        return wished(own, wish, plugins)
    back = [ExtraFeature(f, t.name) for t in own for f in t.features]
    return choose_features(current, wish, [*extras_of(plugins), *back])


def as_loaded(stored: CaseType, plugins: Plugins) -> CaseType:
    """A stored case type with the definitions and functions of these plugins."""
    known: dict[str, CaseType] = plugins.named("case type")
    return _now(stored, known.get(stored.name), extras_of(plugins))


def _now(stored: CaseType, own: CaseType | None, extras: Iterable[ExtraFeature]) -> CaseType:
    """A stored case type with the definitions and functions that are loaded now."""
    loaded = {e.feature.name: e.feature for e in extras if e.case_type == stored.domain}
    loaded |= {e.feature.name: e.feature for e in extras if e.case_type == stored.name}
    mine = {f.name: f for f in own.features} if own else {}
    features = [(loaded if f.name not in mine else mine).get(f.name, f) for f in stored.features]
    # A plugin's feature may share the name of a stored column without being the same feature.
    kept = [
        new if new.computed == old.computed else old
        for new, old in zip(features, stored.features, strict=True)
    ]
    return dataclasses.replace(own or stored, features=tuple(kept))


def other_solutions(base: Casebase, plugins: Plugins) -> str:
    """A sentence if loaded plugins define other solutions than the cases of a casebase have; else
    an empty text. Such a casebase can be queried by its own definitions, which it stores."""
    known: dict[str, CaseType] = plugins.named("case type")
    for stored in base.case_types:
        if stored.name in known and known[stored.name].solved_otherwise(stored):
            return (
                f"{base.path} was built with other solutions than {stored.name!r} has now; "
                f"`cbr rebuild {base.path}` computes them again from its {base.records}"
            )
    return ""


def verify_solutions(base: Casebase, plugins: Plugins) -> None:
    """Raise if loaded plugins define other solutions than the cases of a casebase have."""
    if sentence := other_solutions(base, plugins):
        raise BadValue(sentence)


def differences(stored: CaseType, wanted: CaseType) -> tuple[list[str], list[str]]:
    """Differences between two definitions of a case type, as phrases in two lists.

    The first are serious: cases of one do not fit the other. The second concern similarity, weight,
    range and meaning, which retrieval reads from the casebase.
    """
    serious, slight = [], []
    if stored.solved_otherwise(wanted):
        serious.append(f"solutions {', '.join(stored.solutions) or 'that are numbers'}")
    names = [f.name for f in stored.features]
    others = [f.name for f in wanted.features]
    for name in names:
        if name not in others:
            serious.append(f"feature {name!r}, which the cases to add do not have")
    for name in others:
        if name not in names:
            serious.append(f"no feature {name!r}, which the cases to add have")
    for feature in wanted.features:
        if feature.name in names:
            old = stored.feature(feature.name)
            if (old.values, old.is_number, old.indexed) != (
                feature.values,
                feature.is_number,
                feature.indexed,
            ):
                serious.append(f"feature {feature.name!r} of another kind")
            elif feature.missing and not old.missing:
                serious.append(f"feature {feature.name!r}, which may not be missing in it")
            elif old != feature:
                slight.append(f"feature {feature.name!r} of {stored.name!r}")
    return serious, slight


def set_weights(
    base: Casebase, given: GivenWeights, stage: str | None = None, plugins: Plugins | None = None
) -> list[str]:
    """Make weights the defaults of a casebase, in one transaction: for every stage they name, or
    for one. Returns the stages whose weights changed.
    """
    with base.transaction():
        stages = [base.stage(stage)] if stage else _stages_of(base, given, plugins)
        wanted = [_weighed(base.case_type(stage), given, plugins) for stage in stages]
        changed = [t for t in wanted if t != base.case_type(t.stage)]
        for case_type in changed:
            base.redefine(case_type, base.digest(case_type.stage))
    return [case_type.stage for case_type in changed]


def _weighed(stored: CaseType, given: GivenWeights, plugins: Plugins | None) -> CaseType:
    weights = iter(weights_of(stored, given, plugins))
    features = [
        dataclasses.replace(feature, weight=next(weights)) if feature.indexed else feature
        for feature in stored.features
    ]
    return dataclasses.replace(stored, features=features)


def _stages_of(base: Casebase, given: GivenWeights, plugins: Plugins | None) -> list[str]:
    """The stages of a casebase that weights name. If they name none, all stages, for which the
    check then raises. Weights that are not by stage need a stage named."""
    read = read_weights(base.case_types[0], given, plugins)
    if not isinstance(read, Weights):
        return base.stages if str(given).startswith("random:") else [base.stage(None)]
    return [stage for stage in base.stages if stage in read.stages] or base.stages


def with_inputs(case_type: CaseType, plugins: Plugins) -> CaseType:
    """A case type by which to read what a user says of a situation: with the inputs that its plugin
    has besides its features."""
    inputs = as_loaded(case_type, plugins).inputs
    more = tuple(one for one in inputs if case_type.find(one.name) is None)
    return dataclasses.replace(case_type, features=(*case_type.features, *more))


def complete(
    case_type: CaseType, values: Mapping[str, Value], plugins: Plugins
) -> dict[str, Value]:
    """The features among the values, and every feature that loaded plugins can compute from them
    and from inputs."""
    current = as_loaded(case_type, plugins)
    # Given values are kept; a computed feature must agree with them.
    known = {**(current.derive(values, case_type) if current.derive else {}), **values}
    columns: dict[str, Any] = {name: np.array([value]) for name, value in known.items()}
    for feature in current.features:
        if feature.computed and feature.compute is not None:
            value = _computed(feature, columns)
            given = values.get(feature.name, value)
            if value is not None and not _alike(value, given):
                raise BadValue(
                    f"{feature.name} is given as {given}, but the other features make it {value}"
                )
            if value is not None:
                known[feature.name] = value
    return {name: value for name, value in known.items() if case_type.find(name)}


def possible_solutions(
    case_type: CaseType, values: Mapping[str, Value], plugins: Plugins
) -> tuple[str, ...]:
    """The solutions that are possible in a situation, as the plugin of the case type tells; all of
    them if it does not, or is not loaded."""
    own: CaseType | None = plugins.named("case type").get(case_type.name)
    if own is None or own.possible is None:
        return tuple(case_type.solutions)
    with guarded(f"case type {case_type.name!r}"):
        told = set(own.possible(values, case_type))
    found = tuple(name for name in case_type.solutions if name in told)
    if not found:
        raise PluginFailure(
            f"case type {case_type.name!r} gave no solution that is possible in this situation"
        )
    return found


def _alike(one: Value, two: Value | None) -> bool:
    if isinstance(one, str) or isinstance(two, str) or two is None:
        return one == two
    return math.isclose(one, two, rel_tol=1e-6, abs_tol=1e-9)


def _computed(feature: Feature, columns: Mapping[str, Any]) -> Value | None:
    try:
        return feature.read(np.asarray(feature.of(columns))[0].item())
    except Exception:  # a value that it needs is missing; plugins may raise anything
        return None
