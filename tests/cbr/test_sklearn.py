"""The estimators of `cbr.sklearn` keep scikit-learn's contracts, and predict as the engine does."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.datasets import load_diabetes, load_iris  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import MinMaxScaler  # noqa: E402
from sklearn.utils.estimator_checks import estimator_checks_generator  # noqa: E402

import cbr  # noqa: E402
from cbr.sklearn import CaseBasedClassifier, CaseBasedRegressor  # noqa: E402


@pytest.mark.long
@pytest.mark.parametrize("estimator", [CaseBasedClassifier(), CaseBasedRegressor()])
def test_scikit_learn_checks_the_estimator(estimator: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        checks = list(estimator_checks_generator(estimator, legacy=True))
        assert len(checks) > 40
        for one, check in checks:
            if getattr(check, "func", check).__name__ != "check_array_api_input":
                check(one)


def test_it_works_in_pipelines_searches_and_cross_validation() -> None:
    x, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(MinMaxScaler(), CaseBasedClassifier(k=5))
    assert cross_val_score(pipeline, x, y, cv=3).mean() > 0.93
    search = GridSearchCV(CaseBasedClassifier(), {"k": [1, 7]}, cv=2).fit(x[::3], y[::3])
    assert search.best_params_["k"] in {1, 7}


def test_it_predicts_as_a_casebase_of_the_same_rows_does() -> None:
    x, y = load_iris(return_X_y=True)
    names = ["a", "b", "c", "d"]
    frame = dict(zip(names, x.T.tolist(), strict=True)) | {"kind": [f"k{code}" for code in y]}
    model = CaseBasedClassifier(k=10).fit(x, y)
    with cbr.build(frame, solution="kind") as base:
        chances = base.predict(frame).probabilities
    np.testing.assert_allclose(model.predict_proba(x), chances)


def test_frames_may_have_categories_and_gaps() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"colour": ["red", "blue", None] * 10, "size": [1.0, np.nan, 3.0, 4.0, 5.0] * 6}
    )
    y = ["warm" if colour == "red" else "cold" for colour in frame.colour]
    model = CaseBasedClassifier(k=3, weights={"colour": 10, "size": 1}).fit(frame, y)
    asked = pandas.DataFrame({"colour": ["red", "blue", "green"], "size": [2.0, np.nan, 1.0]})
    assert model.predict(asked)[:2].tolist() == ["warm", "cold"]
    assert model.predict_proba(asked).shape == (3, 2)
    assert clone(model).get_params()["weights"] == {"colour": 10, "size": 1}


def test_a_fitted_model_is_pickled() -> None:
    x, y = load_diabetes(return_X_y=True)
    model = CaseBasedRegressor(k=20, reuse="local-linear").fit(x[::2], y[::2])
    again = pickle.loads(pickle.dumps(model))  # noqa: S301
    np.testing.assert_array_equal(again.predict(x[1::2]), model.predict(x[1::2]))
    low, high = model.predict_interval(x[1::2], level=0.8).T
    assert 0.7 < ((low <= y[1::2]) & (y[1::2] <= high)).mean() < 0.9


def test_weights_are_learned() -> None:
    rng = np.random.default_rng(0)
    x = rng.random((120, 4))
    y = x[:, 0] > 0.5
    plain = CaseBasedClassifier(k=5).fit(x, y)
    learned = CaseBasedClassifier(k=5, weights="learned").fit(x, y)
    assert learned.weights_.argmax() == 0
    new = rng.random((200, 4))
    right = [(model.predict(new) == (new[:, 0] > 0.5)).mean() for model in (plain, learned)]
    assert right[1] > right[0]


def test_wrong_parameters_are_value_errors() -> None:
    x, y = [[1.0], [2.0]], [0, 1]
    for options, said in (
        ({"k": 0}, "k is 0"),
        ({"policy": "best"}, "no retrieval policy 'best'"),
        ({"measures": "alike"}, "no similarity 'alike'"),
        ({"missing": "guess"}, "no rule for missing values 'guess'"),
    ):
        with pytest.raises(ValueError, match=said):
            CaseBasedClassifier(**options).fit(x, y)
