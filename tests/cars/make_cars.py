"""Writes cars.csv: made-up cars whose buyers were about as wise as buyers are.

    python tests/cars/make_cars.py

A car has a worth that follows from its features, and a price around it. Buyers judge the worth
with some error. The outcome is what the decision earned in hundreds of EUR: worth minus what was
paid, or nothing for a car left alone.
"""

import csv
import random
from pathlib import Path

MODELS = [("Lupo", 60), ("Fiora", 75), ("Corda", 90), ("Vento", 110), ("Strada", 140), ("Rey", 190)]
COLUMNS = ["model", "price", "age", "mileage", "power", "fuel", "owners", "solution", "outcome"]
FUELS = {"petrol": 1.0, "diesel": 1.05, "hybrid": 1.2, "electric": 1.3}


def main() -> None:
    rng = random.Random(20260101)
    with Path(__file__).with_name("cars.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(COLUMNS)
        for _ in range(400):
            rows.writerow(car(rng))


def car(rng: random.Random) -> list[object]:
    model, base_power = rng.choice(MODELS)
    fuel = rng.choices(list(FUELS), [5, 4, 2, 2])[0]
    age = rng.randint(1, 18)
    mileage = max(1, round(rng.gauss(14, 3) * age))
    power = base_power + rng.choice([-10, 0, 0, 15])
    owners = min(6, 1 + sum(rng.random() < 0.2 for _ in range(age // 2)))
    new = 120 * power + 8000
    worth = new * FUELS[fuel] * 0.87**age * max(0.35, 1 - mileage / 450) * 0.97 ** (owners - 1)
    price = max(500, round(worth * rng.lognormvariate(0.05, 0.4), -2))
    judged = worth * rng.lognormvariate(0, 0.06)
    if price < 0.93 * judged:
        solution, paid = "buy", price
    elif price < 1.18 * judged:
        solution, paid = "haggle", max(0.9 * price, min(price, 0.97 * judged))
    else:
        solution, paid = "leave", worth
    outcome = round((worth - paid) / 100, 1) + 0.0
    return [model, int(price), age, mileage, power, fuel, owners, solution, outcome]


if __name__ == "__main__":
    main()
