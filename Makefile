# Everything sets itself up: a virtual environment in the checkout, made on first use.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
# The versions that the tests run on; an empty LOCK takes the newest that pyproject.toml allows.
LOCK   ?= requirements-test.lock
EVERYTHING := --editable ".[pandas,polars,c45,report,countries,spark,duckdb,sign,studio]" --group dev --group docs

PYCANON := .venv-peers/.ready

# Tests and documentation start the command hundreds of times, and without bytecode each start compiles the package.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test java engines check lint types layers format docs transcripts notebooks bench audit reproduce wheel fuzz lock clean

demo: $(READY)  ## publish the bundled data set and show what came out
	$(BIN)/unveil demo

test: $(READY)  ## what continuous integration runs
	$(MAKE) -j 3 check java $(PYCANON)
	$(BIN)/pytest -n 3

java:  ## Spark and Weka run on it; where there is none and it cannot be installed, their tests are skipped
	@command -v java >/dev/null || test -n "$$JAVA_HOME" || \
	  (test "$$(id -u)" = 0 && apt-get update -qq && \
	   apt-get install -qq -y --no-install-recommends openjdk-17-jre-headless) || \
	  echo "Java 17 cannot be installed here: what runs on Spark and Weka is not tested."

engines: java $(READY)  ## the refinement and DiffGen suites on every engine, Spark too
	$(BIN)/pytest -n 2 --engines memory,stream,spark,spark-cluster tests/counting tests/refine tests/papers tests/noise tests/privacy

check: lint types layers

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

layers: $(READY)
	$(BIN)/lint-imports --no-cache

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(READY)  ## the documentation as a site, in site/; a warning is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

transcripts: $(READY)  ## run the commands of the documentation again and write down what they print
	$(BIN)/python scripts/transcripts.py --write

notebooks: $(READY)  ## run the notebooks again and store what they show
	$(BIN)/python scripts/notebooks.py --write

bench: $(READY)  ## start-up, speed, memory and what releases are worth, up to 10M rows; FULL=1 also 100M rows, and writes the pages; PEERS=1 other tools alone, on the same files, and writes the pages
ifdef PEERS
	$(BIN)/python bench/side_by_side.py --write-docs
	$(BIN)/python bench/same_k.py --write-docs
	$(BIN)/python bench/private.py --also mst,aim-authors,mst-authors --write-docs
else
	$(BIN)/python bench/side_by_side.py
	$(BIN)/python bench/same_k.py $(if $(FULL),--write-docs)
	$(BIN)/python bench/run.py $(if $(FULL),--full --write-docs)
	$(BIN)/python bench/scale.py $(if $(FULL),--full --write-docs)
	$(BIN)/python bench/templates.py
	$(BIN)/python bench/diffgen.py
	$(BIN)/python bench/weights.py
	$(BIN)/python bench/persons.py
	$(BIN)/python bench/steps.py
	$(BIN)/python bench/shapes.py
	$(BIN)/python bench/start.py
	$(BIN)/python bench/verbs.py $(if $(FULL),--write-docs)
	$(BIN)/python bench/studio.py
	$(BIN)/python bench/private.py $(if $(FULL),--write-docs)
endif

$(READY): pyproject.toml $(LOCK)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet $(EVERYTHING) $(if $(LOCK),--constraint $(LOCK))
	touch $(READY)

lock:  ## the versions that the tests run on, found anew within the ranges of pyproject.toml
	$(PYTHON) -m venv --clear .venv-lock
	.venv-lock/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv-lock/bin/python -m pip install --quiet $(EVERYTHING)
	.venv-lock/bin/python -m pip freeze --exclude-editable > requirements-test.lock
	rm -rf .venv-lock

fuzz: $(READY)  ## spoiled input for FUZZ_SECONDS (600); FUZZ_SEED repeats a case that failed
	FUZZ_SECONDS=$${FUZZ_SECONDS:-600} $(BIN)/pytest tests/fuzz

wheel: $(READY)  ## the package as users install it: built, put into an empty environment, and its demo run there
	rm -rf dist && $(BIN)/python -m build --outdir dist > /dev/null
	$(PYTHON) -m venv --clear .venv-wheel
	.venv-wheel/bin/python -m pip install --quiet dist/unveil-*.whl
	folder=$$(mktemp -d) && cd $$folder && $(CURDIR)/.venv-wheel/bin/unveil demo && rm -r $$folder

audit: $(READY)  ## attack the differentially private release as a stranger would
	$(BIN)/python audit/run.py

reproduce: $(READY)  ## the papers figure by figure; QUICK=1 for a few points each
	$(BIN)/python -m reproduce $(if $(QUICK),--quick)

# Tools that re-check our releases pin their own versions of everything, so they live apart.
$(PYCANON):
	test -x .venv-peers/bin/python || $(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet "pycanon==1.3.6"
	touch $(PYCANON)

clean:
	rm -rf $(VENV) .venv-peers .venv-lock .venv-wheel .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist site
