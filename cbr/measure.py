"""Local similarity measures: the similarity of two values of one feature, from 0 to 1.

An author writes one plain function of two values, with keyword parameters and a name:

    >>> @similarity("near")
    ... def near(a, b, reach=10.0):
    ...     return max(0.0, 1.0 - abs(a - b) / reach)
    >>> near(3, 8)
    0.5

The engine makes it fast: retrieval evaluates only pairs of distinct values and caches the results,
and `Bound.grid` compiles the function with numba after enough evaluations.
"""

from __future__ import annotations

import inspect
import types
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

from cbr.case import Feature, Value
from cbr.errors import BadValue, PluginFailure
from cbr.marks import mark
from cbr.missing import Gaps
from cbr.plugging.guard import guarded
from cbr.spec import Spec, settle

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cbr.typing import Floats

F = TypeVar("F", bound=Callable[..., Any])
#: (feature, **parameters of a spec) -> the parameters that a measure's function is called with.
Prepare = Callable[..., Mapping[str, Any]]

#: This many interpreted evaluations, in one call or in all, take longer than loading numba and
#: compiling.
_WORTH_COMPILING = 300_000
#: Interpreted evaluations so far, by function: all features that use it share the compiled code.
_INTERPRETED: Counter[Callable[..., Any]] = Counter()


class FromFeature(Enum):
    """Default of a parameter that the feature's range fills in: ``span: float = FEATURE_SPAN``."""

    LOW = "low"
    HIGH = "high"
    SPAN = "span"


FEATURE_LOW: Any = FromFeature.LOW
FEATURE_HIGH: Any = FromFeature.HIGH
FEATURE_SPAN: Any = FromFeature.SPAN


@dataclass(frozen=True)
class Similarity:
    """A named measure.

    `symmetric` declares that f(a, b) = f(b, a); `falls` that a number further from the target, on
    the same side of it, is never more similar, which lets retrieval prune more.

    `prepare(feature, **parameters)` checks the parameters once, before any value is compared, and
    returns those that the function is called with: numbers or tuples of numbers, if it is to be
    compiled. So ``step?at=1/3`` is parsed once, and a wrong parameter is reported at once.
    """

    name: str
    function: Callable[..., Any]
    symmetric: bool = True
    falls: bool = False
    prepare: Prepare | None = None

    kind: ClassVar[str] = "similarity"

    def bind(self, feature: Feature, spec: Spec | None = None) -> Bound:
        """This measure for one feature, with its parameters settled."""
        settled = settle(self.function, 2, spec or Spec(self.name))
        for name, value in settled.items():
            if isinstance(value, FromFeature):
                settled[name] = self._from_range(feature, name, value)
        return Bound(self, feature, settled, self._prepared(feature, settled))

    def _prepared(self, feature: Feature, settled: dict[str, Any]) -> Mapping[str, Any]:
        if self.prepare is None:
            return settled
        whose = f"similarity {self.name!r} of feature {feature.name!r}"
        try:
            with guarded(whose):
                return {**settled, **self.prepare(feature, **settled)}
        except BadValue as error:
            raise BadValue(f"{whose}: {error}") from None

    def _from_range(self, feature: Feature, name: str, wanted: FromFeature) -> float:
        if feature.range is None:
            raise BadValue(
                f"similarity {self.name!r} scales by a range, which feature {feature.name!r} "
                f"does not have; give {name!r}, or a measure for categories such as equal"
            )
        low, high = feature.range
        return {"low": low, "high": high, "span": high - low}[wanted.value]


def similarity(
    name: str, *, symmetric: bool = True, falls: bool = False, prepare: Prepare | None = None
) -> Callable[[F], F]:
    """Make a function of two values a local similarity that plugins register by this name.

    The other arguments are those of `Similarity`.
    """

    def make(function: F) -> Similarity:
        if len(inspect.signature(function).parameters) < 2:
            raise BadValue(f"similarity {name!r} must take two values")
        return Similarity(name, function, symmetric, falls, prepare)

    return mark(make)


