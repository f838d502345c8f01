# `make test` and `make demo` set everything up by themselves, in a virtual environment of their own.
PYTHON ?= python3
BIN := .venv/bin
DEMO := $(if $(wildcard .venv/ready),.venv,.venv-demo)
MINUTES ?= 2

.PHONY: demo test lint clean

# Two agents learn the same task for the same time, taught the same skills; only one of them has an episodic memory.
demo: $(DEMO)/ready
	$(DEMO)/bin/memorylab snapshot avm --frames 24 --out demo/avm.png
	$(DEMO)/bin/memorylab train avm --model mra $(TAUGHT) --out demo/avm-mra
	$(DEMO)/bin/memorylab train avm --model lstm $(TAUGHT) --out demo/avm-lstm
	$(DEMO)/bin/memorylab curve demo/avm-mra demo/avm-lstm --out demo/learning.png
	$(DEMO)/bin/memorylab watch demo/avm-mra --export demo/recall.html
	@echo "demo/learning.png: with and without episodic memory, on the training level and on two that no agent was trained on."
	@echo "demo/recall.html:  open it in a browser to see what the agent recalls at each step. demo/avm.png is the task."
	@echo "A longer run of the same: $(DEMO)/bin/memorylab train avm --teacher skills --minutes 30; see docs/training.md."

# The learning rate does not fall: two minutes are the beginning of a run, not a whole one.
TAUGHT := --preset laptop --teacher skills --schedule constant --minutes $(MINUTES) --evaluate-every 400000 --evaluation-episodes 16

# What watches the clock has the machine to itself; all other tests run on both cores, the longest first.
ALONE := tests/runtime/test_ray.py tests/web/test_browser.py tests/web/test_play.py
BESIDE := $(addprefix tests/,runtime tasks laboratory agent web envs adapters learning cli runs world) $(wildcard tests/test_*.py)

test: lint
	$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder $(BESIDE) $(ALONE:%=--ignore=%)
	$(BIN)/pytest $(ALONE)

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# constraints.txt pins what is installed, so that a run can be repeated. The demo needs neither Ray nor test tools.
.venv/ready: EXTRAS := dev
.venv-demo/ready: EXTRAS := agent,web
.venv/ready .venv-demo/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[$(EXTRAS)]"
	touch $@

clean:
	rm -rf .venv .venv-demo demo
