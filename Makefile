# Two commands need nothing but python3, pip and make:
#   make demo   draw scenes, train a model, open runs/demo/report.html
#   make test   lint, types, tests
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test lint types check format bench clean

demo: $(READY)
	$(BIN)/polymodal demo

test: lint types check

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

check: $(READY)
	$(BIN)/python -m pytest -n 2 --dist loadfile

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(READY)
	$(BIN)/python -m pytest -m bench
	$(BIN)/python benchmarks/drawing.py

# Installs once, and again only when what is asked for changes.
$(READY): pyproject.toml constraints.txt
	@echo "Setting up $(VENV), once: pip downloads PyTorch and more, silently. It can take several minutes."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
