# make demo    exports a model with real torch and runs it without libtorch
# make test    everything that CI runs
# make bench   Berth beside its peers; make fuzz, make lint, make clean
# Both set the machine up first (tools/setup.sh); the second time is quick.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup demo test lint bench fuzz clean

cmake := .venv/bin/cmake
ctest := .venv/bin/ctest
python := .venv/bin/python
export PYTHONPATH := python

help:
	@sed -n '1,4s/^# //p' Makefile

setup:
	@tools/setup.sh

build/%/CMakeCache.txt: | setup
	@echo "== configuring build/$*"
	@mkdir -p build
	@$(cmake) --preset $* > build/$*.log 2>&1 || { cat build/$*.log; exit 1; }

.PHONY: build-%
build-%: build/%/CMakeCache.txt
	@echo "== building build/$*"
	@$(cmake) --build --preset $*

demo: build-release
	@tools/demo.sh

test: setup
	@tools/test.sh

lint: setup
	@$(python) tools/lint.py

bench: build-release
	@$(python) bench/run.py
	@$(python) bench/load.py

# Ten minutes for each target, starting from its seeds.
fuzz: build-fuzz
	@for target in image policy identity payload program package; do \
	  mkdir -p build/fuzz/corpus/$$target; \
	  seeds=tests/corpus/$$target; [[ -d $$seeds ]] || seeds=build/fuzz/seeds/elf; \
	  build/fuzz/bin/$${target}_fuzz -max_total_time=600 -print_final_stats=1 \
	    build/fuzz/corpus/$$target $$seeds; \
	done

clean:
	rm -rf build python/berth/lib
