"""From a table to an explained answer with this engine: `python ours.py`."""

import cbr

base = cbr.build("casebases/iris.csv", "iris.db", solution="species")
answer = base.nearest({"petal length (cm)": 4.9, "petal width (cm)": 1.6}, k=5)
print(answer.solution, answer.probabilities)
print(answer.explain())
