"""Features, case types and cases.

A `Feature` describes one number, category or text. A `CaseType` describes one stage of a casebase:
its features, the solutions it may hold, and how records of a source become situations. A `Case` is
one situation with its solution and its outcome.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from cbr.checks import (
    HIGHEST,
    HIGHEST_NUMBER,
    MOST_FEATURES,
    MOST_SOLUTIONS,
    MOST_VALUES,
    NAME,
    TYPE_NAME,
    in_any_case,
    range_of,
    shown,
    texts_of,
    verify_fields,
    with_unit,
    without_unit,
)
from cbr.errors import BadJson, BadValue, NoSuchName, one_line
from cbr.files.json_text import read_json
from cbr.marks import mark
from cbr.missing import is_nothing, verify_rule

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Value = float | str
#: Columns of a batch of situations, each an array [n]. A domain may use a richer mapping (lazy
#: columns, further attributes), on which the features of that domain may rely.
Situations = Mapping[str, Any]
Compute = Callable[[Any], Any]
#: A class, or a number.
Solution = str | float
Derive = Callable[[Mapping[str, Value], "CaseType"], Mapping[str, Value]]
Possible = Callable[[Mapping[str, Value], "CaseType"], Collection[str]]
F = TypeVar("F", bound=Callable[..., Any])

#: Fields that are stored only if they say something, so that earlier versions read the others.
_ONLY_IF_GIVEN = {"missing", "solution", "label", "solution_label", "outcome_label"}
#: Fields of a case type that a casebase does not store.
_OF_THE_PLUGIN = (
    *("situate", "survey", "options", "if_missing", "derive", "possible"),
    "inputs",
)
RESERVED = {"id", "record", "step", "stage", "solution", "outcome", "rowid"}


@dataclass(frozen=True)
class Feature:
    """One attribute of a situation: a number, a category or a text.

    With `range` it is a number, with `values` a category; with neither it is free text, which is
    stored but not compared (`indexed=False`). `label` is the name that people give it, such as the
    head of its column (default: the name). The range is a scale for measures, not a limit: a
    number outside it is stored unchanged. `similarity` is the spec of the local measure, `weight`
    the default weight. A `private` feature is known only to the decision maker, so a record may
    lack it; decisions without it (NaN, or empty text) are stored separately, as hidden decisions.
    With `missing`, the name of a rule (`cbr.missing`), a case may lack the feature: it has no
    value in mappings, NaN in arrays, and NULL in a casebase. Text that is missing is empty.
    `compute` returns the feature's values [n] for a batch of n situations; without it they are the
    situations' column of the same name. A casebase stores no functions, only the flag `computed`.

    >>> Feature("price", "asking price", range=(500, 40000), unit="EUR").read("4500")
    4500.0
    """

    name: str
    meaning: str = ""
    range: tuple[float, float] | None = None
    unit: str = ""
    values: Sequence[str] = ()
    similarity: str = ""
    weight: float = 1.0
    indexed: bool = True
    private: bool = False
    computed: bool = False
    missing: str = ""
    label: str = ""
    compute: Compute | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        verify_fields(
            f"feature {shown(self.name)}",
            self,
            texts=("name", "meaning", "unit", "similarity", "missing", "label"),
            flags=("indexed", "private", "computed"),
            numbers=("weight",),
        )
        if not NAME.match(self.name) or self.name in RESERVED:
            raise BadValue(
                f"feature name {shown(self.name)} must be lower-case letters, digits and _, "
                f"at most 80, and none of {', '.join(sorted(RESERVED))}"
            )
        object.__setattr__(
            self, "values", texts_of(f"values of {self.name!r}", self.values, MOST_VALUES)
        )
        if self.range is not None:
            object.__setattr__(self, "range", range_of(self.name, self.range))
        if self.range is not None and self.values:
            raise BadValue(f"feature {self.name!r} has a range and values; give one of them")
        if len(set(self.values)) != len(self.values):
            raise BadValue(f"values of {self.name!r} must be distinct")
        if self.indexed and self.is_text:
            raise BadValue(f"feature {self.name!r} is text; give a range, values or indexed=False")
        if not 0 <= self.weight <= HIGHEST:
            raise BadValue(
                f"weight of {self.name!r} is {self.weight}; it must be 0 or more, and at most "
                f"{HIGHEST:g}"
            )
        self._verify_missing()
        if self.compute is not None:
            object.__setattr__(self, "computed", True)
        if not self.similarity and self.indexed:
            object.__setattr__(self, "similarity", "equal" if self.values else "linear")

    def _verify_missing(self) -> None:
        if not self.missing:
            return
        verify_rule(self.missing)
        if self.is_text:
            raise BadValue(f"feature {self.name!r} is text, which is empty where it is missing")
        if self.private:
            raise BadValue(
                f"feature {self.name!r} is private: a decision that lacks it is hidden, and no "
                "case; leave out `missing`"
            )

    @property
    def called(self) -> str:
        """What people call it: its label, or its name."""
        return self.label or self.name

    @property
    def heading(self) -> str:
        """What people call it, with its unit: the head of a column of values.

        >>> Feature("price", range=(0, 9), unit="EUR").heading
        'price (EUR)'
        """
        return with_unit(self.called, self.unit)

    @property
    def is_number(self) -> bool:
        return self.range is not None

    @property
    def is_text(self) -> bool:
        return self.range is None and not self.values

    def lacks(self, value: object) -> bool:
        """Whether this stands for a missing value: None, NaN, or an empty text that is no value."""
        if self.range is None and not self.values:  # a text
            return False
        return is_nothing(value) or (value == "" and "" not in self.values)

    def read(self, value: object) -> Value:
        """The value converted to this feature's type; raises `BadValue` if it cannot be. A category
        may be written in upper or lower case."""
        if self.lacks(value):
            raise BadValue(f"{self.called} is missing")
        return self.converted(value)

    def converted(self, value: object) -> Value:
        """As `read`, for a value that is not missing."""
        if self.is_number:
            return _read_number(self.called, value)
        text = "" if self.is_text and is_nothing(value) else str(value)
        if not self.values or text in self.values:
            return text
        found = in_any_case(text, self.values)
        if found is None:
            raise BadValue(f"{self.called} is {text!r}; it must be one of {', '.join(self.values)}")
        return found

    def encode(self, value: Value | None) -> float:
        """The number that represents a value in arrays: itself, or its position in `values`; NaN
        for a missing one."""
        if value is None:
            return math.nan
        return float(value) if self.is_number else float(self.values.index(str(value)))

    def decode(self, code: float) -> Value:
        """The value that `encode` turned into this number, which is not NaN."""
        return float(code) if self.is_number else self.values[int(code)]

    def of(self, situations: Situations) -> NDArray[np.generic]:
        """This feature's n values for a batch of n situations."""
        import numpy as np

        if self.compute is None:
            if self.computed:
                raise BadValue(
                    f"feature {self.name!r} is computed by a plugin that is not loaded; load it "
                    f"with --plugin, or leave the feature out with --features -{self.name}"
                )
            if self.name not in situations:
                raise NoSuchName("column", self.name, sorted(situations))
            return np.asarray(situations[self.name])
        return np.asarray(self.compute(situations))


