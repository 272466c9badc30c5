"""Feature weights: one JSON format by stage and feature, with where they came from.

{"format": "cbr-weights", "version": 1, "domain": "car",
 "stages": {"car": {"price": 10, "age": 5}}, "provenance": {"made_by": "hand"}}
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cbr.case import CaseType
from cbr.errors import BadWeights, NoSuchName
from cbr.guard import one_line
from cbr.spec import pairs

#: Weights and outcomes above this would overflow in sums.
HIGHEST = 1e100


@dataclass(frozen=True)
class Weights:
    """Weights of some features of some stages; a feature not named keeps its default."""

    stages: Mapping[str, Mapping[str, float]]
    domain: str = ""
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def load(cls, path: str | Path) -> Weights:
        try:
            plain = json.loads(Path(path).read_text("utf-8"), object_pairs_hook=_once)
        except OSError as error:
            raise BadWeights(f"cannot read weights {path}: {error.strerror}") from None
        except (ValueError, RecursionError) as error:
            raise BadWeights(
                f"{path} is not JSON ({one_line(error)}), so no weights file"
            ) from None
        if not isinstance(plain, dict) or plain.get("format") != "cbr-weights":
            raise BadWeights(f'{path} is no weights file: "format" must be "cbr-weights"')
        if plain.get("version") != 1 or plain["version"] is True:
            raise BadWeights(f"{path} has version {plain.get('version')!r}; this program reads 1")
        stages = plain.get("stages")
        if not isinstance(stages, dict) or not all(isinstance(v, dict) for v in stages.values()):
            raise BadWeights(f'{path}: "stages" must hold weights by stage and feature')
        return cls(stages, str(plain.get("domain", "")), plain.get("provenance") or {})

    def save(self, path: str | Path) -> None:
        plain = {
            "format": "cbr-weights",
            "version": 1,
            "domain": self.domain,
            "stages": self.stages,
            "provenance": self.provenance,
        }
        target = Path(path)
        part = target.with_name(target.name + ".part")
        part.write_text(json.dumps(plain, indent=2, ensure_ascii=False) + "\n", "utf-8")
        part.replace(target)


GivenWeights = str | Weights | Mapping[str, object]


def weights_of(case_type: CaseType, given: GivenWeights = "") -> list[float]:
    """One weight for each indexed feature, in feature order, checked.

    `given` is a weights file, ``price=5,age=2``, `Weights` or a mapping; empty means the defaults.
    """
    if isinstance(given, str):
        given = pairs(given, "weights") if "=" in given else Weights.load(given) if given else {}
    if isinstance(given, Weights):
        if given.domain and given.domain != case_type.domain:
            raise BadWeights(
                f"these weights are for domain {given.domain!r}, not {case_type.domain!r}"
            )
        if case_type.stage not in given.stages:
            raise NoSuchName("stage in these weights", case_type.stage, given.stages)
        given = given.stages[case_type.stage]
    weights = [feature.weight for feature in case_type.indexed]
    for name, value in given.items():
        weights[case_type.position(name)] = _number(name, value)
    return verify_weights(case_type, weights)


def verify_weights(case_type: CaseType, weights: list[float]) -> list[float]:
    """The weights, if they can rank cases: finite, none below 0, not all 0."""
    if len(weights) != len(case_type.indexed):
        raise BadWeights(
            f"{len(weights)} weights given for the {len(case_type.indexed)} indexed features "
            f"of {case_type.stage!r}"
        )
    for feature, weight in zip(case_type.indexed, weights, strict=True):
        if not math.isfinite(weight):
            raise BadWeights(f"weight of {feature.name!r} is {weight}; it must be a finite number")
        if not 0 <= weight <= HIGHEST:
            raise BadWeights(
                f"weight of {feature.name!r} is {weight}; it must be 0 or more"
                + (f", and at most {HIGHEST:g}" if weight > HIGHEST else "")
            )
    if not any(weights):
        raise BadWeights(f"all weights of {case_type.stage!r} are 0; at least one must be above 0")
    return weights


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object in which no name stands twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice in one object")
    return found


def _number(name: str, value: object) -> float:
    try:
        if isinstance(value, bool):
            raise TypeError
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise BadWeights(f"weight of {name!r} is {value!r}, not a number") from None
