"""Feature weights: the JSON file format, by stage and feature with provenance, and their checks.

{"format": "cbr-weights", "version": 1, "domain": "car",
 "stages": {"car": {"price": 10, "age": 5}}, "provenance": {"made_by": "hand"}}
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from cbr.case import CaseType
from cbr.checks import HIGHEST
from cbr.errors import BadJson, BadWeights, CbrError, NoSuchName
from cbr.files.atomic import verify_place, whole_file
from cbr.files.json_text import read_json_file
from cbr.plugging.plugins import Plugins, default_plugins
from cbr.spec import pairs

#: Prefix of random weights: ``random:7``.
_RANDOM = "random:"
_CALLED = re.compile(r"[a-z][a-z0-9_-]*\Z")


@dataclass(frozen=True)
class Weights:
    """Weights of some features of some stages; a feature not named keeps its default.

    A set that a plugin registers (hook `cbr_weights`) has a name in `called`, unique in its domain.
    """

    stages: Mapping[str, Mapping[str, float]]
    domain: str = ""
    provenance: Mapping[str, Any] = field(default_factory=dict)
    called: str = ""

    kind: ClassVar[str] = "weight set"

    def __post_init__(self) -> None:
        if not isinstance(self.stages, Mapping) or not all(
            isinstance(weights, Mapping) for weights in self.stages.values()
        ):
            raise BadWeights(f"weights {self.called!r} must be a mapping by stage, then by feature")
        if self.called and not _CALLED.match(self.called):
            raise BadWeights(
                f"the name of weights {self.called!r} must be lower-case letters, digits, - and _"
            )

    @property
    def name(self) -> str | None:
        """The name under which a set is registered (``domain.called``); None without one."""
        return ".".join(filter(None, (self.domain, self.called))) if self.called else None

    @classmethod
    def load(cls, path: str | Path) -> Weights:
        try:
            plain = read_json_file(Path(path), unique=True)
        except OSError as error:
            raise BadWeights(f"cannot read weights {path}: {error.strerror}") from None
        except BadJson as error:
            raise BadWeights(f"{path} is not JSON ({error}); give a weights file") from None
        if not isinstance(plain, dict) or plain.get("format") != "cbr-weights":
            raise BadWeights(f'{path} is not a weights file: "format" must be "cbr-weights"')
        if plain.get("version") != 1 or plain["version"] is True:
            raise BadWeights(f"{path} has version {plain.get('version')!r}; this program reads 1")
        stages = plain.get("stages")
        if not isinstance(stages, dict) or not all(isinstance(v, dict) for v in stages.values()):
            raise BadWeights(f'{path}: "stages" must map stages to weights by feature')
        provenance = plain.get("provenance") or {}
        if not isinstance(provenance, dict):
            provenance = {"made_by": provenance}
        return cls(stages, str(plain.get("domain", "")), provenance)

    def save(self, path: str | Path) -> None:
        verify_can_save(path)
        with whole_file(Path(path)) as part:
            part.write_text(json.dumps(self.plain(), indent=2, ensure_ascii=False) + "\n", "utf-8")

    def plain(self) -> dict[str, Any]:
        """The content of a weights file, with every weight checked."""
        return {
            "format": "cbr-weights",
            "version": 1,
            "domain": self.domain,
            "stages": {
                stage: {name: _short(_weight(name, value)) for name, value in weights.items()}
                for stage, weights in self.stages.items()
            },
            "provenance": self.provenance,
        }


def verify_can_save(path: str | Path) -> None:
    """Raise if weights may not be written here: they replace no file except a weights file."""
    verify_place(Path(path))
    if Path(path).exists() and Path(path).stat().st_size:
        try:
            Weights.load(path)
        except BadWeights:
            raise BadWeights(
                f"{path} exists and is not a weights file; choose another name, or remove it"
            ) from None


GivenWeights = str | Weights | Mapping[str, object]


def weights_of(
    case_type: CaseType, given: GivenWeights = "", plugins: Plugins | None = None
) -> list[float]:
    """One weight for each indexed feature, in feature order, checked.

    `given` is the name of a plugin's set, a weights file, ``price=5,age=2``, ``random:SEED``,
    `Weights` or a mapping; empty means the defaults.
    """
    try:
        return _checked(case_type, read_weights(case_type, given, plugins))
    except CbrError as error:
        if isinstance(given, str) and _is_there(given) and given not in str(error):
            raise BadWeights(f"{given}, {case_type.stage}: {error}") from None
        raise


def _checked(case_type: CaseType, given: Weights | Mapping[str, object]) -> list[float]:
    """The weight of each indexed feature: the one given, else the default."""
    if isinstance(given, Weights):
        if given.domain and given.domain != case_type.domain:
            raise BadWeights(
                f"these weights are for domain {given.domain!r}, not {case_type.domain!r}"
            )
        if case_type.stage not in given.stages:
            raise BadWeights(
                f"these weights are for the stages {', '.join(given.stages) or 'of nothing'}, and "
                f"not for {case_type.stage!r}"
            )
        given = given.stages[case_type.stage]
    weights = [feature.weight for feature in case_type.indexed]
    for name, value in given.items():
        weights[case_type.position(name)] = _number(name, value)
    return verify_weights(case_type, weights)


def read_weights(
    case_type: CaseType, given: GivenWeights, plugins: Plugins | None = None
) -> Weights | Mapping[str, object]:
    """The weights given, not yet checked: `Weights`, or a mapping by feature of this case type."""
    if not isinstance(given, str):
        return given
    if not given:
        return {}
    if given.startswith(_RANDOM):
        return random_weights(case_type, given.removeprefix(_RANDOM))
    if "=" in given:
        return pairs(given, "weights")
    return find_weights(given, case_type.domain, plugins)


def find_weights(given: str, domain: str = "", plugins: Plugins | None = None) -> Weights:
    """The set of that name (``general``, or with its domain ``holdem.general``), else the file.

    With a domain, a set for that domain or for any domain comes first, then a file. A set of
    another domain is returned only if nothing else fits, so that the check can name its domain.
    """
    sets: dict[str, Weights] = (plugins or default_plugins()).named("weight set")
    named = [each for name, each in sets.items() if given in (name, each.called)]
    if not domain and len(named) > 1:
        which = ", ".join(sorted(str(each.name) for each in named))
        raise BadWeights(f"several sets of weights are called {given!r}; name one: {which}")
    fitting = [each for each in named if not domain or each.domain in (domain, "")]
    if fitting:
        return max(fitting, key=lambda each: each.domain)  # prefer it to one for any domain
    if _is_there(given):
        return Weights.load(given)
    if named:
        return named[0]
    raise BadWeights(str(NoSuchName("set or file of weights", given, sorted(sets))))


def _is_there(path: str) -> bool:
    try:
        return Path(path).exists()
    except OSError:  # not a valid file name
        return False


def random_weights(case_type: CaseType, seed: object) -> dict[str, float]:
    """A whole number from 0 to 100 for each indexed feature, not all 0.

    It depends only on the seed, the name of the case type and the name of the feature.
    """
    try:
        number = int(str(seed))
    except ValueError:
        raise BadWeights(
            f"the seed of random:{seed} is not a whole number; write random:7"
        ) from None
    drawn: dict[str, float] = {}
    attempt = 0
    while not any(drawn.values()):
        for feature in case_type.indexed:
            drawn[feature.name] = _drawn(f"{number} {attempt} {case_type.name} {feature.name}")
        attempt += 1
    return drawn


def _drawn(key: str) -> float:
    mark = hashlib.blake2b(key.encode(), digest_size=8).digest()
    return float(int.from_bytes(mark, "big") % 101)


def verify_weights(case_type: CaseType, weights: list[float]) -> list[float]:
    """The weights, checked: finite, none below 0, not all 0."""
    if len(weights) != len(case_type.indexed):
        raise BadWeights(
            f"{len(weights)} weights given for the {len(case_type.indexed)} indexed features "
            f"of {case_type.stage!r}"
        )
    for feature, weight in zip(case_type.indexed, weights, strict=True):
        _weight(feature.name, weight)
    if not any(weights):
        raise BadWeights(f"all weights of {case_type.stage!r} are 0; at least one must be above 0")
    return weights


def _short(weight: float) -> float:
    """A whole number as int, so that a file has 5 and not 5.0."""
    return int(weight) if weight.is_integer() else weight


def _weight(name: str, value: object) -> float:
    """The weight of a feature as a checked number."""
    weight = _number(name, value)
    if not math.isfinite(weight):
        raise BadWeights(f"weight of {name!r} is {weight}; it must be a finite number")
    if not 0 <= weight <= HIGHEST:
        raise BadWeights(
            f"weight of {name!r} is {weight}; it must be 0 or more"
            + (f", and at most {HIGHEST:g}" if weight > HIGHEST else "")
        )
    return weight


def _number(name: str, value: object) -> float:
    try:
        if isinstance(value, bool):
            raise TypeError
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise BadWeights(f"weight of {name!r} is {value!r}, not a number") from None
