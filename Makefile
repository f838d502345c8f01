# `make test` and `make demo` set everything up by themselves, in a virtual environment of their own.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint clean

demo: .venv/ready
	$(BIN)/memorylab list
	$(BIN)/memorylab snapshot all --frames 8 --every 8 --out demo/tasks.png
	$(BIN)/memorylab baseline --levels train --episodes 64 --out demo/baseline.csv
	@echo "Look at demo/tasks.png; the scores are in demo/baseline.csv."

test: lint
	$(BIN)/pytest

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# constraints.txt pins what is installed, so that a run can be repeated.
.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[dev]"
	touch $@

clean:
	rm -rf .venv demo
