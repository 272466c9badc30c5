# The two commands: `make demo` and `make test`. Both set up what they need in .venv.
# While working: `make check` takes about a minute.

PYTHON ?= python3
BIN := .venv/bin
DEMO := casebases/demo.db
# Tests run in as many processes as there are cores; `make test JOBS=0` runs them in one.
JOBS ?= auto

.PHONY: demo check lint test test-all tests soak coverage docs clean

.venv/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("cbr-engine needs Python 3.11 or later, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

demo: .venv/installed
	@rm -f $(DEMO)
	@# What the bots need is compiled while the casebase is built; it happens once on a machine.
	@$(BIN)/cbr match 'loki*4' 'lag*4' --hands 8 --adjust aivat > /dev/null 2>&1 & \
		echo "$(BIN)/cbr build casebases/demo.phhs.xz --out $(DEMO)"; \
		$(BIN)/cbr build casebases/demo.phhs.xz --out $(DEMO); code=$$?; wait; exit $$code
	$(BIN)/cbr weights set $(DEMO) casebases/demo.weights.json
	$(BIN)/cbr label $(DEMO) --load casebases/demo.npz
	$(BIN)/cbr match cbr:$(DEMO) 'loki*4' 'lag*4' --hands 2000 --session 25 --adjust aivat --plot casebases/demo.png
	$(BIN)/cbr query $(DEMO) --stage flop --case hole=AhKs,board=Kh7d2c,players=3,to_call=1,pot=6 --reuse worth --show 3

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Lint has one process and the tests have one for each core, so they run side by side. Make tells of
# a failure of either, after the other has ended.
check: SELECTED := not slow and not long
test: SELECTED := not slow
test-all: SELECTED := slow or not slow
check test test-all: .venv/installed
	@$(MAKE) --no-print-directory --jobs=2 lint tests SELECTED="$(SELECTED)"

tests: .venv/installed
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "$(SELECTED)"

# Kills, mutations and differential play by seed, about so many minutes; its last line tells how to
# go on from there. A part alone: make soak ONLY=kills.
MINUTES ?= 10
SEED ?= 0
FIRST ?= 0
soak: .venv/installed
	$(BIN)/python tests/soak --minutes $(MINUTES) --seed $(SEED) --first $(FIRST) $(addprefix --only ,$(ONLY))

# What runs compiled or in other processes is not counted.
coverage: .venv/installed
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal --cov --cov-report=term-missing:skip-covered --cov-report=html

# Writes the page of commands, the module map, and the outputs of examples.
docs: .venv/installed
	$(BIN)/python tools/docs.py
	$(BIN)/python tools/module_map.py
	$(BIN)/python tools/doc_examples.py

clean:
	rm -rf .venv build dist htmlcov .coverage *.egg-info $(DEMO)*
	find cbr features similarity plugins \( -name '*.nb[ic]' -o -name compiling.lock \) -delete