@dataclass(eq=False)
class Bound:
    """A measure with settled parameters, for one feature.

    `parameters` are those of the spec, `prepared` those that the function is called with. `gaps`
    says how missing values of cases are compared; None if no case lacks the feature.
    """

    measure: Similarity
    feature: Feature
    parameters: dict[str, Any]
    prepared: Mapping[str, Any]
    gaps: Gaps | None = None
    _compiled: Loops | None = None
    _tried: bool = False

    @property
    def ignores(self) -> bool:
        """Whether cases lack the feature, and are then compared without it."""
        return self.gaps is not None and self.gaps.ignored

    def when_missing(self, targets: NDArray[np.float32]) -> Floats:
        """Similarity of each target to a case that lacks the feature, [len(targets)]; NaN where the
        rule is to ignore it."""
        import numpy as np

        if self.gaps is None or self.gaps.ignored:
            return np.full(len(targets), np.nan)
        if self.gaps.rule == "unlike":
            return np.zeros(len(targets))
        expected: Floats = (self.grid(targets, self.gaps.values) * self.gaps.share).sum(axis=1)
        return expected.clip(0.0, 1.0)

    def one(self, a: Value, b: Value) -> float:
        """Similarity of two values, interpreted and checked."""
        with guarded(f"similarity {self.measure.name!r} of ({a!r}, {b!r})"):
            found = float(self.measure.function(a, b, **self.prepared))
        if not 0.0 <= found <= 1.0:
            raise _out_of_range(self.measure.name, a, b, found)
        return found

    def grid(self, targets: NDArray[np.float32], values: NDArray[np.float32]) -> Floats:
        """Similarity of each target to each value, [len(targets), len(values)].

        Both hold codes (`Feature.encode`); a missing value is compared by its rule. Compiled and
        interpreted values agree to 1e-12, far within the 1e-6 to which retrieval rounds
        similarities.
        """
        import numpy as np

        if self.gaps is not None and (absent := np.isnan(values)).any():
            found = np.empty((len(targets), len(values)))
            found[:, ~absent] = self.grid(targets, values[~absent])
            found[:, absent] = self.when_missing(targets)[:, None]
            return found
        size = len(targets) * len(values)
        loops = self._loops_for(targets, values, size)
        if loops is not None:
            out = np.empty((len(targets), len(values)))
            with guarded(f"similarity {self.measure.name!r}"):
                both = (targets.astype(np.float64), values.astype(np.float64))
                loops.grid(*both, self.settled(), out)
            return self._verified(out, targets, values)
        decode = self.feature.decode
        rows = [decode(code) for code in values.tolist()]
        each = [[decode(code)] * len(rows) for code in targets.tolist()]
        evaluated = [self._interpret(row, rows) for row in each]
        return np.array(evaluated, np.float64).reshape(len(targets), len(values))

    def pairs(self, targets: Floats, values: Floats) -> Floats:
        """Similarity of ``targets[i]`` to ``values[i]``, both numbers, [n]; a missing value is
        compared by its rule."""
        import numpy as np

        if self.gaps is not None and (absent := np.isnan(values)).any():
            found = np.empty(len(values))
            found[~absent] = self.pairs(targets[~absent], values[~absent])
            each, which = np.unique(targets[absent], return_inverse=True)
            found[absent] = self.when_missing(each.astype(np.float32))[which.reshape(-1)]
            return found
        loops = self._loops_for(targets, values, len(values))
        if loops is None:
            return np.array(self._interpret(targets.tolist(), values.tolist()), np.float64)
        out = np.empty(len(values))
        with guarded(f"similarity {self.measure.name!r}"):
            loops.pairs(targets, values, self.settled(), out)
        if out.size and not (out.min() >= 0.0 and out.max() <= 1.0):
            i = int(np.flatnonzero(~((out >= 0) & (out <= 1)))[0])
            raise _out_of_range(self.measure.name, float(targets[i]), float(values[i]), out[i])
        return out

    def _interpret(self, targets: list[Any], values: list[Any]) -> list[float]:
        """Similarity of ``targets[i]`` to ``values[i]``, evaluated in Python."""
        _INTERPRETED[self.measure.function] += len(values)
        function, given = self.measure.function, self.prepared
        try:
            found = [float(function(a, b, **given)) for a, b in zip(targets, values, strict=True)]
            if all(0.0 <= local <= 1.0 for local in found):
                return found
        except KeyboardInterrupt:
            raise
        except BaseException:  # the loop below raises it again, with the values it failed for
            pass
        return [self.one(a, b) for a, b in zip(targets, values, strict=True)]

    def settled(self) -> tuple[Any, ...]:
        """The parameters for compiled code: floats, and tuples of floats."""
        return tuple(_floats(name, value) for name, value in self.prepared.items())

    def _loops_for(self, targets: NDArray[Any], values: NDArray[Any], size: int) -> Loops | None:
        """The compiled loops, after enough evaluations and if numba can compile them; else None."""
        if self._compiled is not None:
            return self._compiled
        done = _INTERPRETED[self.measure.function]
        if not self.feature.is_number or done + size <= _WORTH_COMPILING:
            return None
        return self.compile(targets, values)

    def compile(self, targets: NDArray[np.float32], values: NDArray[np.float32]) -> Loops | None:
        """The compiled loops; None if numba fails or its values differ from Python's."""
        if not self._tried:
            self._tried = True
            try:
                self._compiled = _loops(self.measure.function)
                self._verify_same(self._compiled, targets, values)
            except Exception as error:
                self._compiled = None
                reason = str(error).strip().splitlines() or [type(error).__name__]
                warnings.warn(
                    f"similarity {self.measure.name!r} is evaluated in Python, which is slow: "
                    f"numba cannot compile it ({reason[0]})",
                    stacklevel=2,
                )
        return self._compiled

    def _verify_same(
        self,
        loops: Loops,
        targets: NDArray[np.float32],
        values: NDArray[np.float32],
    ) -> None:
        """Compare compiled and interpreted values on pairs spread over the values."""
        import numpy as np

        a, b = (_spread(x, 12).astype(np.float64) for x in (targets, values))
        out = np.empty((len(a), len(b)))
        loops.grid(a, b, self.settled(), out)
        mine = np.array([[self.one(x, y) for y in b.tolist()] for x in a.tolist()])
        if not np.allclose(out, mine, rtol=0, atol=1e-12):
            raise BadValue("the compiled function returns other values")

    def _verified(
        self,
        out: Floats,
        targets: NDArray[np.float32],
        values: NDArray[np.float32],
    ) -> Floats:
        import numpy as np

        if out.size and not (out.min() >= 0.0 and out.max() <= 1.0):
            i, j = np.argwhere(~((out >= 0) & (out <= 1)))[0]
            raise _out_of_range(self.measure.name, float(targets[i]), float(values[j]), out[i, j])
        return out


