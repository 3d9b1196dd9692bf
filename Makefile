# Needs python3 (3.11 or newer), make and git. Everything else lives in .venv, which `make clean` removes.

PYTHON ?= python3
BIN := .venv/bin

# Caches stay inside the checkout, too.
export PIP_CACHE_DIR := $(CURDIR)/.venv/cache/pip
export BUF_CACHE_DIR := $(CURDIR)/.venv/cache/buf
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Tests start hundreds of processes; without bytecode each of them would compile everything again.
unexport PYTHONDONTWRITEBYTECODE

# Directories are listed as well: theirs is the timestamp that changes when a file goes away.
PROTOS := $(shell find proto/referee -type d -o -name '*.proto' 2>/dev/null)
# What is signed never changes its meaning: the log and each game's messages.
SIGNED := proto/referee/log/v1 proto/referee/alhambra/v1 proto/referee/event/v1 proto/referee/kingdomino/v1 proto/referee/rollwrite/v1
# Of these the verifier's page is made.
PAGE := $(filter-out %/index.html %/README.md,$(wildcard clients/verify-js/*)) $(wildcard clients/referee_clients/web/static/*.mjs) \
	referee/text/words/en/web.json
SIGNED_BASELINE := proto/baseline/signed.binpb

# What is ours; somebody's own bot may lie beside it.
CODE := referee solver clients tests hatch_build.py compiled_build.py

# The game of `demo`, `demo-web` and `arena`.
GAME := alhambra

# What `make web-rules` brings.
PYODIDE := build/pyodide

# T: files or folders; K: names, as in `pytest -k`.
PYTEST = $(BIN)/python -m pytest -n 3 $(if $(K),-k '$(K)') $(T)

# Two levels of installation: playing needs less than developing.
RUNTIME := .venv/runtime.stamp
DEV := .venv/dev.stamp
GENERATED := .venv/generated.stamp

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help setup proto proto-baseline lint format check compiled test-compiled test test-web test-web-all web-pictures pictures test-long test-all demo demo-event demo-web serve web web-rules arena rig bench bench-solver bench-event bench-match bench-peers compare crash nemesis soak attack fuzz differential theorems faults docs docs-site words clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(GENERATED) ## Install everything, development tools included, into .venv

demo: $(RUNTIME) ## Watch a game from deal to verified log (GAME=kingdomino ARGS="--bots greedy,random")
	@$(BIN)/referee demo --game $(GAME) $(ARGS)

demo-web: $(RUNTIME) ## Watch bots play in a browser, until Ctrl-C (GAME=kingdomino ARGS="--games 4")
	@$(BIN)/python -m referee_clients.terminal.demo.web --game $(GAME) $(ARGS)

demo-event: $(RUNTIME) ## Let 16 bots play a tournament of five rounds, and check all of it (ARGS="--players 12 --rounds 3")
	@$(BIN)/python -m referee_clients.terminal.demo.event $(ARGS)

serve: $(RUNTIME) ## Run the referee
	@$(BIN)/referee serve

arena: $(RUNTIME) ## Let the bots play each other (GAME=kingdomino ARGS="--seats 4 --games 20")
	@$(BIN)/referee match --game $(GAME) $(ARGS)

web: $(RUNTIME) ## Serve the pages, to judge positions in a browser (ARGS="--listen 0.0.0.0:8080")
	@$(BIN)/referee web $(if $(wildcard $(PYODIDE)),--pyodide $(PYODIDE)) $(ARGS)

web-rules: $(RUNTIME) ## Bring Pyodide, with which browsers check the rules of a file, too, into build/pyodide; needs npm
	@$(BIN)/python -m referee_clients.web.in_browser.pyodide $(PYODIDE)

test: $(GENERATED) ## Run the tests, but those of pages (T=tests/log K=take_back)
	@$(PYTEST)

test-long: $(GENERATED) ## Run the campaigns, of which `make test` has samples (T=tests/log K=take_back)
	@$(PYTEST) -m long

test-all: $(GENERATED) ## Run all of it in one go, with the browser: tests are collected, and what they share is started, once
	@$(PYTEST) -m 'long or not long'

test-web: $(GENERATED) web-rules ## Test the pages, in Chromium too; without Chromium and certutil this fails
	@REFEREE_TESTS_BROWSER=needed $(BIN)/python -m pytest -n 3 -m 'not long' $(if $(K),-k '$(K)') $(or $(T),tests/web)

web-pictures: $(GENERATED) ## Take pictures of every page, light and dark, phone and laptop, into build/web-pictures
	@PICTURES=1 REFEREE_TESTS_BROWSER=needed $(BIN)/python -m pytest -q -m long -k pictures tests/web/test_every_page.py

test-web-all: $(GENERATED) web-rules ## Test the pages in Firefox and WebKit as well; installs the browsers where apt-get may
	@$(BIN)/python -m tests.web.engines
	@REFEREE_TESTS_BROWSER=needed $(BIN)/python -m pytest -n 3 -m 'not long' $(if $(K),-k '$(K)') tests/web tests/web/all_engines.py

pictures: $(GENERATED) ## Take the pictures of the documentation, into docs/images; needs Chromium
	@$(BIN)/python -m tests.docs.pictures

compiled: $(GENERATED) ## Compile the core, into build/compiled; needs a C compiler, and nobody needs it
	@$(BIN)/python -m compiled_build

test-compiled: $(GENERATED) ## Compile the core, then test it as the pure one is tested (T=tests/log)
	@$(BIN)/python -m tests.compiled $(T)

check: $(GENERATED) ## Test what the changed files can break (BASE=main)
	@$(BIN)/python -m tests.check $(BASE)

lint: $(GENERATED) ## Check style, types, layering and the protocol
	@$(BIN)/ruff check $(CODE)
	@$(BIN)/ruff format --check $(CODE)
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/buf lint proto
	@test -f $(SIGNED_BASELINE) || { echo "$(SIGNED_BASELINE) is missing: run 'make proto-baseline' and commit it."; exit 1; }
	@$(BIN)/buf breaking proto --against $(SIGNED_BASELINE)

format: $(GENERATED) ## Format and fix what can be fixed
	@$(BIN)/ruff check --fix $(CODE)
	@$(BIN)/ruff format $(CODE)

rig: $(GENERATED) ## Break the way between clients and referee (ARGS="--seed 1 --games 500")
	@$(BIN)/python -m tests.rig $(ARGS)

bench: $(GENERATED) ## Measure
	@$(BIN)/python -m tests.bench

bench-solver: $(GENERATED) ## Measure the solver (ARGS="--quick", "--compare")
	@$(BIN)/python -m tests.bench.solver $(ARGS)

bench-event: $(GENERATED) ## Measure the pairing of rounds (after `make compare` against proven optima, too)
	@$(BIN)/python -m tests.bench.event

bench-match: $(GENERATED) ## Measure a match beside a bare loop over the same games
	@$(BIN)/python -m tests.bench.match

bench-peers: $(GENERATED) ## Measure beside another library for games of turns, installed into .venv/peers
	@$(BIN)/python -m tests.bench.peers

compare: $(BIN)/python ## Install other solvers, to be measured beside Z3
	@$(BIN)/python -m venv .venv/compare
	@.venv/compare/bin/python -m pip install --quiet --requirement tests/bench/compare.txt

crash: $(GENERATED) ## Kill the referee 200 times under load (ARGS="--rounds 20 --seed 7 --store postgresql")
	@$(BIN)/python -m tests.crash $(ARGS)

nemesis: $(GENERATED) ## Put 200 faults on several referees with one PostgreSQL (ARGS="--faults 20 --seed 7")
	@$(BIN)/python -m tests.nemesis $(ARGS)

soak: $(GENERATED) ## Let a club play for an hour: nothing is lost, nothing grows (ARGS="--seconds 600 --seed 7")
	@$(BIN)/python -m tests.soak $(ARGS)

attack: $(GENERATED) ## Damage copies of games in every way there is, audit the costliest files (ARGS="--only toy")
	@$(BIN)/python -m tests.attacks $(ARGS)

fuzz: $(GENERATED) ## Fuzz every parser (ARGS="--seconds 60 --only frames")
	@$(BIN)/python -m pip install --quiet --only-binary :all: --requirement tests/fuzz/requirements.txt || true
	@$(BIN)/python -m tests.fuzz $(ARGS)

differential: $(GENERATED) ## Hold the engine against the solver, a million verdicts (ARGS="--seed 5000 --verdicts 20000")
	@$(BIN)/python -m tests.laboratory.differential.run $(ARGS)

theorems: $(GENERATED) ## Prove the theorems about the engine, the slow ones too (ARGS="--only no-pinch-5x5")
	@$(BIN)/python -m tests.laboratory.theorems --slow $(ARGS)

faults: $(GENERATED) ## Plant faults in a copy, one in each package at least: the tests find each (ARGS="--only NAME")
	@$(BIN)/python -m tests.planted $(ARGS)

words: $(GENERATED) ## Keep translations whose English has changed, marked as to be read again
	@$(BIN)/python -m tests.text.words.keep

docs-site: $(GENERATED) ## Build the documentation as a site into build/site
	@$(BIN)/python -m tests.make_site

docs: $(GENERATED) ## Regenerate the documentation made from code
	@$(BIN)/python -m tests.make_docs

man: $(GENERATED) ## Write a manual page for every command into build/man
	@$(BIN)/python -m tests.make_man

release: $(GENERATED) ## Build what a release consists of from the last commit into dist, twice, and compare
	@$(BIN)/python -m tests.make_release

proto: $(DEV) ## Regenerate the protobuf code
	@$(BIN)/python -m hatch_build

proto-baseline: $(DEV) ## Accept today's signed messages as those never to break
	@mkdir -p $(dir $(SIGNED_BASELINE))
	@$(BIN)/buf build proto $(SIGNED:%=--path %) --exclude-source-info -o $(SIGNED_BASELINE)
	@echo "Wrote $(SIGNED_BASELINE); commit it."

clean: ## Go back to a fresh clone: remove .venv, generated code and caches
	@rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	@rm -rf referee/v1 referee/*/v1 referee/log/descriptors.binpb
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- installation -----------------------------------------------------------------------------------

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed, and $(PYTHON) is not: try 'make PYTHON=/path/to/python3.11'."; exit 1; }
	@$(PYTHON) -m venv .venv

$(RUNTIME): pyproject.toml hatch_build.py $(PROTOS) $(PAGE) | $(BIN)/python
	@echo "Installing into .venv; the first time takes a minute."
	@$(BIN)/python -m pip install --quiet --editable '.[all]'
	@touch $@

$(DEV): pyproject.toml hatch_build.py | $(BIN)/python
	@echo "Installing into .venv, development tools included; the first time takes a minute."
	@$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

# With the tools at hand a changed .proto file takes a second, not a reinstallation.
$(GENERATED): $(DEV) $(PROTOS) $(PAGE)
	@$(BIN)/python -m hatch_build
	@touch $@ $(RUNTIME)
