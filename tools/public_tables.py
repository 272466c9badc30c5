"""Ten public tables that come inside Python packages: scikit-learn, statsmodels, vega_datasets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class PublicTable(NamedTuple):
    """A table: a pandas frame of features, the column to predict, and the package that has it."""

    name: str
    features: Any
    target: Any
    package: str

    @property
    def is_classes(self) -> bool:
        return self.target.dtype.kind not in "fiu"


def public_tables() -> dict[str, Callable[[], PublicTable]]:
    """The tables by name, each made when it is called: seven of classes, three of numbers."""
    return {
        "iris": lambda: _bundled("iris"),
        "wine": lambda: _bundled("wine"),
        "breast cancer": lambda: _bundled("breast_cancer"),
        "digits": lambda: _bundled("digits"),
        "weather": _weather,
        "vote": _vote,
        "affairs": _affairs,
        "diabetes": lambda: _bundled("diabetes"),
        "cars": _cars,
        "barley": _barley,
    }


def _bundled(name: str) -> PublicTable:
    from sklearn import datasets

    found = getattr(datasets, f"load_{name}")(as_frame=True)
    target = found.target
    if hasattr(found, "target_names"):
        target = target.map(lambda code: str(found.target_names[code])).astype(object)
    return PublicTable(name.replace("_", " "), found.data, target, "scikit-learn")


def _weather() -> PublicTable:
    """The weather of a day in Seattle (sun, rain, fog, drizzle, snow) by what was measured."""
    frame = _vega("seattle_weather")
    names = ["precipitation", "temp_max", "temp_min", "wind"]
    return PublicTable("weather", frame[names], frame.weather.astype(object), "vega_datasets")


def _vote() -> PublicTable:
    """Whom people said they would vote for in 1996."""
    frame = _statsmodels("anes96")
    names = ["popul", "TVnews", "selfLR", "ClinLR", "DoleLR", "PID", "age", "educ", "income"]
    target = frame.vote.map({0.0: "Clinton", 1.0: "Dole"}).astype(object)
    return PublicTable("vote", frame[names].astype(float), target, "statsmodels")


def _affairs() -> PublicTable:
    """Whether people in a survey of 1974 had an affair; every fourth row."""
    frame = _statsmodels("fair").iloc[::4].reset_index(drop=True)
    target = (frame.affairs > 0).map({True: "yes", False: "no"}).astype(object)
    return PublicTable("affairs", frame.drop(columns="affairs"), target, "statsmodels")


def _cars() -> PublicTable:
    """Miles per gallon of cars, with a category and missing values."""
    frame = _vega("cars")
    frame = frame[frame.Miles_per_Gallon.notna()].reset_index(drop=True)
    frame["Year"] = frame.Year.dt.year.astype(float)
    features = frame.drop(columns=["Name", "Miles_per_Gallon"])
    features["Origin"] = features.Origin.astype(object)
    return PublicTable("cars", features, frame.Miles_per_Gallon.astype(float), "vega_datasets")


def _barley() -> PublicTable:
    """The yield of barley by variety, year and site: categories alone."""
    frame = _vega("barley")
    features = frame[["variety", "year", "site"]].astype(str).astype(object)
    return PublicTable("barley", features, frame["yield"].astype(float), "vega_datasets")


def _vega(name: str) -> Any:
    from vega_datasets import local_data

    return getattr(local_data, name)()


def _statsmodels(name: str) -> Any:
    from statsmodels import datasets

    return getattr(datasets, name).load_pandas().data
