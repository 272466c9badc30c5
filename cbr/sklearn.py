"""Case-based classification and regression as scikit-learn's estimators, for pipelines,
cross-validation and searches for parameters.

    from cbr.sklearn import CaseBasedClassifier

    model = CaseBasedClassifier(k=7, weights="learned").fit(X, y)
    model.predict(X_new)

A frame may have columns of text: these are compared as categories. NaN is a missing value. It needs
scikit-learn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from cbr.case import CaseType, Feature, Number
from cbr.errors import CbrError, EmptyStage, NeedsPackage
from cbr.learning.weight_learning import STEPS, learn
from cbr.retrieval.retriever import Retriever, retriever_of
from cbr.reusing.proposal import reuse_many, reuse_numbers
from cbr.store.arrays import Cases
from cbr.tables.columns import robust_range
from cbr.tables.proposal import REUSE, REUSE_NUMBER, feature_names

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise NeedsPackage("cbr.sklearn", "scikit-learn") from None

__all__ = ["CaseBasedClassifier", "CaseBasedRegressor"]

#: The similarity of a category that the fitted cases do not have, to any: it counts as missing.
_UNKNOWN = np.nan


class _CaseBased(BaseEstimator):  # type: ignore[misc]
    """What both estimators share."""

    def __init__(
        self,
        k: int = 10,
        *,
        policy: str = "",
        reuse: str = "",
        weights: Any = "",
        measures: Mapping[str, str] | str | None = None,
        missing: str = "ignore",
        index: str = "auto",
        random_state: int = 0,
    ) -> None:
        self.k = k
        self.policy = policy
        self.reuse = reuse
        self.weights = weights
        self.measures = measures
        self.missing = missing
        self.index = index
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    # --- fitting ----------------------------------------------------------------------------------

    def _fit(self, x: Any, done: Any, **fields: Any) -> Self:
        """Fit to validated `x` [n, d] of codes, and to solutions: codes, or numbers."""
        try:
            self.case_type_ = CaseType(
                name="table",
                features=self._features(x),
                retrieval=self.policy or f"top?k={self._k()}",
                reuse=self.reuse or (REUSE_NUMBER if "solution" in fields else REUSE),
                **fields,
            )
            self._cases = self._cases_of(x, done)
            self._weights = self.weights if self.weights != "learned" else self._learned()
            self._start()
        except CbrError as error:
            raise ValueError(str(error)) from error
        self.weights_ = self._retriever.weights
        return self

    def _k(self) -> int:
        if isinstance(self.k, bool) or int(self.k) != self.k or self.k < 1:
            raise ValueError(f"k is {self.k!r}; it must be a whole number of 1 or more")
        return int(self.k)

    def _features(self, x: Any) -> list[Feature]:
        given = getattr(self, "feature_names_in_", None)
        labels = [f"x{place}" for place in range(x.shape[1])] if given is None else list(given)
        names = feature_names(labels)
        return [
            self._feature(name, label, x[:, place], self._categories.get(place))
            for place, (name, label) in enumerate(zip(names, labels, strict=True))
        ]

    def _feature(self, name: str, label: str, column: Any, categories: Any) -> Feature:
        measures = {} if self.measures is None else self.measures
        measure = measures if isinstance(measures, str) else measures.get(label, "")
        about: dict[str, Any] = {"label": label, "missing": self.missing}
        if categories is not None:
            measure = "" if isinstance(measures, str) else measure
            return Feature(name, values=categories or ("",), similarity=measure, **about)
        known = column[~np.isnan(column)]
        low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
        span = robust_range(known, low, high) if len(known) else (0.0, 1.0)
        return Feature(name, range=span, similarity=measure, **about)

    def _cases_of(self, x: Any, done: Any) -> Cases:
        count = len(x)
        numeric = self.case_type_.numeric
        return Cases(
            self.case_type_,
            "",
            x.astype(np.float32),
            np.zeros(count, np.int64) if numeric else done,
            np.full(count, np.nan),
            np.arange(count),
            np.arange(count),
            numbers=done if numeric else None,
        )

    def _learned(self) -> dict[str, float]:
        """Weights learned from the cases; the usual ones where there are too few to learn from."""
        mine = self._made("")
        try:
            given = (self._cases, mine.measures, mine.policy, mine.weights)
            found = learn(*given, seed=self.random_state, steps=STEPS).weights
        except EmptyStage:
            found = mine.weights
        names = [feature.name for feature in self.case_type_.indexed]
        return dict(zip(names, found.tolist(), strict=True))

    def _made(self, weights: Any) -> Retriever:
        return retriever_of(None, vectors=self._cases.vectors(), weights=weights, index=self.index)

    def _start(self) -> None:
        self._retriever = self._made(self._weights)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_retriever", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_cases" in state:
            self._start()

    # --- predicting -------------------------------------------------------------------------------

    def _many(self, x: Any) -> Any:
        check_is_fitted(self)
        x = self._valid(x, reset=False)
        return self._retriever.many(x.astype(np.float32))

    def _valid(self, x: Any, reset: bool) -> Any:
        """X as an array of numbers; a category of a frame as its code."""
        if reset:
            self._categories: dict[int, tuple[str, ...]] = {}
        if hasattr(x, "columns") and hasattr(x, "iloc"):
            x = self._coded(x, reset)
        return validate_data(self, x, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan")

    def _coded(self, frame: Any, reset: bool) -> Any:
        """A pandas frame whose columns of text are codes."""
        from pandas.api.types import is_numeric_dtype

        texts = [p for p, kind in enumerate(frame.dtypes) if not is_numeric_dtype(kind)]
        if not texts and not self._categories:
            return frame
        frame = frame.copy()
        for place, label in enumerate(frame.columns):
            column = frame.iloc[:, place]
            if reset and place in texts:
                self._categories[place] = tuple(sorted({str(v) for v in column.dropna()}))
            if place in self._categories:
                codes = {text: float(c) for c, text in enumerate(self._categories[place])}
                cells = [_UNKNOWN if v is None or v != v else v for v in column]
                coded = [c if c is _UNKNOWN else codes.get(str(c), _UNKNOWN) for c in cells]
                frame[label] = np.array(coded, np.float64)
        return frame


class CaseBasedClassifier(ClassifierMixin, _CaseBased):  # type: ignore[misc]
    """Classes proposed by the most similar cases.

    `k` cases are retrieved (or as many as `policy` says, such as ``threshold?above=0.9``), and vote
    by similarity (or as `reuse` says). `weights` are by feature, or ``"learned"``; `measures` is
    the spec of a similarity measure, or one by feature.

    >>> from sklearn.datasets import load_iris
    >>> x, y = load_iris(return_X_y=True)
    >>> CaseBasedClassifier(k=5).fit(x, y).score(x, y) > 0.95
    True
    """

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        """Keep the rows of X as cases with the solutions y."""
        from sklearn.utils import column_or_1d

        X = self._valid(X, reset=True)  # noqa: N806
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        if len(X) != len(y):
            raise ValueError(f"X has {len(X)} rows, and y has {len(y)}")
        self.classes_, codes = np.unique(y, return_inverse=True)
        return self._fit(
            X, codes.astype(np.int64), solutions=list(map(str, range(len(self.classes_))))
        )

    def predict_proba(self, X: Any) -> Any:  # noqa: N803
        """The probability of each class for each row, [q, classes]."""
        return reuse_many(self._many(X), self.reuse)

    def predict(self, X: Any) -> Any:  # noqa: N803
        """The most probable class for each row."""
        chances = self.predict_proba(X)
        return self.classes_[chances.argmax(axis=1)]


class CaseBasedRegressor(RegressorMixin, _CaseBased):  # type: ignore[misc]
    """Numbers proposed by the most similar cases: by default by a plane through them.

    The parameters are those of `CaseBasedClassifier`; `reuse` is ``local-linear``, ``mean`` or
    ``median``. A plane needs more cases than a mean.
    """

    def __init__(
        self,
        k: int = 30,
        *,
        policy: str = "",
        reuse: str = "",
        weights: Any = "",
        measures: Mapping[str, str] | str | None = None,
        missing: str = "ignore",
        index: str = "auto",
        random_state: int = 0,
    ) -> None:
        super().__init__(
            k,
            policy=policy,
            reuse=reuse,
            weights=weights,
            measures=measures,
            missing=missing,
            index=index,
            random_state=random_state,
        )

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        """Keep the rows of X as cases with the numbers y."""
        from sklearn.utils import check_consistent_length, column_or_1d

        X = self._valid(X, reset=True)  # noqa: N806
        y = column_or_1d(y, warn=True)
        y = np.asarray(y, np.float64)
        check_consistent_length(X, y)
        if not np.isfinite(y).all():
            raise ValueError("Input y contains NaN or infinity")
        return self._fit(X, y, solution=Number())

    def predict(self, X: Any) -> Any:  # noqa: N803
        """The number proposed for each row."""
        return reuse_numbers(self._many(X), self.reuse, level=None).value

    def predict_interval(self, X: Any, level: float = 0.9) -> Any:  # noqa: N803
        """The limits between which the true number is likely to be, [q, 2]."""
        found = reuse_numbers(self._many(X), self.reuse, level=level)
        return np.column_stack([found.low, found.high])
