# `make` alone lists what there is to make.

CFLAGS ?= -O2 -g
CXXFLAGS ?= -O2 -g
# Constants are enumerators; newer clang warns where one meets a floating-point number.
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-enum-float-conversion $(WERROR)
C_FLAGS = -std=gnu11 $(WARNINGS) $(CFLAGS) -pthread -MMD -MP -I.
CXX_FLAGS = -std=c++17 $(WARNINGS) $(CXXFLAGS) -pthread -MMD -MP -I.
ZE_LIBS := -lze_loader -ldl -lm

DEVICE := $(filter-out windows,$(patsubst tests/softgpu/%.c,%,$(wildcard tests/softgpu/*.c)))
FIXTURE := $(patsubst tests/%.c,%,$(filter-out tests/has_device.c tests/test_%,$(wildcard tests/*.c)))
TESTS := $(basename $(notdir $(wildcard tests/test_*.c tests/test_*.cpp)))
KERNELS := $(patsubst examples/kernels/%.cl,%,$(wildcard examples/kernels/*.cl))
ALL_KERNELS := $(KERNELS) $(basename $(notdir $(wildcard tests/kernels/*.cl)))
EXAMPLES := $(filter-out preload,$(basename $(notdir $(wildcard examples/*.c examples/*.cpp examples/*.cc))))
BENCHES := $(patsubst bench/%.c,%,$(wildcard bench/*.c))
KERNEL_BINARIES := $(KERNELS:%=build/kernels/%.so)
RUN_NEEDS := build/has_device build/libze_softgpu.so $(KERNEL_BINARIES)

# What single examples need beyond the rest.
CC_ranks := mpicc
NEEDS_ranks := mpicc:libopenmpi-dev mpirun:openmpi-bin
NEEDS_scoped = $(CXX_NEEDS)
RUN_ranks := mpirun -n 4 --oversubscribe --allow-run-as-root
LIBS_bench_google := -lbenchmark
NEEDS_bench_google = $(CXX_NEEDS) libbenchmark-dev
LIBS_trace := -Lbuild/examples -lstepper -Wl,-rpath,'$$ORIGIN'
RUN_trace := env ZE_ENABLE_TRACING_LAYER=1
RUN_timeline := env ZE_ENABLE_TRACING_LAYER=1
RUN_instrument := env ZE_ENABLE_TRACING_LAYER=1
RUN_hotspots := env ZE_ENABLE_TRACING_LAYER=1

ifndef V
.SILENT:
endif
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc)
endif
comma := ,
.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:

.PHONY: help
help: ## this list
	awk -F ':.*## ' '/^[a-zA-Z0-9%-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	echo
	echo "examples: $(sort $(EXAMPLES) preload)"
	echo "tests: $(sort $(TESTS))"

.PHONY: demo
demo: run-regions ## build the software device and the example 'regions', and run it

# ---- packages -------------------------------------------------------------------------------------------------

# The packages of Debian's compilers: gcc of cc, clang-19 of clang++-19.
CC_PACKAGE = $(patsubst cc,gcc,$(notdir $(firstword $(CC))))
CXX_PACKAGE = $(patsubst c++,g++,$(subst clang++,clang,$(notdir $(firstword $(CXX)))))

BUILD_NEEDS = $(firstword $(CC)):$(CC_PACKAGE) libc6-dev libze1 libze-dev
CXX_NEEDS = $(firstword $(CXX)):$(CXX_PACKAGE)
TEST_NEEDS = libcmocka-dev python3:python3
PAGE_NEEDS = chromium:chromium
SANITIZER_NEEDS = $(patsubst clang%,libclang-rt%-dev,$(filter clang%,$(CC_PACKAGE)))
PROMTOOL_NEEDS = promtool:prometheus
FUZZ_NEEDS = clang:clang libclang-rt-$(CLANG_VERSION)dev
CLANG_VERSION = $(shell clang -dumpversion 2>/dev/null | sed 's/\..*/-/')
MATRIX_NEEDS = gcc g++ clang g++-mingw-w64-x86-64-posix g++-mingw-w64-i686-posix
COVERAGE_NEEDS = gcc g++ python3:python3
ANALYSIS_NEEDS = gcc clang-tidy:clang-tidy cppcheck:cppcheck valgrind:valgrind
LINT_NEEDS = clang-format shellcheck python3:python3
ARM64_NEEDS = gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user cmake make xz:xz-utils
MUSL_NEEDS = musl-tools cmake make xz:xz-utils
I386_NEEDS = gcc-i686-linux-gnu g++-i686-linux-gnu libc6-dev-i386-cross cmake make xz:xz-utils
WINDOWS_NEEDS = g++-mingw-w64-x86-64-posix clang:clang wine wine64 cmake make xz:xz-utils

# All that the goals need is installed in one go, before anything is built.
GOALS := $(subst demo,run-regions,$(or $(MAKECMDGOALS),help))
GOAL_EXAMPLES := $(if $(filter deps examples,$(GOALS)),$(EXAMPLES),$(filter $(GOALS:run-%=%),$(EXAMPLES)))
GOAL_NEEDS = $(sort $(BUILD_NEEDS) $(foreach example,$(GOAL_EXAMPLES),$(NEEDS_$(example))) \
    $(if $(filter deps test test-% sequence coverage analysis,$(GOALS)),$(TEST_NEEDS)) \
    $(if $(filter deps test test-scoped test-plugins coverage,$(GOALS)),$(CXX_NEEDS)) \
    $(if $(filter deps test,$(GOALS)),$(SANITIZER_NEEDS)) $(if $(filter deps test-page pictures,$(GOALS)),$(PAGE_NEEDS)) \
    $(if $(filter deps test test-openmetrics,$(GOALS)),$(PROMTOOL_NEEDS)) \
    $(if $(filter deps matrix,$(GOALS)),$(TEST_NEEDS) $(MATRIX_NEEDS)) $(if $(filter deps coverage,$(GOALS)),$(COVERAGE_NEEDS)) \
    $(if $(filter deps analysis,$(GOALS)),$(ANALYSIS_NEEDS)) \
    $(if $(filter deps fuzz fuzz-random,$(GOALS)),$(FUZZ_NEEDS) python3:python3) $(if $(filter deps lint,$(GOALS)),$(LINT_NEEDS)) \
    $(if $(filter deps test-arm64,$(GOALS)),$(ARM64_NEEDS)) $(if $(filter deps test-i386,$(GOALS)),$(I386_NEEDS)) \
    $(if $(filter deps test-musl,$(GOALS)),$(MUSL_NEEDS)) \
    $(if $(filter deps test-windows,$(GOALS)),$(WINDOWS_NEEDS)))

.PHONY: deps deps-build deps-cxx deps-test deps-page deps-matrix deps-fuzz deps-analysis deps-lint \
    deps-windows deps-arm64 deps-i386 deps-musl
deps: deps-build ## install every package that any target needs
deps-build:
	tests/deps.sh $(GOAL_NEEDS)
deps-cxx: deps-build
	tests/deps.sh $(CXX_NEEDS)
deps-test: deps-build
	tests/deps.sh $(TEST_NEEDS)
deps-page: deps-test
	tests/deps.sh $(PAGE_NEEDS)
deps-matrix: deps-test
	tests/deps.sh $(MATRIX_NEEDS)
deps-fuzz: deps-build
	tests/deps.sh $(FUZZ_NEEDS)
deps-analysis: deps-test
	tests/deps.sh $(ANALYSIS_NEEDS)
deps-lint:
	tests/deps.sh $(LINT_NEEDS)
deps-arm64:
	tests/deps.sh $(ARM64_NEEDS)
deps-i386:
	tests/deps.sh $(I386_NEEDS)
deps-musl: deps-build
	tests/deps.sh $(MUSL_NEEDS)
deps-windows:
	tests/deps.sh $(WINDOWS_NEEDS)
deps-example-%: deps-build
	tests/deps.sh $(NEEDS_$*)

# ---- the software device and the tests, each in a variant -----------------------------------------------------

# Newer clang takes NaN for impossible even where it is asked about.
HONOR_NANS := $(if $(findstring clang,$(CC)),-fhonor-nans -fhonor-infinities)
# Without optimisation, which the sizes of types do not depend on, so that they are built soon.
cross_flags = -O0 -isystem build/$(1)/include -DBUILD_DIRECTORY='"build/$(1)/"' -Lbuild/$(1)/lib

# $(call variant,DIRECTORY,FLAGS,NEEDS)
# With sanitizers the device has undefined symbols: clang links their run-time library into programs alone.
define variant
$(1)/softgpu/%.o: tests/softgpu/%.c | deps-build $(3)
	mkdir -p $$(@D)
	$$(CC) $$(C_FLAGS) $(2) -fPIC -c -o $$@ $$<

$(1)/libze_softgpu.so: $(DEVICE:%=$(1)/softgpu/%.o)
	echo "  $$@"
	$$(CC) $$(C_FLAGS) $(2) -shared $(if $(2),,-Wl$(comma)-z$(comma)defs) -o $$@ $$^ -ldl -lm

$(1)/tests/%.o: tests/%.c | deps-test $(3)
	mkdir -p $$(@D)
	$$(CC) $$(C_FLAGS) $(2) -c -o $$@ $$<

$(1)/tests/%.o: tests/%.cpp | deps-test deps-cxx $(3)
	mkdir -p $$(@D)
	$$(CXX) $$(CXX_FLAGS) $(2) -c -o $$@ $$<

$(1)/tests/test_%: $(1)/tests/test_%.o $(FIXTURE:%=$(1)/tests/%.o)
	echo "  $$@"
	$$(if $$(wildcard tests/test_$$*.cpp),$$(CXX) $$(CXX_FLAGS),$$(CC) $$(C_FLAGS)) $(2) -o $$@ $$^ -lcmocka $$(ZE_LIBS)

# Plugins with a copy of the library each, and a program that knows the loader through them alone.
$(1)/tests/plugins/plugin_c.so: tests/plugins/plugin.c | deps-test $(3)
	mkdir -p $$(@D)
	$$(CC) $$(C_FLAGS) $(2) -fvisibility=hidden -fPIC -shared -o $$@ $$< $$(ZE_LIBS)

$(1)/tests/plugins/plugin_newer.so: tests/plugins/plugin.c $(1)/tests/plugins/newer/zetools.h | deps-test $(3)
	$$(CC) -I$(1)/tests/plugins/newer $$(C_FLAGS) $(2) -fvisibility=hidden -fPIC -shared -o $$@ $$< $$(ZE_LIBS)

$(1)/tests/plugins/newer/zetools.h: zetools.h
	mkdir -p $$(@D)
	sed -e 's/^#define ZETOOLS_VERSION ".*"/#define ZETOOLS_VERSION "newer"/' \
	    -e 's/^struct zt_profiler {/&\n    uint64_t added[7];/' $$< >$$@

$(1)/tests/plugins/plugin_cpp.so: tests/plugins/plugin.c | deps-test $(3)
	mkdir -p $$(@D)
	$$(CXX) $$(CXX_FLAGS) $(2) -fvisibility=hidden -fPIC -shared -x c++ -o $$@ $$< -x none $$(ZE_LIBS)

$(1)/tests/test_plugins: $(1)/tests/test_plugins.o | $(1)/tests/plugins/plugin_c.so $(1)/tests/plugins/plugin_cpp.so \
    $(1)/tests/plugins/plugin_newer.so
	echo "  $$@"
	$$(CC) $$(C_FLAGS) $(2) -o $$@ $$^ -lcmocka -ldl

# Runs a program that is built without the library, on a device without sanitizers.
$(1)/tests/test_preload: | build/libzt_auto.so build/examples/simulate build/libze_softgpu.so build/kernels/saxpy.so \
    build/kernels/reduce.so

$(1)/tests/test_softgpu_engines $(1)/tests/test_stamps $(1)/tests/test_latency $(1)/tests/test_every $(1)/tests/test_lost: | build/kernels/meet.so
# Runs the examples, on a device without sanitizers.
$(1)/tests/test_every_call: | build/tests/plugins/failing.so build/libze_softgpu.so build/libzt_auto.so build/kernels/saxpy.so build/kernels/endless.so \
    $(filter-out build/examples/bench_google build/examples/ranks,$(EXAMPLES:%=build/examples/%)) build/examples/simulate
$(1)/tests/test_softgpu_sampling: | build/kernels/hot.so build/kernels/functions.so
$(1)/tests/test_softgpu_debug $(1)/tests/test_debug $(1)/tests/test_watch: | build/kernels/endless.so build/kernels/hot.so
# Runs the example, on a device without sanitizers.
$(1)/tests/test_hotspots: | build/kernels/hot.so build/examples/hotspots build/examples/simulate \
    build/libzt_auto.so build/libze_softgpu.so build/kernels/cbrt.so build/kernels/saxpy.so build/kernels/reduce.so \
    build/kernels/cpp.so build/kernels/replacements.so
$(1)/tests/test_kernels: | build/kernels/cpp.so build/kernels/saxpy.so
$(1)/tests/test_softgpu_modules: | build/kernels/functions.so build/kernels/imports.so build/kernels/matmul.so \
    build/kernels/replacements.so
$(1)/tests/test_modules: | build/kernels/functions.so build/kernels/matmul.so build/kernels/reduce.so \
    build/kernels/replacements.so build/kernels/saxpy.so

# Loads a library that watches; runs the example, on a device without sanitizers.
$(1)/tests/test_watch: | build/tests/plugins/watching.so build/examples/hang build/libze_softgpu.so build/kernels/spin.so

# Programs of several files with a copy of the library each.
$(1)/tests/test_process: $(1)/tests/plugins/other_file.o

-include $(wildcard $(1)/tests/plugins/*.d)

.PHONY: $(1)/all
$(1)/all: $(1)/libze_softgpu.so $(TESTS:%=$(1)/tests/%)

-include $(wildcard $(1)/softgpu/*.d $(1)/tests/*.d)
endef

$(eval $(call variant,build,))
$(eval $(call variant,build/asan,-fsanitize=address$(comma)undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer))
$(eval $(call variant,build/tsan,-fsanitize=thread))
$(eval $(call variant,build/coverage,-O0 --coverage -fprofile-update=atomic -DCOVERAGE))
# gcov reads what gcc's programs count.
build/coverage/%: CC = gcc
build/coverage/%: CXX = g++

# A second driver for the loader, which does not load a file twice.
build/libze_second.so: build/libze_softgpu.so
	cp $< $@

# Programs for what an option of the compiler can break, each with the library and the device compiled so.
# lto: what is optimised across files: copies of the library in two of them, locks, the rings of streams.
LTO_TESTS := test_locks test_statistics test_streams test_regions
# o0: no inlining, and every variable on the stack: regions, statistics, streams, reports, C++.
O0_TESTS := test_regions test_statistics test_streams test_stamps test_reports test_scoped
# native: loops that are vectorised, over counters, time stamps and sums.
NATIVE_TESTS := test_statistics test_merge test_streams test_stamps
# fast: all that computes with values that may be NaN or infinite. The tests themselves are compiled without it,
# because they ask for NaN.
FAST_TESTS := test_statistics test_merge test_reports test_latency
# hidden: what is looked up by name, in the program and in shared objects. C++ has no exceptions and no type
# information: the plugin, which has the whole library in C++, and scopes.
HIDDEN_TESTS := test_scoped test_plugins test_open test_trace

$(eval $(call variant,build/lto,-flto=auto))
$(eval $(call variant,build/o0,-O0))
$(eval $(call variant,build/native,-O3 -march=native))
$(eval $(call variant,build/fast,))
$(eval $(call variant,build/hidden,))
# Linked so, a program also treats denormal numbers as 0.
build/fast/tests/fixture.o $(FAST_TESTS:%=build/fast/tests/%): private CFLAGS += -ffast-math $(HONOR_NANS)
build/hidden/tests/%: private CFLAGS += -fvisibility=hidden
build/hidden/tests/%: private CXXFLAGS += -fvisibility=hidden -fno-exceptions -fno-rtti
FLAGS := lto o0 native fast hidden
FLAG_TESTS := $(LTO_TESTS:%=build/lto/tests/%) $(O0_TESTS:%=build/o0/tests/%) $(NATIVE_TESTS:%=build/native/tests/%) \
    $(FAST_TESTS:%=build/fast/tests/%) $(HIDDEN_TESTS:%=build/hidden/tests/%)

# Compiled against the headers of the newest suite, to run on the oldest loader; where 'make suites' has fetched both.
NEWEST_HEADERS := $(wildcard build/suites/sid/include)
HEADERS := $(if $(NEWEST_HEADERS),headers)
$(eval $(call variant,build/headers,-O0 -isystem $(NEWEST_HEADERS)))

# Other machines, each with a loader that is cross-compiled.
$(eval $(call variant,build/arm64,$(call cross_flags,arm64),build/arm64/complete))
# With these, i386 programs need no launcher, so that they can execute themselves and each other.
I386_LINKING := -Wl$(comma)--dynamic-linker=/usr/i686-linux-gnu/lib/ld-linux.so.2 \
    -Wl$(comma)--disable-new-dtags$(comma)-rpath$(comma)$(CURDIR)/build/i386/lib:/usr/i686-linux-gnu/lib
# The device and the tests are written for 64 bits: there, sizes of 64 bits are kept in size_t (conversion), and
# compared with what no size_t of 32 bits exceeds (type-limits). psabi is a note about how older compilers have passed
# a structure. The header is compiled for 32 bits without these, in the matrix.
$(eval $(call variant,build/i386,$(call cross_flags,i386) $(I386_LINKING) -Wno-conversion -Wno-type-limits -Wno-psabi,build/i386/complete))
# On this machine, with the C library musl and a loader of the tests' own.
$(eval $(call variant,build/musl,$(call cross_flags,musl) -Wl$(comma)-rpath$(comma)$(CURDIR)/build/musl/lib,build/musl/complete build/musl/lib/libze_loader.so))
build/musl/%: private CC = musl-gcc
build/musl/%: private CXX = musl-gcc -fno-exceptions -fno-rtti
build/musl/lib/libze_loader.so: tests/musl/loader.c build/musl/loader/functions.def tests/softgpu/tables.def build/musl/complete
	$(CC) $(C_FLAGS) $(call cross_flags,musl) -Ibuild/musl/loader -fPIC -shared -Wl,-soname,$(@F).1 -o $@.1 $<
	ln -sfn $(@F).1 $@
build/musl/loader/functions.def: tests/softgpu/functions.def | build/musl/complete
	mkdir -p $(@D)
	sed 's/^SG_FUNCTION(\(ze[A-Z][^,]*, [^,]*, [^,]*, [^,]*, ze\)\([^,]*\),/SG_TRACED("zelTracer\2RegisterCallback", \1\2,/' $< >$@
build/arm64/%: private CC = aarch64-linux-gnu-gcc
build/arm64/%: private CXX = aarch64-linux-gnu-g++
build/i386/%: private CC = i686-linux-gnu-gcc
build/i386/%: private CXX = i686-linux-gnu-g++

build/tests/plugins/failing.so: tests/plugins/failing.c | deps-test
	mkdir -p $(@D)
	$(CC) $(C_FLAGS) -fPIC -shared -o $@ $< -ldl

build/tests/plugins/watching.so: tests/plugins/watching.c | deps-test
	mkdir -p $(@D)
	$(CC) $(C_FLAGS) -fPIC -shared -o $@ $< $(ZE_LIBS)

# Programs that tell the compiler that no value is NaN.
%/tests/test_fast_math.o: CFLAGS += -ffast-math $(HONOR_NANS)
build/windows/test_fast_math.o: CFLAGS += -ffast-math

# Programs in strict ISO C, without -pthread.
%/tests/test_strict.o: C_FLAGS = -std=c11 $(WARNINGS) $(CFLAGS) -MMD -MP -I.

.PHONY: test
test: build/libze_second.so build/all build/asan/all build/tsan/all $(HEADERS:%=build/%/all) $(FLAG_TESTS) $(FLAGS:%=build/%/libze_softgpu.so) $(KERNEL_BINARIES) ## all tests: plain, sanitizers, options of the compiler, layers, other loaders
	tests/run-tests.sh

test-%: build/libze_softgpu.so build/tests/test_% $(KERNEL_BINARIES) ## one test program, plain
	tests/run-tests.sh test_$*

.PHONY: test-page
test-page: build/libze_softgpu.so build/tests/test_page $(KERNEL_BINARIES) | deps-page ## run.html in a browser: figures, keyboard, screenshots (build/page)
	mkdir -p build/page
	ZT_PAGES=build/page tests/run-tests.sh test_page
	PYTHONDONTWRITEBYTECODE=1 tests/page/test_page.py build/page

# Run under the newest loader too, for the functions that the system's may lack.
COVERAGE_NEWER := test_trace test_open test_kernels test_streams test_passes test_watch test_stamps test_trace_off \
    test_lists test_lost test_regions test_auto test_bad_input

.PHONY: coverage
coverage: build/coverage/all $(KERNEL_BINARIES) ## lines and branches of the header that tests run, by chapter
	rm -rf build/coverage/data
	find build/coverage -name '*.gcda' -delete
	ZT_TEST_TIMEOUT=300 tests/run-tests.sh --variant coverage
	if [ -x build/suites/sid/run ]; then tests/run-tests.sh --variant coverage-sid $(COVERAGE_NEWER); fi
	PYTHONDONTWRITEBYTECODE=1 tests/coverage.py build/coverage

.PHONY: sequence
sequence: build/libze_softgpu.so build/tests/test_sequences $(KERNEL_BINARIES) ## one sequence of the model test: SEED=n
	env $(SEED:%=ZT_SEED=%) tests/run-tests.sh test_sequences

# ---- Windows: the device and the tests as programs that run under Wine ----------------------------------------

# What the device has on POSIX systems alone, and the tests of that; README.md says why.
WINDOWS_DEVICE := $(filter-out agent debug elf registers remote sampling signals stop target,$(DEVICE)) windows
WINDOWS_TESTS := $(shell tests/run-windows.sh --list)
WINDOWS_CC := x86_64-w64-mingw32-gcc-posix
# The compiler checks formats of printf as those of the C library of Microsoft (format), although the tests use those of
# mingw-w64. read and write of Microsoft take unsigned (conversion).
WINDOWS_FLAGS = $(filter-out -Wconversion,$(WARNINGS)) -Wno-format $(CFLAGS) -D__USE_MINGW_ANSI_STDIO=1 -MMD -MP -I. -Itests/windows \
    -isystem build/windows/include -include tests/windows/posix.h

build/windows/complete: tests/cross.sh tests/apt.sh | deps-windows
	tests/cross.sh windows

build/windows/softgpu/%.o: tests/softgpu/%.c build/windows/complete
	mkdir -p $(@D)
	$(WINDOWS_CC) -std=gnu11 $(WINDOWS_FLAGS) -c -o $@ $<

build/windows/%.o: tests/%.c build/windows/complete
	mkdir -p $(@D)
	$(WINDOWS_CC) -std=gnu11 $(WINDOWS_FLAGS) -c -o $@ $<

build/windows/ze_softgpu.dll: $(WINDOWS_DEVICE:%=build/windows/softgpu/%.o) build/windows/windows/posix.o
	echo "  $@"
	$(WINDOWS_CC) -shared -static -o $@ $^ -lpsapi

# A kernel's file has the name that it has elsewhere.
build/windows/kernels/%.so: examples/kernels/%.cl tests/softgpu/kernel.h build/windows/complete
	mkdir -p $(@D)
	$(WINDOWS_CC) -O2 -shared -static -Wl,--export-all-symbols -include tests/softgpu/kernel.h -x c -o $@ $<

build/windows/kernels/%.so: tests/kernels/%.cl tests/softgpu/kernel.h build/windows/complete
	mkdir -p $(@D)
	$(WINDOWS_CC) -O2 -shared -static -Wl,--export-all-symbols -Itests/windows -include tests/windows/posix.h \
	    -include tests/softgpu/kernel.h -x c -o $@ $<

build/windows/tests/%.exe: build/windows/%.o $(patsubst %,build/windows/%.o,$(filter-out endless,$(FIXTURE))) build/windows/windows/posix.o
	mkdir -p $(@D)
	echo "  $@"
	$(WINDOWS_CC) -static -o $@ $^ -Lbuild/windows/lib -lcmocka.dll -lze_loader.dll -lpsapi

.PHONY: windows test-windows
windows: $(WINDOWS_TESTS:%=build/windows/tests/%.exe) build/windows/ze_softgpu.dll \
    $(patsubst examples/kernels/%.cl,build/windows/kernels/%.so,$(wildcard examples/kernels/*.cl)) \
    $(patsubst tests/kernels/%.cl,build/windows/kernels/%.so,$(wildcard tests/kernels/*.cl))
test-windows: windows ## the tests that can run on Windows, under Wine, with the loader cross-compiled
	tests/run-windows.sh

-include $(wildcard build/windows/*.d build/windows/softgpu/*.d)

# ---- other machines: arm64 by qemu, i386 on the processor itself, and another C library: musl --------------------

# README.md says why the others are not run.
I386_TESTS := $(filter-out test_debug test_every_call test_hotspots test_kernels test_plugins test_preload test_softgpu_debug test_watch,$(TESTS))
ARM64_TESTS := $(filter-out test_all_functions test_bench test_debug test_every_call test_hotspots test_interrupted \
    test_plugins test_preload test_process test_reader test_reports test_sequences test_softgpu_debug \
    test_softgpu_sampling test_watch,$(TESTS))
MUSL_TESTS := $(filter-out test_every_call test_hotspots test_plugins test_preload test_scoped test_watch,$(TESTS))

# Whatever else is made in this directory waits for this, which empties it.
build/%/complete: tests/cross.sh tests/apt.sh | deps-%
	tests/cross.sh $*

define cross
build/$(1)/kernels/%.so: examples/kernels/%.cl tests/softgpu/kernel.h | build/$(1)/complete
	mkdir -p $$(@D)
	$$(CC) -O2 -g -shared -fPIC -Wl,--unique='.text.*' -include tests/softgpu/kernel.h -x c -o $$@ $$<

build/$(1)/kernels/%.so: tests/kernels/%.cl tests/softgpu/kernel.h | build/$(1)/complete
	mkdir -p $$(@D)
	$$(CC) -O2 -g -shared -fPIC -Wl,--unique='.text.*' -include tests/softgpu/kernel.h -x c -o $$@ $$<

.PHONY: test-$(1)
test-$(1): $(patsubst %,build/$(1)/tests/%,$(2)) build/$(1)/libze_softgpu.so $(ALL_KERNELS:%=build/$(1)/kernels/%.so)
	tests/run-tests.sh --variant $(1) $(2)
endef
test-arm64: ## tests as arm64 programs, under qemu
test-i386: ## tests as programs of 32 bits
test-musl: ## tests with the C library musl
$(eval $(call cross,arm64,$(ARM64_TESTS)))
$(eval $(call cross,i386,$(I386_TESTS)))
$(eval $(call cross,musl,$(MUSL_TESTS)))

# ---- fuzzing --------------------------------------------------------------------------------------------------

# Always with clang, which brings libFuzzer. The device is the plain one.
FUZZ_TARGETS := $(filter-out fuzz,$(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*.c)))
FUZZ_FLAGS = -std=gnu11 $(WARNINGS) -O1 -g -pthread -MMD -MP -I. -fno-sanitize-recover=all \
    -fsanitize=fuzzer-no-link,address,undefined,float-cast-overflow

build/fuzz/%.o: tests/fuzz/%.c | deps-fuzz
	mkdir -p $(@D)
	clang $(FUZZ_FLAGS) -c -o $@ $<

build/fuzz/%: build/fuzz/%.o build/fuzz/fuzz.o
	echo "  $@"
	clang $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ $(ZE_LIBS)

-include $(wildcard build/fuzz/*.d)

.PHONY: fuzz fuzz-random
fuzz fuzz-random: $(FUZZ_TARGETS:%=build/fuzz/%) build/libze_softgpu.so build/kernels/saxpy.so
fuzz: ## fuzz each target for FUZZ_SECONDS (10) with the same seed, and read the reports back
	FUZZ_SEED=1 tests/fuzz/run.sh $(FUZZ_TARGETS)
fuzz-random: ## the same with a new seed, and from what such runs have found before
	tests/fuzz/run.sh $(FUZZ_TARGETS)

fuzz-%: build/fuzz/% build/libze_softgpu.so build/kernels/saxpy.so ## fuzz one target
	tests/fuzz/run.sh $*

# ---- kernels and examples -------------------------------------------------------------------------------------

build/kernels/%.so: examples/kernels/%.cl tests/softgpu/kernel.h | deps-build
	mkdir -p $(@D)
	$(CC) -O2 -g -shared -fPIC -Wl,--unique='.text.*' -include tests/softgpu/kernel.h -x c -o $@ $<

# Of tests alone.
build/kernels/%.so: tests/kernels/%.cl tests/softgpu/kernel.h | deps-build
	mkdir -p $(@D)
	$(CC) -O2 -g -shared -fPIC -Wl,--unique='.text.*' -include tests/softgpu/kernel.h -x c -o $@ $<

# For real devices: SPIR-V, by clang and the translator of its version.
.PHONY: spirv deps-spirv
spirv: $(KERNELS:%=build/kernels/%.spv) ## build the kernels for real devices
deps-spirv: deps-build
	tests/deps.sh clang:clang
	version=$$(clang -dumpversion | cut -d. -f1) && tests/deps.sh llvm-spirv-$$version:llvm-spirv-$$version

build/kernels/%.spv: examples/kernels/%.cl tests/softgpu/kernel.h | deps-spirv
	mkdir -p $(@D)
	clang -x cl -cl-std=CL2.0 --target=spir64 -O2 -gline-tables-only -emit-llvm -include tests/softgpu/kernel.h -c -o $(@:spv=bc) $<
	llvm-spirv-$$(clang -dumpversion | cut -d. -f1) -o $@ $(@:spv=bc)

build/examples/%: examples/%.c | deps-example-%
	mkdir -p $(@D)
	echo "  $@"
	$(or $(CC_$*),$(CC)) $(C_FLAGS) -o $@ $< $(LIBS_$*) $(ZE_LIBS)

build/examples/%: examples/%.cpp | deps-example-%
	mkdir -p $(@D)
	echo "  $@"
	$(CXX) $(CXX_FLAGS) -o $@ $< $(LIBS_$*) $(ZE_LIBS)

build/examples/%: examples/%.cc | deps-example-%
	mkdir -p $(@D)
	echo "  $@"
	$(CXX) $(CXX_FLAGS) -o $@ $< $(LIBS_$*) $(ZE_LIBS)

build/kernels/gcd_counted.so build/kernels/gcd_counted.spv: examples/kernels/gcd.cl

# The library of others that the example 'trace' looks into.
build/examples/trace: build/examples/libstepper.so
build/examples/libstepper.so: examples/third_party/stepper.c examples/third_party/stepper.h | deps-build
	mkdir -p $(@D)
	echo "  $@"
	$(CC) $(C_FLAGS) -fPIC -shared -o $@ $< -lze_loader

# A program that knows nothing of zetools, and the library that profiles it all the same.
build/examples/simulate: examples/third_party/simulate.c build/examples/libstepper.so | deps-build
	mkdir -p $(@D)
	echo "  $@"
	$(CC) $(C_FLAGS) -o $@ $< $(LIBS_trace) -lze_loader

.PHONY: preload
preload: build/libzt_auto.so ## build/libzt_auto.so: LD_PRELOAD=build/libzt_auto.so ZT_AUTO=run.csv PROGRAM
build/libzt_auto.so: examples/preload.c | deps-build
	mkdir -p $(@D)
	echo "  $@"
	$(CC) $(C_FLAGS) -fPIC -shared -o $@ $< $(ZE_LIBS)

run-preload: build/libzt_auto.so build/examples/simulate $(RUN_NEEDS)
	if tests/run-on-device.sh; then $(MAKE) --no-print-directory spirv; fi
	tests/run-on-device.sh env LD_PRELOAD=build/libzt_auto.so build/examples/simulate

build/has_device: tests/has_device.c | deps-build
	mkdir -p $(@D)
	$(CC) $(C_FLAGS) -o $@ $< $(ZE_LIBS)

-include $(wildcard build/*.d build/examples/*.d build/bench/*.d)

.PHONY: examples
examples: $(EXAMPLES:%=build/examples/%) build/libzt_auto.so build/examples/simulate $(RUN_NEEDS) ## build all examples to build/examples/

run-%: build/examples/% $(RUN_NEEDS) ## build and run one example
	if tests/run-on-device.sh; then $(MAKE) --no-print-directory spirv; fi
	touch build/started
	tests/run-on-device.sh $(RUN_$*) $<
	find . -maxdepth 1 -name 'run.*' -newer build/started -printf 'wrote %f\n' | sort

.PHONY: bench
bench: $(BENCHES:%=build/bench/%) $(RUN_NEEDS) ## what the library costs, as ratios; build/bench.json
	bench/run.sh $(BENCHES:%=build/bench/%)

build/bench/overlap: | build/kernels/idle.so
build/bench/%: bench/%.c | deps-build
	mkdir -p $(@D)
	$(CC) $(C_FLAGS) -o $@ $< $(ZE_LIBS)

# ---- checks ---------------------------------------------------------------------------------------------------

.PHONY: matrix
matrix: | deps-matrix ## compile the header in every language, compiler and mode
	tests/compile/matrix.sh

# Test programs that run under valgrind in two minutes together. Not run are those that take half a minute or more each,
# or fail there as their deadlines are too short; that interrupt kernels by signals; that run other programs; and
# test_process, whose child processes end with memory in use.
ANALYSIS_PROGRAMS := $(filter-out test_all_functions test_auto test_bench test_debug test_every test_every_call \
    test_faults test_hotspots test_interrupted test_lists test_locks test_minute test_preload test_process test_reports \
    test_sequences test_soak test_softgpu_debug test_softgpu_sampling test_timeline test_watch,$(TESTS))

.PHONY: analysis
analysis: $(ANALYSIS_PROGRAMS:%=build/tests/%) build/libze_softgpu.so $(KERNEL_BINARIES) | deps-analysis ## gcc's and clang's analysers, clang-tidy, cppcheck, valgrind
	tests/analysis.sh $(ANALYSIS_PROGRAMS)

.PHONY: suites
suites: ## fetch the headers and loaders of other Debian suites
	tests/suites.sh

.PHONY: lint
lint: | deps-lint ## formatting, and what must not be in the tree
	tests/lint.sh

.PHONY: format
format: ## bring all sources into shape
	find . \( -name .git -o -path ./build \) -prune -o -type f -regex '.*\.\(h\|c\|cpp\|cc\|cl\)' -print | \
	    xargs clang-format -i

.PHONY: pictures
pictures: build/libzt_auto.so build/examples/simulate build/examples/hang build/examples/regions $(RUN_NEEDS) | deps-page ## the pictures of README.md, of runs of the examples
	tests/pictures.sh

.PHONY: clean
clean: ## remove what was built and what examples wrote (run.*), except the fetched suites
	rm -f run.*
	find build -mindepth 1 -maxdepth 1 ! -name suites -exec rm -r {} + 2>/dev/null || true
