"""Local similarities: how alike two values of one feature are, from 0 to 1.

An author writes one plain function of two values, with keyword parameters and a name:

    >>> @similarity("near")
    ... def near(a, b, reach=10.0):
    ...     return max(0.0, 1.0 - abs(a - b) / reach)
    >>> near(3, 8)
    0.5

The engine makes it fast: retrieval asks only for pairs of distinct values and remembers them, and
`Bound.grid` compiles the function with numba once there is enough to do.
"""

from __future__ import annotations

import inspect
import types
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from cbr.case import Feature, Value
from cbr.errors import BadValue, PluginFailure
from cbr.guard import guarded
from cbr.spec import Spec, settle

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

F = TypeVar("F", bound=Callable[..., Any])

#: So many interpreted evaluations (at once, or one after the other) take longer than numba needs
#: to load and compile.
_WORTH_COMPILING = 1_000_000


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
    """A named measure. `symmetric` is the author's word that f(a, b) = f(b, a)."""

    name: str
    function: Callable[..., Any]
    symmetric: bool = True

    kind: ClassVar[str] = "similarity"

    def bind(self, feature: Feature, spec: Spec | None = None) -> Bound:
        """This measure for one feature, with its parameters settled."""
        settled = settle(self.function, 2, spec or Spec(self.name))
        for name, value in settled.items():
            if isinstance(value, FromFeature):
                settled[name] = self._from_range(feature, name, value)
        return Bound(self, feature, settled)

    def _from_range(self, feature: Feature, name: str, wanted: FromFeature) -> float:
        if feature.range is None:
            raise BadValue(
                f"similarity {self.name!r} scales by a range, which feature {feature.name!r} "
                f"does not have; give {name!r}, or a measure for categories such as equal"
            )
        low, high = feature.range
        return {"low": low, "high": high, "span": high - low}[wanted.value]


def similarity(name: str, *, symmetric: bool = True) -> Callable[[F], F]:
    """Make a function of two values a local similarity that plugins register by this name."""

    def mark(function: F) -> F:
        if len(inspect.signature(function).parameters) < 2:
            raise BadValue(f"similarity {name!r} must take two values")
        function.__cbr__ = Similarity(name, function, symmetric)  # type: ignore[attr-defined]
        return function

    return mark


@dataclass(eq=False)
class Bound:
    """A measure with settled parameters, for one feature."""

    measure: Similarity
    feature: Feature
    parameters: dict[str, Any]
    _interpreted: int = 0
    _compiled: Callable[..., None] | None = None
    _tried: bool = False

    def one(self, a: Value, b: Value) -> float:
        """Similarity of two values, interpreted and checked."""
        with guarded(f"similarity {self.measure.name!r} of ({a!r}, {b!r})"):
            found = float(self.measure.function(a, b, **self.parameters))
        if not 0.0 <= found <= 1.0:
            raise _out_of_range(self.measure.name, a, b, found)
        return found

    def grid(
        self, targets: NDArray[np.float32], values: NDArray[np.float32]
    ) -> NDArray[np.float64]:
        """Similarity of each target to each value, [len(targets), len(values)].

        Both hold codes as arrays do (`Feature.encode`). Compiled and interpreted values are
        the same to 1e-12, far inside the 1e-6 by which retrieval tells similarities apart.
        """
        import numpy as np

        size = len(targets) * len(values)
        if self.feature.is_number and self._interpreted + size > _WORTH_COMPILING:
            compiled = self.compile(targets, values)
            if compiled is not None:
                out = np.empty((len(targets), len(values)))
                with guarded(f"similarity {self.measure.name!r}"):
                    compiled(targets.astype(np.float64), values.astype(np.float64), out)
                return self._verified(out, targets, values)
        self._interpreted += size
        rows = [self.feature.decode(code) for code in values.tolist()]
        return np.array(
            [[self.one(self.feature.decode(t), v) for v in rows] for t in targets.tolist()]
        ).reshape(len(targets), len(values))

    def compile(
        self, targets: NDArray[np.float32], values: NDArray[np.float32]
    ) -> Callable[..., None] | None:
        """The compiled grid, or None where numba cannot, or does not agree with Python."""
        if not self._tried:
            self._tried = True
            try:
                loop = _grid_loop(self.measure.function)
                # A whole number and its float act alike in Python, not always in numba.
                numbers = tuple(float(number) for number in self._numbers())
                self._compiled = lambda a, b, out: loop(a, b, numbers, out)
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

    def _numbers(self) -> list[float]:
        for name, value in self.parameters.items():
            if not isinstance(value, int | float):
                raise BadValue(f"parameter {name} is not a number")
        return list(self.parameters.values())

    def _verify_same(
        self,
        loop: Callable[..., None],
        targets: NDArray[np.float32],
        values: NDArray[np.float32],
    ) -> None:
        """Compare compiled and interpreted values on a spread of pairs."""
        import numpy as np

        a, b = (_spread(x, 12).astype(np.float64) for x in (targets, values))
        out = np.empty((len(a), len(b)))
        loop(a, b, out)
        mine = np.array([[self.one(x, y) for y in b.tolist()] for x in a.tolist()])
        if not np.allclose(out, mine, rtol=0, atol=1e-12):
            raise BadValue("compiled, it gives other values")

    def _verified(
        self,
        out: NDArray[np.float64],
        targets: NDArray[np.float32],
        values: NDArray[np.float32],
    ) -> NDArray[np.float64]:
        import numpy as np

        if out.size and not (out.min() >= 0.0 and out.max() <= 1.0):
            i, j = np.argwhere(~((out >= 0) & (out <= 1)))[0]
            raise _out_of_range(self.measure.name, float(targets[i]), float(values[j]), out[i, j])
        return out


def _out_of_range(name: str, a: Value, b: Value, found: float) -> PluginFailure:
    return PluginFailure(
        f"similarity {name!r} gave {found} for ({a!r}, {b!r}); it must be between 0 and 1"
    )


def _spread(values: NDArray[Any], most: int) -> NDArray[Any]:
    import numpy as np

    places = np.linspace(0, len(values) - 1, min(most, len(values)))
    spread: NDArray[Any] = values[places.astype(int)]
    return spread


@cache
def _grid_loop(function: Callable[..., Any]) -> Callable[..., None]:
    """Compile ``out[i, j] = function(a[i], b[j], *parameters)``, once for a function."""
    import numba

    if not isinstance(function, types.FunctionType):
        raise BadValue("it is not a plain function")
    code = function.__code__
    if code.co_kwonlyargcount:
        # Keyword-only parameters stand right behind the others, so they can be passed by place.
        code = code.replace(
            co_argcount=code.co_argcount + code.co_kwonlyargcount, co_kwonlyargcount=0
        )
        function = types.FunctionType(code, function.__globals__, function.__name__)
    core: Any = numba.njit(function)

    @numba.njit(nogil=True)
    def loop(a, b, parameters, out):  # type: ignore[no-untyped-def]
        for i in range(len(a)):
            for j in range(len(b)):
                out[i, j] = core(a[i], b[j], *parameters)

    found: Callable[..., None] = loop
    return found
