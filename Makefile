# Everything is installed into .venv/ beside this file. All paths are relative and every tool is started as
# `.venv/bin/python -m TOOL`, because the clone's own path may hold spaces, which neither make nor `#!` lines take.

PYTHON ?= $(shell for python in python3.11 python3.12 python3.13 python3; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$python"; break; }; done)
CAN_INSTALL = [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null
IN_VENV = .venv/bin/python -m
PACKAGES = server model profiler

.DEFAULT_GOAL := help
.PHONY: help demo test check bench picture clean system-packages linker
.DELETE_ON_ERROR:

help: ## Show this list.
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 24

demo: .venv/demo.stamp ## Set up, then predict and measure every kernel in tests/kernels on the embedded CPU device.
	.venv/bin/python tests/demo/show.py $(ARGS)

test: .venv/dev.stamp ## Set up, then run all tests. ARGS="-k words" picks some.
	$(IN_VENV) pytest $(ARGS)

check: .venv/dev.stamp ## Lint, formatting, types.
	$(IN_VENV) ruff check .
	$(IN_VENV) ruff format --check .
	$(IN_VENV) mypy --strict $(PACKAGES)

bench: .venv/dev.stamp ## Keystroke to hint, predictions a second, analysis of a long file.
	.venv/bin/python tests/bench/run.py $(ARGS)

picture: .venv/demo.stamp ## Draw the pictures in the README anew, from a real run.
	.venv/bin/python tests/demo/show.py --picture editors/pictures/demo.svg
	.venv/bin/python tests/demo/editor.py editors/pictures/editor.svg

clean: ## Remove what the other targets made, .venv/ included.
	rm -rf .venv build dist kernelcast.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

system-packages: ## Install the Debian packages named here (as root): Python with venv, and a linker for PoCL.
	apt-get update -qq
	apt-get install -y -qq --no-install-recommends python3 python3-venv ca-certificates gcc libc6-dev

.venv/demo.stamp: pyproject.toml | linker .venv/bin/python
	$(IN_VENV) pip install --quiet --disable-pip-version-check --editable '.[pocl]'
	@touch $@

.venv/dev.stamp: pyproject.toml | linker .venv/bin/python
	$(IN_VENV) pip install --quiet --disable-pip-version-check --editable '.[pocl,dev]'
	@touch $@ .venv/demo.stamp

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
