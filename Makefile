# Every target sets up what it needs in .venv; only the first run touches the network.

PYTHON ?= python3

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
PEERS := .venv-peers
AUDIT := .venv-audit
# Tests start many processes: what one of them compiled, the others need not compile again.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest
# Every charge waits until it is on the disk; in memory, where there is room for two gigabytes, it need not.
ROOM := $(shell df -k /dev/shm 2>/dev/null | awk 'NR == 2 { print ($$4 > 2000000) }')
IN_MEMORY := $(if $(filter 1,$(ROOM)),TMPDIR=$${TMPDIR:-/dev/shm})

# Stamp files: pip runs again only when pyproject.toml changed.
CREATED := $(VENV)/.created
RUNTIME := $(VENV)/.runtime
SERVE := $(VENV)/.serve
DEV := $(VENV)/.dev
ENGINES := $(VENV)/.engines
PEERS_READY := $(PEERS)/.ready

.DEFAULT_GOAL := help
.PHONY: help demo serve test quick thorough lint package check engines format docs audit bench clean

# Ends with a remedy when $(PYTHON) cannot make an environment.
define CHECK_PYTHON
@command -v "$(PYTHON)" >/dev/null || { \
    echo "inbounds needs Python 3.11 or newer, and '$(PYTHON)' was not found:" \
         "install one, or name it with 'make PYTHON=/path/to/python'." >&2; exit 1; }
@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
    echo "inbounds needs Python 3.11 or newer, and '$(PYTHON)' is $$("$(PYTHON)" --version 2>&1):" \
         "name a newer one with 'make PYTHON=/path/to/python'." >&2; exit 1; }
@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { \
    echo "'$(PYTHON)' lacks the venv module: install it (on Debian and Ubuntu: apt install python3-venv)," \
         "or name another interpreter with 'make PYTHON=/path/to/python'." >&2; exit 1; }
endef

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(RUNTIME) ## ask a made-up clinic ten questions, with plain noise and in bounds, and publish a report
	@$(BIN)/inbounds demo --report report.html

serve: $(SERVE) ## serve a made-up clinic on this machine, with keys for everybody
	@$(BIN)/inbounds serve --demo

test: $(DEV) ## test every law, on every core, in about twelve minutes; no Java, no browser, no PostgreSQL
	@$(IN_MEMORY) $(PYTEST) --numprocesses auto -m "not thorough"

quick: $(DEV) ## run the tests that are quick, in under a minute: for the loop while working
	@$(IN_MEMORY) $(PYTEST) --numprocesses auto --hypothesis-profile quick -m "not slow and not thorough"

thorough: $(DEV) ## run what `make test` leaves out: long runs, and the engines and the browser that are asked for
	@$(PYTEST) --numprocesses auto -m thorough

lint: $(DEV) ## run the linter, the formatter's check, the type checker and the import contracts
	@$(BIN)/python -m ruff check
	@$(BIN)/python -m ruff format --check
	@$(BIN)/python -m mypy
	@$(BIN)/lint-imports --no-logo

package: ## build the wheels and the sdists, of the client too, into dist/, and try them in empty environments
	$(CHECK_PYTHON)
	@scripts/package "$(PYTHON)"

check: ## run what CI runs: lint, the packages, then all tests, on every engine and in a browser
	@.ci/run

engines: $(ENGINES) ## install what the tests on Spark, Sail and ClickHouse need, and find or install Java
	@scripts/java >/dev/null

format: $(DEV) ## put imports and layout in order
	@$(BIN)/python -m ruff check --select I --fix
	@$(BIN)/python -m ruff format

docs: $(DEV) ## build the documentation site into site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

audit: $(DEV) ## look for known faults of what is installed; needs pypi.org, an index alone does not do
	@test -x $(AUDIT)/bin/pip-audit || { "$(PYTHON)" -m venv $(AUDIT) && \
	    $(AUDIT)/bin/python -m pip --disable-pip-version-check -qq install 'pip-audit>=2.9,<3'; }
	@$(BIN)/python -m pip --disable-pip-version-check freeze --exclude-editable >$(AUDIT)/installed.txt
	@$(AUDIT)/bin/pip-audit --strict --no-deps --disable-pip --progress-spinner off -r $(AUDIT)/installed.txt

bench: $(DEV) $(PEERS_READY) ## measure speed and timing leaks against the peers
	@$(BIN)/python -m benchmarks --peers $(PEERS)/bin/python

clean: ## remove the environments and every cache
	rm -rf $(VENV) $(PEERS) $(AUDIT) site dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(CREATED):
	$(CHECK_PYTHON)
	@echo "making $(VENV)"
	@"$(PYTHON)" -m venv $(VENV)
	@touch $@

$(RUNTIME): $(CREATED) pyproject.toml
	@echo "installing inbounds into $(VENV)"
	@$(PIP) install --editable '.[cli]'
	@touch $@

$(SERVE): $(CREATED) pyproject.toml
	@echo "installing inbounds and its server into $(VENV)"
	@$(PIP) install --editable '.[serve]'
	@touch $(RUNTIME) $@

$(DEV): $(CREATED) pyproject.toml
	@echo "installing inbounds and its development tools into $(VENV)"
	@$(PIP) install --editable '.[dev]'
	@touch $(RUNTIME) $(SERVE) $@

$(ENGINES): $(DEV)
	@echo "installing Spark, Sail and ClickHouse into $(VENV)"
	@$(PIP) install --editable '.[engines]'
	@touch $@

$(PEERS_READY): benchmarks/peers.txt
	$(CHECK_PYTHON)
	@echo "installing the peers into $(PEERS)"
	@"$(PYTHON)" -m venv $(PEERS)
	@while read -r place requirements; do \
	    case "$$place" in \
	        ''|'#'*) continue ;; \
	        */) at=$(PEERS)/$${place%/}; "$(PYTHON)" -m venv "$$at" ;; \
	        *) at=$(PEERS); requirements="$$place $$requirements" ;; \
	    esac; \
	    "$$at/bin/python" -m pip --disable-pip-version-check -qq install --only-binary :all: $$requirements \
	        || echo "not installed here, so left out: $$requirements"; \
	done < $<
	@touch $@