def _read_number(name: str, value: object) -> float:
    try:
        if isinstance(value, str) and ("_" in value or not value.isascii()):
            raise ValueError  # float() also accepts 1_000 and digits of other scripts
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise BadValue(f"{name} is {value!r}, not a number") from None
    if not abs(number) <= HIGHEST_NUMBER:
        raise BadValue(f"{name} is {value!r}; it must be a finite number, up to 3e38")
    return number


@dataclass(frozen=True)
class Number:
    """The solution of a case type whose solutions are numbers: a price, a yield.

    With `range` no prediction leaves it, whatever a line through the cases says.

    >>> Number(range=(0, 1e6), unit="EUR").read("4500")
    4500.0
    """

    range: tuple[float, float] | None = None
    unit: str = ""

    def __post_init__(self) -> None:
        verify_fields("a solution", self, texts=("unit",))
        if self.range is not None:
            object.__setattr__(self, "range", range_of("solution", self.range))

    def read(self, value: object) -> float:
        """The value as a number; raises `BadValue` if it is none, or not finite."""
        return _read_number("solution", value)


@dataclass(frozen=True)
class Batch:
    """Decisions of one stage in columns, as a domain extracts them from records.

    `record[i]` is the position, among the records given, of the record that decision i came from;
    `step[i]` is its number inside that record. An unknown outcome is NaN.
    """

    situations: Situations
    solution: Sequence[Any]
    outcome: Any
    record: Any
    step: Any


