"""The same with cbrkit 1.x: `python with_cbrkit.py`."""
# mypy: ignore-errors

import csv
from collections import Counter
from pathlib import Path

import cbrkit

with Path("casebases/iris.csv").open() as file:
    rows = list(csv.DictReader(file))
names = [name for name in rows[0] if name != "species"]
cases = {
    number: {**{name: float(row[name]) for name in names}, "species": row["species"]}
    for number, row in enumerate(rows)
}
query = {"petal length (cm)": 4.9, "petal width (cm)": 1.6}
spans = {
    name: max(case[name] for case in cases.values()) - min(case[name] for case in cases.values())
    for name in query
}
measures = {name: cbrkit.sim.numbers.linear(max=span) for name, span in spans.items()}
similarity = cbrkit.sim.attribute_value(
    attributes=measures, aggregator=cbrkit.sim.aggregator(pooling="mean")
)
retriever = cbrkit.retrieval.dropout(cbrkit.retrieval.build(similarity), limit=5)
found = cbrkit.retrieval.apply_query(cases, query, retriever)
votes = Counter()
for number, value in found.similarities.items():
    votes[cases[number]["species"]] += value.value
print({name: vote / votes.total() for name, vote in votes.items()})
for number, value in found.similarities.items():
    print(number, value.value, value.attributes, cases[number])
