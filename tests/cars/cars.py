"""A tiny domain that has nothing to do with cards: should I buy this used car?

All it takes to teach the engine a domain: a case type, which names the features of a case and the
solutions to choose from. Cases then come from any table with these columns.
"""

import cbr

FEATURES = [
    cbr.Feature(
        "price",
        "asking price",
        range=(0, 40000),
        unit="EUR",
        similarity="ratio?reach=4",
        weight=20,
    ),
    cbr.Feature("age", "years since first registration", range=(0, 20), unit="years", weight=30),
    cbr.Feature(
        "mileage",
        "distance driven",
        range=(0, 400),
        unit="1000 km",
        weight=10,
    ),
    cbr.Feature("power", "engine power", range=(40, 250), unit="kW", weight=15),
    cbr.Feature(
        "fuel", "what it runs on", values=("petrol", "diesel", "hybrid", "electric"), weight=4
    ),
    cbr.Feature("owners", "owners so far", range=(1, 6), similarity="exponential?k=0.5", weight=3),
    cbr.Feature("model", "make and model", indexed=False),
]


@cbr.hook
def cbr_case_types():
    return [
        cbr.CaseType(
            "car",
            FEATURES,
            solutions=["buy", "haggle", "leave"],
            meaning="a used car that was looked at, what was done, and what it was worth",
            retrieval="threshold?above=0.93&cap=15&fallback=7",
        )
    ]
