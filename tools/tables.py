"""Compares cases with scikit-learn's k-NN on ten public tables: `python tools/tables.py`.

On each table the same splits: repeated cross-validation, and inside each training part k chosen by
another cross-validation, for both. k-NN gets what it needs: numbers standardised, categories as
columns of 0 and 1, missing numbers replaced by the median. The case base gets the table as it is:
once with the weights it has by default, once with weights learned from the training part.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from cbr.sklearn import CaseBasedClassifier, CaseBasedRegressor
from cbr.statistics import quantile
from public_tables import PublicTable, public_tables
from results import Page, Table, add_option, commit, show, write

#: Values of k to choose from, for all.
KS = (1, 3, 5, 7, 9, 13, 19, 27, 40)
FOLDS, INNER = 5, 5
METHODS = ("k-NN", "cases", "cases, learned weights")


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Cases against scikit-learn's k-NN on ten public tables.",
        epilog="Example: python tools/tables.py --repeats 2 --only iris --only wine",
    )
    parser.add_argument("--repeats", type=int, default=3, help="repeats of the cross-validation")
    parser.add_argument("--only", action="append", choices=list(public_tables()), default=None)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--keep", type=Path, help="JSON file of finished tables, so that a run can be continued"
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    add_option(parser)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    kept = json.loads(given.keep.read_text()) if given.keep and given.keep.exists() else {}
    found = {}
    for name, make in public_tables().items():
        if given.only is None or name in given.only:
            key = f"{name} {given.repeats} {given.seed}"
            kept[key] = kept.get(key) or compared(make(), given.repeats, given.seed)
            found[name] = kept[key]
            if given.keep:
                given.keep.write_text(json.dumps(kept, indent=1))
    page = _page(found, given.seed, given.repeats)
    if given.write_results:
        write(page)
    if given.json:
        print(json.dumps(found, indent=2))
    else:
        show(page)


def compared(table: PublicTable, repeats: int, seed: int) -> dict[str, Any]:
    """The score of each method on each test part, and the values of k that were chosen."""
    from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold

    kind = RepeatedStratifiedKFold if table.is_classes else RepeatedKFold
    splits = kind(n_splits=FOLDS, n_repeats=repeats, random_state=seed)
    scores: dict[str, list[float]] = {method: [] for method in METHODS}
    chosen: dict[str, list[int]] = {method: [] for method in METHODS}
    start = time.monotonic()
    for known, asked in splits.split(table.features, table.target):
        for method, (score, k) in _scored(table, known, asked, seed).items():
            scores[method].append(score)
            chosen[method].append(k)
    print(f"{table.name}: {time.monotonic() - start:.0f} s", file=sys.stderr)
    return {
        "commit": commit(),
        "rows": len(table.features),
        "features": table.features.shape[1],
        "package": table.package,
        "classes": table.target.nunique() if table.is_classes else None,
        "scores": scores,
        "k": {method: sorted(ks)[len(ks) // 2] for method, ks in chosen.items()},
    }


def _scored(table: PublicTable, known: Any, asked: Any, seed: int) -> dict[str, tuple[float, int]]:
    """The score on one test part and the k of each method."""
    from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold

    x, y = table.features, table.target
    inner = (StratifiedKFold if table.is_classes else KFold)(INNER, shuffle=True, random_state=seed)
    train, test = (x.iloc[known], y.iloc[known]), (x.iloc[asked], y.iloc[asked])
    most = int(len(known) * (1 - 1 / INNER))
    ks = [k for k in KS if k <= most]
    measure = "accuracy" if table.is_classes else "neg_root_mean_squared_error"

    def fitted(model: Any, parameter: str) -> tuple[Any, int]:
        search = GridSearchCV(
            model, {parameter: ks}, cv=inner, scoring=measure, error_score="raise"
        )
        search.fit(*train)
        return search, int(search.best_params_[parameter])

    peer, k_peer = fitted(_peer(table), "model__n_neighbors")
    own, k = fitted(_own(table), "k")
    learned = _own(table, k=k, weights="learned", random_state=seed).fit(*train)
    return {
        "k-NN": (_score(table, peer, test), k_peer),
        "cases": (_score(table, own, test), k),
        "cases, learned weights": (_score(table, learned, test), k),
    }


def _own(table: PublicTable, **options: Any) -> Any:
    return (CaseBasedClassifier if table.is_classes else CaseBasedRegressor)(**options)


def _peer(table: PublicTable) -> Any:
    """scikit-learn's k-NN with the preparation that it needs."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
    from sklearn.pipeline import Pipeline, make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    prepared = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
    )
    model = KNeighborsClassifier() if table.is_classes else KNeighborsRegressor()
    return Pipeline([("prepare", prepared), ("model", model)])