@dataclass(frozen=True)
class Situated:
    """Situations extracted from records: batches by stage, and a reason for each unused record.

    `rejected` are records that cannot be used, `left_out` valid ones that a build option excludes.
    """

    batches: Mapping[str, Batch]
    rejected: Mapping[int, str] = field(default_factory=dict)
    left_out: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class BuildOption:
    """An option that a case source or a case type adds to ``cbr build``; it is passed on by name.

    With `survey` the files are read twice: first to count, then to build (see `CaseType`). With
    `judges` an option of a case type says which records are sound, not which decisions are wanted:
    its default is passed on too, builds into one casebase may differ in it, and stored records are
    not judged again.
    """

    name: str
    help: str
    default: str | int | float | bool | None = None
    type: type = str
    survey: bool = False
    judges: bool = False


@dataclass(frozen=True)
class CaseType:
    """One stage of a casebase: its features, its solutions, and how records become situations.

    Its solutions are either classes, named in `solutions`, or numbers, described by `solution`.
    `solution_label` and `outcome_label` are what people call them, such as the heads of columns.
    `missing` is the rule for each public feature that states none of its own: such a feature may
    be missing. `reuse` is by default ``proportional``, for numbers ``mean``.

    The name is ``domain/stage``, or one word where the domain has a single stage. Case types of
    one domain are built together. `situate(bodies, case_types)` turns the bodies of records into
    situations (default: each body is a row of columns, as in CSV); it is called once for all types
    of a domain that share it. `record` is the domain's word for a record (row, hand),
    `feature_set` the name of these features in ``--features``.

    `options` are the options that the domain adds to ``cbr build``; those given are passed to
    `situate` by name. If one of them is marked `survey`, the files are read twice: `survey(bodies)`
    returns counts by name, and their sums are passed to `situate` as `counted`. `if_missing`
    explains, by solution, what it means if a built stage has no case with it.

    `derive(values, case_type)` computes features from the values that a user gives for a situation,
    such as the strength of a hand from its cards. `inputs` are what a user may give for it besides
    the features, such as amounts of which the features are shares; what `derive` returns under
    another name than a feature's is a column for features that compute themselves.
    `possible(values, case_type)` returns the solutions that are possible in a situation, as far as
    its values tell; by default all are.
    """

    name: str
    features: Sequence[Feature]
    solutions: Sequence[str] = ()
    meaning: str = ""
    feature_set: str = "default"
    retrieval: str = "threshold"
    reuse: str = ""
    record: str = "row"
    situate: Callable[..., Situated] | None = field(default=None, compare=False, repr=False)
    survey: Callable[[Sequence[str]], Mapping[str, int]] | None = field(
        default=None, compare=False, repr=False
    )
    options: Sequence[BuildOption] = field(default=(), compare=False, repr=False)
    if_missing: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    derive: Derive | None = field(default=None, compare=False, repr=False)
    possible: Possible | None = field(default=None, compare=False, repr=False)
    solution: Number | None = None
    missing: str = ""
    solution_label: str = ""
    outcome_label: str = ""
    inputs: Sequence[Feature] = field(default=(), compare=False, repr=False)

    kind: ClassVar[str] = "case type"

    def __post_init__(self) -> None:
        texts = [f.name for f in dataclasses.fields(self) if f.type == "str"]
        verify_fields(f"case type {shown(self.name)}", self, texts=texts)
        if not TYPE_NAME.match(self.name):
            raise BadValue(f"case type {shown(self.name)} must be named domain or domain/stage")
        if not NAME.match(self.record):
            raise BadValue(
                f"record name {shown(self.record)} must be lower-case letters, digits and _"
            )
        if not self.reuse:
            object.__setattr__(self, "reuse", "mean" if self.numeric else "proportional")
        object.__setattr__(self, "features", self._settled_features())
        if len(self.features) > MOST_FEATURES:
            raise BadValue(f"case type {self.name!r} has more than {MOST_FEATURES:,} features")
        object.__setattr__(
            self,
            "solutions",
            texts_of(f"solutions of {self.name!r}", self.solutions, MOST_SOLUTIONS),
        )
        names = [feature.name for feature in self.features]
        for repeated in {name for name in names if names.count(name) > 1}:
            raise BadValue(f"case type {self.name!r} has feature {repeated!r} twice")
        if not self.indexed:
            raise BadValue(f"case type {self.name!r} has no indexed feature to compare by")
        self._verify_solutions()

    def _settled_features(self) -> tuple[Feature, ...]:
        """The features, with the rule of the case type where they may be missing by it."""
        if not self.missing:
            return tuple(self.features)
        verify_rule(self.missing)
        return tuple(
            f
            if f.missing or f.private or f.is_text
            else dataclasses.replace(f, missing=self.missing)
            for f in self.features
        )

    def _verify_solutions(self) -> None:
        if not self.numeric:
            if not self.solutions or len(set(self.solutions)) != len(self.solutions):
                raise BadValue(f"case type {self.name!r} needs solutions, each named once")
            return
        if not isinstance(self.solution, Number):
            raise BadValue(
                f"solution of case type {self.name!r} is {shown(self.solution)}; for numbers it is "
                "a cbr.Number(), and classes are named in solutions=[...]"
            )
        if self.solutions:
            raise BadValue(
                f"case type {self.name!r} has numbers as solutions and names classes; give "
                "`solution` or `solutions`"
            )
        if any(feature.private for feature in self.features):
            raise BadValue(
                f"case type {self.name!r} has numbers as solutions, so none of its features can be "
                "private"
            )

    @property
    def numeric(self) -> bool:
        """Whether its solutions are numbers, and not classes."""
        return self.solution is not None

    def solved_otherwise(self, other: CaseType) -> bool:
        """Whether cases of the other type have other solutions."""
        return self.numeric != other.numeric or tuple(self.solutions) != tuple(other.solutions)

    def read_solution(self, value: object) -> Solution:
        """A solution converted and checked."""
        if self.solution is not None:
            return self.solution.read(value)
        if value in self.solutions:
            return str(value)
        found = in_any_case(str(value), self.solutions)
        if found is None:
            raise NoSuchName("solution", str(value), self.solutions)
        return found

    @property
    def solution_heading(self) -> str:
        """What people call the solution, with the unit of a number."""
        unit = "" if self.solution is None else self.solution.unit
        return with_unit(self.solution_label or "solution", unit)

    @property
    def domain(self) -> str:
        return self.name.partition("/")[0]

    @property
    def stage(self) -> str:
        return self.name.rpartition("/")[2].replace("-", "_")

    @cached_property
    def indexed(self) -> tuple[Feature, ...]:
        return tuple(feature for feature in self.features if feature.indexed)

    @property
    def unindexed(self) -> tuple[Feature, ...]:
        return tuple(feature for feature in self.features if not feature.indexed)

    def feature(self, name: str) -> Feature:
        """The feature of that name or, if none has it, of that label, with or without its unit."""
        found = self.find(name)
        if found is None:
            called = [feature.called for feature in self.features]
            raise NoSuchName("feature", name, called, self._by_name)
        return found

    def find(self, name: str) -> Feature | None:
        """As `feature`; None if there is none."""
        found = self._by_name.get(name)
        if found is None:
            word = name.strip().lower()
            found = self._by_label.get(word) or self._by_name.get(word)
        return found

    @property
    def public(self) -> CaseType:
        """This type without its private features."""
        seen = tuple(feature for feature in self.features if not feature.private)
        return dataclasses.replace(self, features=seen)

    @cached_property
    def _by_name(self) -> dict[str, Feature]:
        return {feature.name: feature for feature in self.features}

    @cached_property
    def _by_label(self) -> dict[str, Feature]:
        """Features by label in lower case, with and without its unit; labels that two have are in
        it for neither."""
        whole = [f.label.strip().lower() for f in self.features]
        found: dict[str, Feature] = {}
        for labels in ([without_unit(label) for label in whole], whole):
            pairs = zip(labels, self.features, strict=True)
            found |= {label: f for label, f in pairs if label and labels.count(label) == 1}
        return found

    def position(self, name: str) -> int:
        """The position of a feature among the indexed features."""
        names = [feature.name for feature in self.indexed]
        if name not in names:
            raise NoSuchName("indexed feature", name, names)
        return names.index(name)

    def read(self, values: Mapping[str, object]) -> dict[str, Value]:
        """Values converted and checked by feature, without those that are missing; raises
        `NoSuchName` for an unknown feature."""
        known = self._by_name
        given = ((known.get(name) or self.feature(name), value) for name, value in values.items())
        return {f.name: f.converted(value) for f, value in given if not f.lacks(value)}

    def to_json(self) -> str:
        """The definition as a casebase stores it, without the plugin's functions."""
        plain = {
            f.name: getattr(self, f.name)
            for f in dataclasses.fields(self)
            if f.name not in {*_OF_THE_PLUGIN, "features"}
        }
        plain["solution"] = None if self.solution is None else vars(self.solution)
        plain["features"] = [
            {f.name: getattr(x, f.name) for f in dataclasses.fields(x) if f.name != "compute"}
            for x in self.features
        ]
        for each in (plain, *plain["features"]):
            for name in _ONLY_IF_GIVEN & each.keys():
                if not each[name]:
                    del each[name]
        return json.dumps(plain, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: object) -> CaseType:
        """The case type that `to_json` wrote, checked: the text may come from anybody."""
        try:
            plain = read_json(text, unique=True)
            features = [Feature(**entry) for entry in plain.pop("features")]
            solution = plain.pop("solution", None)
            number = None if solution is None else Number(**solution)
            return cls(features=features, solution=number, **plain)
        except BadJson as error:
            raise BadValue(f"a case type is not JSON: {error}") from None
        except (TypeError, LookupError, AttributeError) as error:
            raise BadValue(f"a case type is not defined as one: {one_line(error)}") from None


@dataclass(frozen=True)
class ExtraFeature:
    """A feature that a plugin offers for a case type (a stage, or a whole domain).

    ``--features +NAME`` adds it; if `replaces` names a feature, that one is removed.
    """

    feature: Feature
    case_type: str
    replaces: str | None = None

    kind: ClassVar[str] = "feature"

    @property
    def name(self) -> str:
        return f"{self.case_type}.{self.feature.name}"

    def suits(self, case_type: CaseType) -> bool:
        return self.case_type in {case_type.name, case_type.domain}


def feature(
    name: str, *, case_type: str, replaces: str | None = None, **description: Any
) -> Callable[[F], F]:
    """Make ``f(situations) -> values`` an extra feature of a case type.

    `description` are arguments of `Feature`: meaning, range or values, unit, similarity, weight.
    """

    return mark(
        lambda function: ExtraFeature(
            Feature(name, compute=function, **description), case_type, replaces
        )
    )


@dataclass(frozen=True)
class Case:
    """A situation, its solution and its outcome; `id` is its number in a casebase."""

    values: Mapping[str, Value]
    solution: Solution
    outcome: float | None = None
    id: int | None = None
