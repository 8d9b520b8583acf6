# Everything a developer does. Needs Python 3.11+ and make, nothing else.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# In memory, where there is room for it and programs may be run: the tests make thousands of small
# databases.
IN_MEMORY := $(shell grep -qs ' /dev/shm .*noexec' /proc/mounts || \
	df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 4000000 { print "/dev/shm" }')

# What is tested of the documentation, the examples and the packages is a part of `make check`.
CHECKED := tests/docs tests/examples tests/deployment
PURE := tests/learning tests/prompt/candidates tests/wire

# The tests start hundreds of processes. Without bytecode each of them compiles what it imports.
unexport PYTHONDONTWRITEBYTECODE

# Where the real agents of `make clients` are kept, outside of git.
export TESTS_CLIENTS ?= $(CURDIR)/build/clients

.PHONY: demo test quick check packages docs clients fuzz soak bench bench-learning clean
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

test: export TMPDIR ?= $(or $(IN_MEMORY),/tmp)
test: $(STAMP)  ## all tests but those of check, or TESTS, against real servers that they start
	@$(BIN)/python -m pytest -n 4 --ignore=tests/clients $(or $(TESTS),$(CHECKED:%=--ignore=%))

quick: $(STAMP)  ## tests of what is pure, in seconds: no server, no subprocess
	@$(BIN)/python -m pytest -n 2 -m "not faults and not linear_time" $(PURE)

check: $(STAMP) packages docs  ## lint, types, import rules, documentation, packages
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/python -m pytest -n 4 $(CHECKED)

packages: $(STAMP)  ## the wheel and the sdist, as an index would take them
	@rm -rf build/packages
	@$(BIN)/hatchling build --directory build/packages >/dev/null
	@$(BIN)/twine --no-color check --strict build/packages/*

docs: $(STAMP)  ## the documentation as a site, to read in a browser
	@$(BIN)/sphinx-build -q -W --keep-going -c docs -d build/docs/.doctrees . build/docs/site
	@echo "the documentation: $(CURDIR)/build/docs/site/index.html"

fuzz: $(STAMP)  ## the HTTP API, with many requests that its OpenAPI document describes
	@TESTS_FUZZ_EXAMPLES=$${TESTS_FUZZ_EXAMPLES:-100} TESTS_FUZZ_SEED=$${TESTS_FUZZ_SEED:-$$(date +%s)} \
		$(BIN)/python -m pytest --timeout 3600 tests/door/api/test_fuzzing.py

clients: $(STAMP)  ## real agents, fetched by name, live and imported
	@$(BIN)/python tests/clients/fetch.py $(TESTS_CLIENTS)
	@$(BIN)/python -m pytest tests/clients

soak: export TMPDIR ?= $(or $(IN_MEMORY),/tmp)
soak: $(STAMP)  ## an hour of faults: processes killed, disks full, hostile bodies; or MINUTES
	@$(BIN)/python -m tests.soak $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED))

bench: $(STAMP)  ## every figure beside its baseline, from the same run
	@$(BIN)/python -m benchmarks

bench-learning: $(STAMP)  ## how good what is learnt is, beside its baselines
	@$(BIN)/python -m benchmarks.learning

clean:  ## remove what the targets made
	@rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
