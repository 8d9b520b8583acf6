# Everything a developer does. Needs Python 3.11+ and make, nothing else.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test check bench clean
.DEFAULT_GOAL := test

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("trackrecord needs Python 3.11 or newer, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	@echo "setting up $(VENV) (once) ..."
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

demo: $(STAMP)  ## the main job, through real servers, in under a minute
	@$(BIN)/trackrecord demo

test: $(STAMP)  ## all tests, against real servers that they start themselves
	@$(BIN)/python -m pytest -n 2

check: $(STAMP)  ## lint, types, import rules, documentation
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/python -m pytest tests/docs

bench: $(STAMP)  ## every figure beside its baseline, from the same run
	@$(BIN)/python -m benchmarks

clean:  ## remove what the targets made
	@rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
