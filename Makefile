# The two commands: `make demo` and `make test`. Everything happens in .venv, which they create.
#
#   PYTHON=...       the Python that .venv is made with (default: the first found that is at least 3.11)
#   VENV=...         another folder than .venv
#   PYTEST_ARGS=...  more for pytest, as in: make test PYTEST_ARGS="-k tree -x"

SHELL := /bin/bash
VENV ?= .venv
PYTEST_ARGS ?=
BIN := $(VENV)/bin
# What is imported is compiled then, and kept: pip would compile all that the libraries bring.
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
unexport PYTHONDONTWRITEBYTECODE

# A name may exist and fail (pyenv's shims do), so each is tried by running it.
FIND_PYTHON = for p in $$(type -aP python3.13 python3.12 python3.11 python3) \
	$$(ls -d $${PYENV_ROOT:-$$HOME/.pyenv}/versions/3.1[1-9].*/bin/python 2>/dev/null | sort -Vr); do \
	"$$p" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' \
	>/dev/null 2>&1 && echo "$$p" && break; done

.DEFAULT_GOAL := help
.PHONY: help demo test test-full test-gpu bench lint types clean

help:
	@echo "make demo       install into $(VENV) and fit the lynx and hare record"
	@echo "make test       the tests of every day, in parallel"
	@echo "make test-full  also the slow ones"
	@echo "make test-gpu   those that need a GPU and CuPy"
	@echo "make bench      time derived gradients beside others"
	@echo "make lint       ruff check, ruff format --check"
	@echo "make types      mypy --strict on s2sad"
	@echo "make clean      remove what the others made"

# --- installation: one stamp per set of extras, renewed when pyproject.toml changes ---------------

$(VENV)/.made:
	@python="$(PYTHON)"; \
	[ -n "$$python" ] || python=$$($(FIND_PYTHON)); \
	[ -n "$$python" ] || { echo "No Python >= 3.11 found; say which: make PYTHON=..." >&2; exit 1; }; \
	echo "making $(VENV) with $$python ($$("$$python" -c 'import platform as p; print(p.python_version())'))"; \
	"$$python" -m venv "$(VENV)"
	@touch $@

$(VENV)/.installed-demo: $(VENV)/.made pyproject.toml
	$(PIP) -e . scipy
	@$(PIP) matplotlib || echo "matplotlib cannot be installed: the demo will draw no plot"
	@touch $@

$(VENV)/.installed-%: $(VENV)/.made pyproject.toml
	$(PIP) -e ".[$*]"
	@touch $@

# --- what to run ---------------------------------------------------------------------------------

demo: $(VENV)/.installed-demo
	$(BIN)/python examples/lynx_hare.py

test: $(VENV)/.installed-test
	$(BIN)/python -m pytest -n auto --maxprocesses 8 --dist worksteal -q $(PYTEST_ARGS)

test-full: $(VENV)/.installed-test
	S2SAD_FULL=1 $(BIN)/python -m pytest -n auto --maxprocesses 8 --dist worksteal -q -m "not gpu" $(PYTEST_ARGS)

test-gpu: $(VENV)/.installed-test
	$(BIN)/python -m pytest -q -m gpu $(PYTEST_ARGS)

bench: $(VENV)/.installed-bench
	$(BIN)/python tests/benchmarks/run.py

lint: $(VENV)/.installed-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-lint
	$(BIN)/mypy --strict s2sad

clean:
	rm -rf .venv .venv-3.* build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache
	rm -rf examples/out tests/benchmarks/out
	find s2sad rules tests examples -name __pycache__ -type d -prune -exec rm -rf {} +
