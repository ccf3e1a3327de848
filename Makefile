# One command each, with no step before it; all are safe to repeat and quick the second time.
PYTHON ?= python3
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)

.DEFAULT_GOAL := help
.PHONY: help lab test demo sync release publish grade judge bench bench-grading lint

help: ## List these targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "make %-14s %s\n", $$1, $$2}'

$(BIN)/python:
	$(PYTHON) -m venv .venv

# A stamp for each set of extras: installed again only when the versions change.
.venv/installed-%: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing the course with its $* tools (a few minutes the first time) ..."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[$*]'
	@touch $@

lab: .venv/installed-lab ## Open the course in JupyterLab, in my_work/ (never overwritten)
	@course lab $(LAB_OPTIONS)

test: .venv/installed-dev ## Run all tests
	python -m pytest -n 2 --dist worksteal $(TEST_OPTIONS)

demo: .venv/installed-dev ## Release the lessons, grade a made-up class, show grades and feedback
	@course demo

sync: .venv/installed-dev ## Bring each lesson's text and notebook into step
	jupytext --sync source/*.py source/*/*.py

release: sync ## Build release/ from source/
	@for lesson in source/*/; do nbgrader generate_assignment --force $$(basename $$lesson) || exit 1; done

publish: release ## Write what students may see into another folder: make publish TO=../students
	@test -n "$(TO)" || { echo "make publish needs a folder: make publish TO=../students"; exit 2; }
	course publish $(TO)

grade: .venv/installed-dev ## Grade what is in submitted/: make grade LESSON=02_how_it_works
	@test -n "$(LESSON)" || { echo "make grade needs a lesson: make grade LESSON=02_how_it_works"; exit 2; }
	course grade $(LESSON) $(GRADE_OPTIONS)

judge: .venv/installed-dev ## Report how the tests judge right and wrong answers
	python -m tests.judging

bench: .venv/installed-dev ## Measure the explorers in a real browser, beside interact with pyplot
	python -m bench.live

bench-grading: .venv/installed-dev ## Measure course grade against nbgrader autograde on lesson 3
	python -m bench.grading

lint: .venv/installed-dev ## Check style
	ruff check . && ruff format --check .
