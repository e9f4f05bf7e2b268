# SPDX-License-Identifier: GPL-2.0
# The front door. `make help` says what there is.

KVER  ?= 7.3
BUILD ?= $(CURDIR)/build
# Test files that run at the same time.
JOBS  ?= 2
export KVER KSRC BUILD

.PHONY: all run check check-slow scan bench integrate clean help

all:
	@scripts/deps.sh build
	@scripts/build.sh

run: all
	@scripts/run.sh

check: all
	@scripts/deps.sh $(if $(findstring /slow/,$(TESTS)),slow,check)
	@env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS prove -j$(JOBS) $(PROVEFLAGS) $(TESTS)

TESTS = $(sort $(wildcard tests/*.t))

# What takes half an hour: a kernel is built and a regression bisected.
check-slow: TESTS = $(sort $(wildcard tests/slow/*.t))
check-slow: check

# KERNELS="6.12 6.16 ...", ARCH and more as in scripts/scan.sh
scan: all
	@scripts/deps.sh check
	@scripts/scan.sh

# How well a figure repeats, here and with other tools; takes half an hour.
bench: all
	@scripts/deps.sh bench
	@bench/bench.sh

integrate:
	@test -n "$(KTREE)" || { echo "integrate: give KTREE=/path/to/linux" >&2; exit 1; }
	@scripts/integrate.sh $(if $(filter-out 0,$(REMOVE)),-r) "$(KTREE)"
	@echo "integrate: $(KTREE): mprotect_perf is $(if $(filter-out 0,$(REMOVE)),out,in)"

clean:
	rm -rf "$(BUILD)"

help:
	@echo 'make             build build/mprotect_perf and build/mprotect-lab, static'
	@echo 'make run         build it, validate this kernel, time mprotect() for ten seconds'
	@echo 'make check       run all tests (TESTS=tests/NAME.t for one)'
	@echo 'make check-slow  build a kernel and bisect a regression in it'
	@echo 'make scan KERNELS="6.12 6.16 ..." [ARCH=arm64] [SMP=2] [OPTIONS="--tasks 1,2"]'
	@echo '                 instructions per page in each release, in QEMU'
	@echo 'make bench       how well figures repeat, beside google/benchmark and stress-ng'
	@echo 'make integrate KTREE=/path/to/linux [REMOVE=1]'
	@echo '                 put the selftest into a kernel tree, or take it out again'
	@echo 'make clean       remove build/, kernel sources and records included'
	@echo 'Built from Debian'\''s linux-source-KVER (KVER=7.3, 7.2, 6.12) or from KSRC=/path/to/linux.'