def _floats(name: str, value: Any) -> Any:
    """A number as a float, because numba may treat an int differently than Python does."""
    if isinstance(value, tuple):
        return tuple(_floats(name, each) for each in value)
    if not isinstance(value, int | float):
        raise BadValue(f"parameter {name} is not a number")
    return float(value)


def _out_of_range(name: str, a: Value, b: Value, found: float) -> PluginFailure:
    return PluginFailure(
        f"similarity {name!r} gave {found} for ({a!r}, {b!r}); it must be between 0 and 1"
    )


def _spread(values: NDArray[Any], most: int) -> NDArray[Any]:
    import numpy as np

    places = np.linspace(0, len(values) - 1, min(most, len(values)))
    spread: NDArray[Any] = values[places.astype(int)]
    return spread


class Loops(NamedTuple):
    """A measure compiled into loops over many pairs of values."""

    grid: Callable[..., None]
    pairs: Callable[..., None]


@cache
def _loops(function: Callable[..., Any]) -> Loops:
    """Loops around a function; each is compiled when it is first called."""
    import numba

    if not isinstance(function, types.FunctionType):
        raise BadValue("it is not a plain function")
    code = function.__code__
    if code.co_kwonlyargcount:
        # numba knows no keyword-only parameters. They follow the others in the code object, so
        # they can be passed by position.
        code = code.replace(
            co_argcount=code.co_argcount + code.co_kwonlyargcount, co_kwonlyargcount=0
        )
        function = types.FunctionType(code, function.__globals__, function.__name__)
    core: Any = numba.njit(function)

    @numba.njit(nogil=True)
    def grid(a, b, parameters, out):  # type: ignore[no-untyped-def]
        for i in range(len(a)):
            for j in range(len(b)):
                out[i, j] = core(a[i], b[j], *parameters)

    @numba.njit(nogil=True)
    def pairs(a, b, parameters, out):  # type: ignore[no-untyped-def]
        for i in range(len(a)):
            out[i] = core(a[i], b[i], *parameters)

    return Loops(grid, pairs)
