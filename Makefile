# `make test` and `make demo` set everything up by themselves, in a virtual environment of their own.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint clean

demo: .venv/ready
	$(BIN)/memorylab snapshot avm --frames 24 --out demo/avm.png
	$(BIN)/memorylab train avm --model mra --preset laptop --minutes 4 --evaluation-episodes 16 --out demo/avm-mra
	$(BIN)/memorylab curve demo/avm-mra --out demo/learning.png
	@echo "Look at demo/learning.png: four minutes of training beside the scripted players. demo/avm.png is the task."
	@echo "The same command with --minutes 60 goes on from here: see docs/training.md."

# What only computes runs on both cores; runs, clusters and pages, which watch the clock, have the machine to themselves.
test: lint
	$(BIN)/pytest -n 2 --dist loadfile tests/agent tests/envs tests/learning tests/runs tests/tasks tests/world
	$(BIN)/pytest tests/cli tests/laboratory tests/runtime tests/web tests/test_*.py

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
