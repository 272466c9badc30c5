# The two commands: `make demo` and `make test`. Both set up what they need in .venv.

PYTHON ?= python3
BIN := .venv/bin
CARS := tests/cars/cars.py
DEMO := casebases/demo.db

.PHONY: demo test test-all lint docs clean

.venv/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("cbr-engine needs Python 3.11 or later, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

demo: .venv/installed
	@rm -f $(DEMO)
	$(BIN)/cbr build tests/cars/cars.csv --type car --out $(DEMO) --plugin $(CARS)
	$(BIN)/cbr query $(DEMO) --case price=7000,age=6,mileage=90,power=90,fuel=diesel --show 3
	$(BIN)/cbr retain $(DEMO) --case price=7000,age=6,mileage=90,power=90,fuel=diesel,owners=1 --solution buy --outcome 4.5 --rule novel
	$(BIN)/cbr refine $(DEMO) --method noise
	$(BIN)/cbr check $(DEMO)

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint
	$(BIN)/python -m pytest

test-all: lint
	$(BIN)/python -m pytest -m "slow or not slow"

docs: .venv/installed
	$(BIN)/python tools/docs.py

clean:
	rm -rf .venv build dist *.egg-info $(DEMO)*