def _score(table: PublicTable, model: Any, test: tuple[Any, Any]) -> float:
    """Accuracy, or the root of the mean squared error."""
    predicted, true = model.predict(test[0]), np.asarray(test[1])
    if table.is_classes:
        return float((predicted == true).mean())
    return float(np.sqrt(((predicted - true) ** 2).mean()))


def gain(result: dict[str, Any], method: str) -> tuple[float, float]:
    """What a method gains over k-NN, and half of its 95 % interval: for classes the difference of
    accuracies, for numbers the share taken off the error of k-NN.

    Test parts of repeated cross-validation share their training rows, so the variance is corrected
    as Nadeau and Bengio do (2003).
    """
    own, peer = (np.array(result["scores"][name]) for name in (method, METHODS[0]))
    each = own - peer if result["classes"] else (peer - own) / peer
    spread = each.var(ddof=1) * (1 / len(each) + 1 / (FOLDS - 1))
    return float(each.mean()), quantile(len(each) - 1) * math.sqrt(spread)


def _page(found: dict[str, dict[str, Any]], seed: int, repeats: int) -> Page:
    rows = []
    means: dict[str, list[float]] = {method: [] for method in METHODS[1:]}
    for name, one in found.items():
        form = ".3f" if one["classes"] else ".4g"
        scores = [format(np.mean(one["scores"][m]), form) for m in METHODS]
        gains = []
        for method in METHODS[1:]:
            mean, width = gain(one, method)
            means[method].append(mean)
            gains.append(f"{100 * mean:+.1f} ± {100 * width:.1f}")
        what = "accuracy" if one["classes"] else "RMSE"
        size = f"{one['rows']:,} x {one['features']}"
        rows.append((name, one["package"], size, what, *scores, *gains))
    note = (
        "Gains are in points of accuracy, or in percent taken off the RMSE, with 95 % intervals "
        "over the test parts, corrected for shared training rows."
    )
    each = Table(
        "Table by table",
        ["table", "from", "rows x features", "figure", *METHODS, "gain", "gain, learned"],
        rows,
        note,
    )
    return Page(
        name="tables",
        title="Cases and k-NN on ten tables",
        about=_about(repeats),
        tables=[each, _all(means)],
        seed=seed,
        commit=", ".join(sorted({one["commit"] for one in found.values()})),
    )


def _all(means: dict[str, list[float]]) -> Table:
    rows = []
    for method, values in means.items():
        each = 100 * np.array(values)
        if len(each) < 2:
            continue
        width = quantile(len(each) - 1) * each.std(ddof=1) / math.sqrt(len(each))
        rows.append((method, f"{each.mean():+.2f} ± {width:.2f}", int((each > 0).sum()), len(each)))
    return Table(
        "Over all tables",
        ["method", "mean gain over k-NN", "better on", "of"],
        rows,
        "The mean over the tables of the gains above, with Student's 95 % interval over tables.",
    )


def _about(repeats: int) -> str:
    return (
        "How well the most similar cases predict, beside scikit-learn's k-NN, on ten public tables "
        "that come inside Python packages. The splits are the same: "
        f"{FOLDS}-fold cross-validation, repeated {repeats} times, with k chosen from "
        f"{', '.join(map(str, KS))} by {INNER}-fold cross-validation inside each training part. "
        "k-NN has its numbers standardised, categories as columns of 0 and 1, and missing numbers "
        "replaced by the median; the cases have the table as it is. Weights are learned from the "
        "training part alone."
    )


if __name__ == "__main__":
    main()
