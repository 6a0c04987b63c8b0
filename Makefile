# Set-up and daily commands. `make help` lists them.
#
# Every path here is relative, so that a checkout may live in a folder with spaces in its name.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.NOTPARALLEL:

PYTHON ?= python3
# Three on two cores: a test often waits for a tool.
PYTEST_WORKERS ?= 3
SYSTEM ?= install
BIN := .venv/bin
# Files in the order of their names: by default those of few tests, which are the longest here, start last.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/pytest -n $(PYTEST_WORKERS) --dist loadfile --no-loadscope-reorder --ignore=tests/benchmarks

# Tests start hundreds of processes. Each would compile what it imports anew (torch: 8 s).
unexport PYTHONDONTWRITEBYTECODE

# Without this the wrapper of pyright asks its registry for a newer version at every start.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

.PHONY: help run test check setup tested system venv lock docs site clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):[^#]*## /\1\t/p' Makefile | expand -t 10

run: setup ## set up, then the main job at smoke scale
	$(BIN)/simfoundry run scale=smoke

test: setup tested ## set up, then the tests without the slow ones
	$(PYTEST) -m 'not slow'

check: setup tested ## set up, then lint, format, types, import contracts, tests (a warning is an error)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports
	$(PYTEST)

setup: system venv ## everything a fresh Debian or Ubuntu needs

tested: venv ## what the tests alone need: a network simulator to compare with, a browser, a database server, a language model
	@SYSTEM='$(SYSTEM)' setup/system.sh libns3-dev chromium postgresql
	@setup/language_model.sh

system: ## Debian packages; make SYSTEM=skip ... when the tools come from elsewhere
	@SYSTEM='$(SYSTEM)' setup/system.sh

venv: ## .venv from requirements.txt; make HASHED=1 ... checks all hashes; make LM=1 ... adds a language model
	@PYTHON='$(PYTHON)' HASHED='$(HASHED)' setup/venv.sh
	@[ -z '$(LM)' ] || setup/language_model.sh

lock: ## resolve the requirements anew into both lock files, and NOTICE
	@PYTHON='$(PYTHON)' setup/lock.sh

docs: venv ## pages that derive from the code and from measured figures
	$(BIN)/python -m pipelines.schemas.documentation docs/tables.md
	$(BIN)/python -m assets.dvc_stages dvc.yaml
	$(BIN)/python -m assets.results_pages docs
	$(BIN)/python -m assets.front_page README.md
	$(BIN)/python -m assets.leaderboard_page docs/leaderboard.md

site: venv ## the documentation as a site, below build/site
	$(BIN)/python -m simfoundry.site build/site

clean: ## remove .venv and caches; the data folder stays
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis .import_linter_cache build *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
