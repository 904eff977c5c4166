# Each target sets up .venv on first use and reuses it afterwards.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Another package index for torch, such as https://download.pytorch.org/whl/cpu; empty means pip's own.
TORCH_INDEX ?=
# The CPU tests spread over two processes of one thread each: faster than one process of two on small tensors.
PYTEST := OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n 2 --dist worksteal
MKDOCS := NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

.PHONY: help demo artifacts test unit lint check coverage bench docs package lock clean

help:  ## This list
	@awk -F ':[^#]*## ' '/^[a-z]+:.*## / {printf "make %-9s %s\n", $$1, $$2}' Makefile

demo: $(READY)  ## Learned and classical acquisition functions on unseen tasks: tables and pictures
	@for family in branin goldstein-price hartmann-3; do \
	  $(BIN)/metabo evaluate $$family --methods metabo,ei:prior=learned,ei,pi,ucb,random --tasks 100 \
	    --out runs/demo/$$family || exit; \
	done
	@echo "Pictures: runs/demo/*/regret.png"

# An artifact NAME-M learns prior and network from the same M sources.
LEARNED := branin goldstein-price hartmann-3 branin-50 goldstein-price-50 hartmann-3-50 \
           furuta-reference furuta furuta-reference-50 furuta-50 rhino-1 rhino-2
DEVICE ?= cpu
artifacts: $(READY)  ## Train the artifacts that have a learned prior again, in runs/artifacts; DEVICE=cuda is faster
	@for name in $(LEARNED); do \
	  sources=$$(echo "$$name" | sed -n 's/.*-\(50\)$$/--sources \1/p'); \
	  $(BIN)/metabo train $${name%-50} $$sources --device $(DEVICE) --out runs/artifacts/$$name || exit; \
	done

test: $(READY)  ## All tests
	$(PYTEST)

unit: $(READY)  ## The fast tests
	$(PYTEST) -m "not slow"

lint: $(READY) $(VENV)/.docs  ## Format, lint, types, layers, docs build
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(MKDOCS)

check: lint test  ## Everything that continuous integration runs

coverage: $(READY)  ## The fast tests, and the share of lines that they run
	$(PYTEST) -m "not slow" --cov --cov-report=term:skip-covered

bench: $(READY)  ## Speed and search quality, as JSON lines
	$(BIN)/python benchmarks/episodes.py
	$(BIN)/python benchmarks/search_quality.py

docs: $(READY) $(VENV)/.docs  ## The documentation as a website, in runs/site
	$(MKDOCS)
	@echo "Open runs/site/index.html in a browser, or serve it: $(BIN)/python -m http.server --directory runs/site"

package: $(READY)  ## The sdist and the wheel, in dist/
	$(BIN)/python -m hatchling build

clean:  ## Remove the environment and everything it made
	rm -rf $(VENV) runs dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .coverage

# torch goes first and alone, so that nothing else can pull in another build of it. The locks are complete and hashed.
$(READY): requirements-torch.txt requirements.lock pyproject.toml
	@echo "Setting up $(VENV) (a few minutes, once) ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "metabo needs Python 3.11 or newer: set PYTHON=/path/to/python3.11"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) -r requirements-torch.txt
	@$(PIP) --no-deps --require-hashes -r requirements.lock
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $(READY)

# What the website needs is installed apart, so that tests do not wait for it.
$(VENV)/.docs: requirements-docs.lock | $(READY)
	@$(PIP) --no-deps --require-hashes -r requirements-docs.lock
	@touch $@

# Present versions are kept unless pyproject.toml excludes them; add UV_FLAGS=--upgrade for newer ones. torch and what only
# its CUDA build needs stay out of the locks.
UV ?= uv
UV_FLAGS ?=
COMPILE := $(UV) pip compile --universal --python-version 3.11 --generate-hashes --no-annotate --quiet \
  --custom-compile-command "make lock" $(UV_FLAGS)
CUDA := cuda-bindings cuda-toolkit nvidia-cudnn-cu13 nvidia-cusparselt-cu13 nvidia-nccl-cu13 nvidia-nvshmem-cu13 triton
DOCS_EXTRA := import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["docs"])

lock:  ## Write requirements*.lock again, with hashes (needs uv)
	@mkdir -p runs && printf '%s\n' $(CUDA) > runs/not-locked.txt
	$(COMPILE) pyproject.toml --extra dev --extra furuta -c requirements-torch.txt --no-emit-package torch \
	  --excludes runs/not-locked.txt -o requirements.lock
	$(PYTHON) -c '$(DOCS_EXTRA)' | tr ' ' '\n' | $(COMPILE) - -c requirements.lock -o requirements-docs.lock
