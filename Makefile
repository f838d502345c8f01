# Every target sets everything up by itself, in a virtual environment of its own. The workflows call the same ones.
PYTHON ?= python3
BIN := .venv/bin
DEMO := $(if $(wildcard .venv/ready),.venv,.venv-demo)
MINUTES ?= 2

.PHONY: demo test lint docs notebook wheel lowest clean

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

# The site: README, docs/ and the docstrings. A warning is an error: a link that leads nowhere, a docstring that cannot be read.
docs: .venv-docs/ready
	.venv-docs/bin/sphinx-build --fail-on-warning --keep-going --quiet docs site
	@echo "site/index.html is the front page."

notebook: .venv-docs/ready
	.venv-docs/bin/jupyter-execute examples/first_look.ipynb

# What is published: checked, then installed where nothing else is, and every task played there.
wheel: .venv-build/ready
	rm -rf build dist .venv-wheel
	.venv-build/bin/python -m build --quiet
	.venv-build/bin/twine check --strict dist/*
	$(PYTHON) -m venv .venv-wheel
	.venv-wheel/bin/pip install --quiet --disable-pip-version-check dist/*.whl
	.venv-wheel/bin/python -I tests/step_every_task.py

# The oldest versions that pyproject.toml allows; a newer Python has no wheels of some, and what they call is deprecated.
lowest: export NUMBA_CACHE_DIR := $(CURDIR)/.venv-lowest/compiled
lowest:
	rm -rf build .venv-lowest
	$(LOWEST_PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/pip install --quiet --disable-pip-version-check --constraint constraints-lowest.txt ".[agent,dm,web]" pytest
	.venv-lowest/bin/python -I tests/step_every_task.py
	.venv-lowest/bin/python -m pytest -W ignore::DeprecationWarning $(WITH_LOWEST)

LOWEST_PYTHON ?= python3.11
WITH_LOWEST := tests/envs tests/world tests/test_machine.py tests/agent/test_network.py tests/runs tests/laboratory/test_figures.py

# constraints.txt pins what is installed, so that a run can be repeated. The demo needs neither Ray nor test tools.
.venv/ready: EXTRAS := dev
.venv-demo/ready: EXTRAS := agent,web
.venv-docs/ready: EXTRAS := docs
.venv/ready .venv-demo/ready .venv-docs/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[$(EXTRAS)]"
	touch $@

.venv-build/ready:
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/pip install --quiet --disable-pip-version-check build twine
	touch $@

clean:
	rm -rf .venv .venv-* demo site build dist
