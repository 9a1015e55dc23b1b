# The two commands of a newcomer are `make solve` and `make test`; the build itself is CMake's (see CMakePresets.json).
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
PROBLEM ?= poisson3d-27:n=100
export CMAKE_BUILD_PARALLEL_LEVEL = $(JOBS)

configure = test -f build/$(1)/build.ninja || cmake --preset $(1)

.PHONY: build solve test check format tidy install site wheel clean

# The command line and the library, in build/release.
build:
	@$(call configure,release)
	@cmake --build --preset release

# From a fresh machine to a solved problem, with a report in build/solve.json.
solve:
	@cmake/setup.sh
	@$(MAKE) --no-print-directory build
	build/release/cli/ayatori solve $(PROBLEM) --explain --json build/solve.json

# Every test, with every MPI, under the sanitizers, simulated and fuzzed.
test:
	@cmake/setup.sh --tests
	@cmake/test.sh

# What takes seconds: formatting, layers, prose, headers.
check:
	@python3 cmake/check_format.py
	@python3 cmake/check_layers.py
	@python3 cmake/check_prose.py
	@$(call configure,dev)
	@cmake --build --preset dev --target header_checks

format:
	@python3 cmake/check_format.py --fix

tidy:
	@$(call configure,dev)
	@python3 cmake/check_tidy.py --jobs $(JOBS) build/dev

install: build
	@cmake --install build/release --prefix $(PREFIX)

# The documentation as a site, in build/site: the pages, and the reference made from the program and the sources.
site: build
	@cmp -s docs/site/requirements.txt build/site-venv/requirements.txt || { python3 -m venv build/site-venv && \
	  build/site-venv/bin/pip install --quiet --disable-pip-version-check --requirement docs/site/requirements.txt && \
	  cp docs/site/requirements.txt build/site-venv/requirements.txt; }
	@NO_MKDOCS_2_WARNING=1 build/site-venv/bin/mkdocs build --quiet --strict
	@echo 'build/site/index.html; with search: python3 -m http.server --directory build/site'

# The binary wheel, in build/wheels: it needs no MPI, no compiler and none of Debian's packages where it is installed.
wheel:
	@cmake/setup.sh --tests
	@.venv/bin/python packaging/wheel/build.py build/wheels

clean:
	@rm -rf build
