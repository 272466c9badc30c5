"""Policies: named functions with parameters, which a plugin may add.

Retrieval policies and reuse policies differ in argument and result; they share a name, parameters
from a spec, and a guard around the plugin's code.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from cbr.plugging.guard import guarded
from cbr.spec import Spec, settle


@dataclass(frozen=True)
class Policy:
    """A named function, called as `function(given, **parameters)`."""

    name: str
    function: Callable[..., Any]
    parameters: Mapping[str, Any] | None = None

    kind: ClassVar[str] = "policy"

    def bind(self, spec: Spec) -> Self:
        """The policy with the parameters of a spec over its defaults."""
        return dataclasses.replace(self, parameters=settle(self.function, 1, spec))

    @property
    def settled(self) -> Mapping[str, Any]:
        """The parameters given, or the defaults."""
        if self.parameters is None:
            return settle(self.function, 1, Spec(self.name))
        return self.parameters

    def __call__(self, given: Any) -> Any:
        """The result of the function, as an array of numbers."""
        import numpy as np

        with guarded(f"{self.kind} {self.name!r}"):
            return np.array(self.function(given, **self.settled), np.float64)
