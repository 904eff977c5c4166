# Each target sets up .venv on first use and reuses it afterwards.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# The CPU tests spread over two processes of one thread each: faster than one process of two on small tensors.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

.PHONY: demo test unit lint check bench docs clean

demo: $(READY)  ## Learned and classical acquisition functions on unseen tasks: tables and pictures
	@for family in branin goldstein-price hartmann-3; do \
	  $(BIN)/metabo evaluate $$family --methods metabo,ei,pi,ucb,random --tasks 100 \
	    --out runs/demo/$$family || exit; \
	done
	@echo "Pictures: runs/demo/*/regret.png"

test: $(READY)  ## All tests
	$(PYTEST)

unit: $(READY)  ## The fast tests
	$(PYTEST) -m "not slow"

lint: $(READY)  ## Format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint test  ## Everything that continuous integration runs

bench: $(READY)  ## Speed and search quality, JSON lines
	$(BIN)/python benchmarks/episodes.py
	$(BIN)/python benchmarks/search_quality.py

docs: $(VENV)/.docs  ## The documentation as a website, in runs/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "Open runs/site/index.html in a browser, or serve it: $(BIN)/python -m http.server --directory runs/site"

clean:  ## Remove the environment and everything it made
	rm -rf $(VENV) runs .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

# torch goes first and alone, so that nothing else can pull in another build of it.
$(READY): requirements.lock pyproject.toml
	@echo "Setting up $(VENV) (a few minutes, once) ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "metabo needs Python 3.11 or newer: set PYTHON=/path/to/python3.11"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check "$$(grep '^torch==' requirements.lock)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(READY)

# What the website needs is apart, so that tests do not wait for it.
$(VENV)/.docs: $(READY) requirements-docs.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c requirements.lock -r requirements-docs.lock
	@touch $@
