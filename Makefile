# `make` alone lists what there is to make.

comma := ,
empty :=
space := $(empty) $(empty)

# BUILD=dir builds elsewhere, so that the sources may be read-only. What examples write (run.*) is there, too.
BUILD ?= build
export BUILD
export PYTHONDONTWRITEBYTECODE := 1
RUN_IN := $(if $(filter build,$(BUILD)),.,$(BUILD))

# Level Zero is where the compiler finds it, or in ZE_DIR: a prefix such as /opt/level-zero, or unpacked packages.
ifdef ZE_DIR
ZE_HEADERS := $(addprefix -isystem ,$(wildcard $(addprefix $(abspath $(ZE_DIR))/,include usr/include)))
ZE_LIBRARIES := $(wildcard $(addprefix $(abspath $(ZE_DIR))/,lib lib64 lib/*-linux-gnu usr/lib usr/lib64 usr/lib/*-linux-gnu))
ZE_LOADER := $(foreach dir,$(ZE_LIBRARIES),-L$(dir) -Wl,-rpath,$(dir))
# For the loader, which looks for its layers.
export LD_LIBRARY_PATH := $(subst $(space),:,$(strip $(ZE_LIBRARIES) $(LD_LIBRARY_PATH)))
endif
ZE_LIBS = $(ZE_LOADER) -lze_loader -ldl -lm

CFLAGS ?= -O2 -g
CXXFLAGS ?= -O2 -g
# Constants are enumerators; newer clang warns where one meets a floating-point number.
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-enum-float-conversion $(WERROR)
ALL_FLAGS = $(WARNINGS) -MMD -MP -I. $(ZE_HEADERS)
C_FLAGS = -std=gnu11 $(CFLAGS) -pthread $(ALL_FLAGS)
CXX_FLAGS = -std=c++17 $(CXXFLAGS) -pthread $(ALL_FLAGS)
# Newer clang takes NaN for impossible even where it is asked about.
FAST_MATH := -ffast-math $(if $(findstring clang,$(CC)),-fhonor-nans -fhonor-infinities)

DEVICE := $(filter-out windows,$(patsubst tests/softgpu/%.c,%,$(wildcard tests/softgpu/*.c)))
FIXTURE := $(patsubst tests/%.c,%,$(filter-out tests/has_device.c tests/test_%,$(wildcard tests/*.c)))
TESTS := $(basename $(notdir $(wildcard tests/test_*.c tests/test_*.cpp)))
KERNELS := $(basename $(notdir $(wildcard examples/kernels/*.cl)))
ALL_KERNELS := $(KERNELS) $(basename $(notdir $(wildcard tests/kernels/*.cl)))
EXAMPLES := $(filter-out preload,$(basename $(notdir $(wildcard examples/*.c examples/*.cpp examples/*.cc))))
BENCHES := $(patsubst bench/%.c,%,$(wildcard bench/*.c))
RUN_NEEDS := $(BUILD)/has_device $(BUILD)/libze_softgpu.so $(KERNELS:%=$(BUILD)/kernels/%.so)

# What single examples need beyond the rest.
CC_ranks := mpicc
RUN_ranks := mpirun -n 4 --oversubscribe --allow-run-as-root
LIBS_bench_google := -lbenchmark
LIBS_onednn := -ldnnl
LIBS_primitives := -ldnnl
LIBS_loops := -ltrilinos_kokkoscore
LIBS_trace = -L$(@D) -lstepper -Wl,-rpath,'$$ORIGIN'
LIBS_phases = $(LIBS_trace)
RUN_onednn = env INTEL_LIBITTNOTIFY64='$(abspath $(BUILD))/libzt_auto.so' ONEDNN_ITT_TASK_LEVEL=1 ZE_ENABLE_TRACING_LAYER=1
$(foreach name,trace phases timeline instrument hotspots,$(eval RUN_$(name) := env ZE_ENABLE_TRACING_LAYER=1))

ifndef V
.SILENT:
endif
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc)
endif
.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:

.PHONY: help
help: ## this list
	awk -F ':.*## ' '/^[a-zA-Z0-9%-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	echo
	echo "examples: $(sort $(EXAMPLES) preload)"
	echo "tests: $(sort $(TESTS))"

# ---- packages -------------------------------------------------------------------------------------------------

# What is needed, and the packages of Debian that bring it: tests/deps.sh. Debian's packages of compilers: gcc of cc,
# clang-19 of clang++-19.
CC_PACKAGE = $(patsubst cc,gcc,$(notdir $(firstword $(CC))))
CXX_PACKAGE = $(patsubst c++,g++,$(subst clang++,clang,$(notdir $(firstword $(CXX)))))
CLANG_VERSION = $(shell clang -dumpversion 2>/dev/null | sed 's/\..*//')
CROSS_NEEDS = cmake make xz:xz-utils

NEEDS_build = $(firstword $(CC)):$(CC_PACKAGE) stdlib.h:libc6-dev level_zero/zet_api.h+ze_loader:libze1+libze-dev
NEEDS_cxx = $(firstword $(CXX)):$(CXX_PACKAGE)
NEEDS_test = $(NEEDS_cxx) cmocka.h+cmocka:libcmocka-dev python3:python3
NEEDS_check = $(patsubst clang%,libclang-rt%-dev,$(filter clang%,$(CC_PACKAGE))) python3-prometheus-client python3-protobuf
NEEDS_page = chromium:chromium
NEEDS_fuzz = clang:clang libclang-rt-$(CLANG_VERSION:%=%-)dev python3:python3
NEEDS_matrix = gcc g++ clang g++-mingw-w64-x86-64-posix g++-mingw-w64-i686-posix
NEEDS_coverage = gcc g++
NEEDS_analysis = gcc clang-tidy:clang-tidy cppcheck:cppcheck valgrind:valgrind
NEEDS_lint = clang-format shellcheck eslint:eslint tidy:tidy python3:python3
NEEDS_arm64 = gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user $(CROSS_NEEDS)
NEEDS_i386 = gcc-i686-linux-gnu g++-i686-linux-gnu libc6-dev-i386-cross qemu-user $(CROSS_NEEDS)
NEEDS_musl = musl-tools $(CROSS_NEEDS)
NEEDS_windows = g++-mingw-w64-x86-64-posix clang:clang wine wine64 $(CROSS_NEEDS)
NEEDS_spirv = clang:clang $(foreach version,$(CLANG_VERSION),llvm-spirv-$(version):llvm-spirv-$(version))
NEEDS_ranks := mpicc:libopenmpi-dev mpirun:openmpi-bin
NEEDS_scoped = $(NEEDS_cxx)
NEEDS_bench_google = $(NEEDS_cxx) libbenchmark-dev
NEEDS_onednn = $(NEEDS_cxx) oneapi/dnnl/dnnl.h+dnnl:libdnnl-dev
NEEDS_primitives = $(NEEDS_onednn)
NEEDS_loops = $(NEEDS_cxx) libtrilinos-kokkos-dev
ALL_NEEDS := build test check page fuzz matrix coverage analysis lint arm64 i386 musl windows spirv loops $(EXAMPLES)

deps-%:
	CC='$(CC)' ZE_FLAGS='$(ZE_HEADERS) $(ZE_LOADER)' tests/deps.sh $(NEEDS_$*)
.PHONY: deps
deps: ## install every package that any target needs
	CC='$(CC)' ZE_FLAGS='$(ZE_HEADERS) $(ZE_LOADER)' tests/deps.sh $(sort $(foreach name,$(ALL_NEEDS),$(NEEDS_$(name))))

# ---- kernels and examples -------------------------------------------------------------------------------------

.PHONY: demo
demo: $(BUILD)/examples/regions $(BUILD)/examples/peaks $(RUN_NEEDS) ## build the software device and the example 'regions', and run it
	echo "The example 'regions' uploads, adds vectors (saxpy), multiplies matrices and sums up (reduce), 100 times."
	echo "It names each of these with zt_begin and zt_end, and zetools measures them on the device. That is a GPU where"
	echo "the Level Zero loader finds one, else one in software: $(BUILD)/libze_softgpu.so, a driver behind the same loader,"
	echo "which runs the kernels on the processor. Its times and metrics are measured there."
	echo "Then the program prints a table, and writes the same as files. What the device can do at the most, with which the"
	echo "kernels are compared, is measured first, by the example 'peaks':"
	echo
	peaks=$$($(MAKE) --no-print-directory run-peaks) && echo && \
	    env $$peaks $(MAKE) --no-print-directory run-regions
	echo
	echo "Look at run.html in a browser. The program is examples/regions.c; 'make' lists the other examples."

# $(call kernels,DIRECTORY,COMPILER,FLAGS,NEEDS)
define kernels
$(1)/kernels/%.so: examples/kernels/%.cl tests/softgpu/kernel.h | $(4)
	mkdir -p $$(@D)
	$(2) -O2 -shared $(3) -include tests/softgpu/kernel.h -x c -o $$@ $$<

$(1)/kernels/%.so: tests/kernels/%.cl tests/softgpu/kernel.h | $(4)
	mkdir -p $$(@D)
	$(2) -O2 -shared $(3) -include tests/softgpu/kernel.h -x c -o $$@ $$<
endef
$(eval $(call kernels,$(BUILD),$$(CC),-g -fPIC -Wl$(comma)--unique='.text.*',deps-build))
$(BUILD)/kernels/gcd_counted.so $(BUILD)/kernels/gcd_counted.spv: examples/kernels/gcd.cl

# For real devices: SPIR-V, by clang and the translator of its version.
.PHONY: spirv
spirv: $(KERNELS:%=$(BUILD)/kernels/%.spv) ## build the kernels for real devices
$(BUILD)/kernels/%.spv: examples/kernels/%.cl tests/softgpu/kernel.h | deps-build deps-spirv
	mkdir -p $(@D)
	clang -x cl -cl-std=CL2.0 --target=spir64 -O2 -gline-tables-only -emit-llvm -include tests/softgpu/kernel.h -c -o $(@:spv=bc) $<
	llvm-spirv-$$(clang -dumpversion | cut -d. -f1) -o $@ $(@:spv=bc)

# $(call examples,DIRECTORY,FLAGS,DIRECTORY OF libzt_auto.so): all examples; the library of others that 'trace' looks into;
# a program that knows nothing of zetools, and the library that profiles it all the same.
define examples
$(1)/%: examples/%.c | deps-build deps-%
	mkdir -p $$(@D)
	echo "  $$@"
	$$(or $$(CC_$$*),$$(CC)) $$(C_FLAGS) $(2) -o $$@ $$< $$(LIBS_$$*) $$(ZE_LIBS)

$(1)/%: examples/%.cpp | deps-build deps-%
	mkdir -p $$(@D)
	echo "  $$@"
	$$(CXX) $$(CXX_FLAGS) $(2) -o $$@ $$< $$(LIBS_$$*) $$(ZE_LIBS)

$(1)/%: examples/%.cc | deps-build deps-%
	mkdir -p $$(@D)
	echo "  $$@"
	$$(CXX) $$(CXX_FLAGS) $(2) -o $$@ $$< $$(LIBS_$$*) $$(ZE_LIBS)

$(1)/trace $(1)/phases $(1)/simulate: $(1)/libstepper.so
$(1)/libstepper.so: examples/third_party/stepper.c examples/third_party/stepper.h | deps-build
	mkdir -p $$(@D)
	echo "  $$@"
	$$(CC) $$(C_FLAGS) -fPIC -shared -o $$@ $$< $$(ZE_LIBS)

$(1)/simulate: examples/third_party/simulate.c | deps-build
	mkdir -p $$(@D)
	echo "  $$@"
	$$(CC) $$(C_FLAGS) $(2) -o $$@ $$< $$(LIBS_trace) $$(ZE_LIBS)

$(3)/libzt_auto.so: examples/preload.c | deps-build
	mkdir -p $$(@D)
	echo "  $$@"
	$$(CC) $$(C_FLAGS) $(2) -fPIC -shared -o $$@ $$< $$(ZE_LIBS)

-include $$(wildcard $(1)/*.d)
endef
# They also run without make: there, the loader finds its layers in ZE_DIR by an RPATH, not by a RUNPATH.
$(eval $(call examples,$(BUILD)/examples,$(if $(ZE_DIR),-Wl$(comma)--disable-new-dtags),$(BUILD)))
# For the tests, which run examples, and have no use for optimised ones.
$(eval $(call examples,$(BUILD)/examples-O0,-O0,$(BUILD)/examples-O0))

# Programs that only tests run, as examples: they name their work for other tools.
$(BUILD)/examples-O0/programs/loops: private CXX_FLAGS = -std=c++17 $(CXXFLAGS) -pthread -MMD -MP -isystem /usr/include/trilinos $(ZE_HEADERS)
$(BUILD)/examples-O0/programs/%: tests/programs/%.c $(BUILD)/examples-O0/libstepper.so | deps-build deps-%
	mkdir -p $(@D)
	echo "  $@"
	$(CC) $(C_FLAGS) -O0 -o $@ $< -L$(BUILD)/examples-O0 -lstepper -Wl,-rpath,'$$ORIGIN/..' $(LIBS_$*) $(ZE_LIBS)
$(BUILD)/examples-O0/programs/%: tests/programs/%.cpp $(BUILD)/examples-O0/libstepper.so | deps-build deps-%
	mkdir -p $(@D)
	echo "  $@"
	$(CXX) $(CXX_FLAGS) -O0 -o $@ $< -L$(BUILD)/examples-O0 -lstepper -Wl,-rpath,'$$ORIGIN/..' $(LIBS_$*) $(ZE_LIBS)
$(BUILD)/examples-O0/programs/itt_auto: tests/programs/itt.c $(BUILD)/examples-O0/libstepper.so | deps-build
	mkdir -p $(@D)
	echo "  $@"
	$(CC) $(C_FLAGS) -O0 -DWITH_ZT_AUTO -o $@ $< -L$(BUILD)/examples-O0 -lstepper -Wl,-rpath,'$$ORIGIN/..' $(ZE_LIBS)
-include $(wildcard $(BUILD)/examples-O0/programs/*.d)

.PHONY: preload
preload: $(BUILD)/libzt_auto.so ## the library that profiles programs which nobody recompiled: LD_PRELOAD
	echo 'LD_PRELOAD=$(abspath $<) ZT_AUTO=run.html PROGRAM'
	case '$(abspath $<)' in *[\ :]*) \
	    echo 'LD_PRELOAD takes no path with a space or a colon: the program would run unprofiled. Copy the file elsewhere.' >&2 ;; \
	esac

run-preload: $(BUILD)/libzt_auto.so $(BUILD)/examples/simulate $(RUN_NEEDS)
	if tests/run-on-device.sh; then $(MAKE) --no-print-directory spirv; fi
	tests/run-on-device.sh env LD_PRELOAD=$(BUILD)/libzt_auto.so $(BUILD)/examples/simulate

$(BUILD)/has_device: tests/has_device.c | deps-build
	mkdir -p $(@D)
	$(CC) $(C_FLAGS) -o $@ $< $(ZE_LIBS)

.PHONY: examples
examples: $(EXAMPLES:%=$(BUILD)/examples/%) $(BUILD)/libzt_auto.so $(BUILD)/examples/simulate $(RUN_NEEDS) ## build all examples to build/examples/

run-onednn: $(BUILD)/libzt_auto.so
run-gather: $(BUILD)/examples/gather $(BUILD)/libzt_auto.so $(BUILD)/examples/simulate $(RUN_NEEDS)
	if tests/run-on-device.sh; then $(MAKE) --no-print-directory spirv; fi
	cd $(RUN_IN) && rm -f run.[0-3].zt && for rank in 0 1 2 3; do '$(CURDIR)/tests/run-on-device.sh' env RANK=$$rank 'ZT_AUTO=run.%q{RANK}.zt' \
	    LD_PRELOAD='$(abspath $(BUILD))/libzt_auto.so' '$(abspath $(BUILD))/examples/simulate' >/dev/null & done; wait
	cd $(RUN_IN) && '$(abspath $<)' run.0.zt run.1.zt run.2.zt run.3.zt - && '$(abspath $<)' run.[0-3].zt run.ranks.html
run-%: $(BUILD)/examples/% $(RUN_NEEDS) ## build and run one example
	if tests/run-on-device.sh; then $(MAKE) --no-print-directory spirv; fi
	touch $(BUILD)/started
	cd $(RUN_IN) && '$(CURDIR)/tests/run-on-device.sh' $(RUN_$*) '$(abspath $<)'
	find $(RUN_IN) -maxdepth 1 -name 'run.*' -newer $(BUILD)/started -printf 'wrote %p\n' | sed 's|\./||' | sort

.PHONY: bench
bench: $(BENCHES:%=$(BUILD)/bench/%) $(RUN_NEEDS) ## what the library costs, as ratios; build/bench.json
	bench/run.sh $(BENCHES:%=$(BUILD)/bench/%)

$(BUILD)/bench/overlap: | $(BUILD)/kernels/idle.so
$(BUILD)/bench/gather: | $(BUILD)/examples/gather
$(BUILD)/bench/%: bench/%.c | deps-build
	mkdir -p $(@D)
	$(CC) $(C_FLAGS) -o $@ $< $(ZE_LIBS)

-include $(wildcard $(BUILD)/*.d $(BUILD)/bench/*.d)

# ---- Intel's own driver ---------------------------------------------------------------------------------------

# NEO=ROOT: tests/intel/README.md says what has to be there. Not part of the checks, because drivers move on.
.PHONY: test-intel bench-intel intel-kernels
test-intel: ## examples, random sequences and former faults on Intel's own driver: NEO=ROOT
	tests/intel/run.sh test
bench-intel: ## what the library costs there
	tests/intel/run.sh bench

# These are made inside ROOT, where compiler, loader and headers are those of its system.
intel-kernels: $(KERNELS:%=$(BUILD)/kernels/%.spv)
$(BUILD)/intel/%: tests/intel/%.c | deps-build
	mkdir -p $(@D)
	$(CC) $(C_FLAGS) -O0 -o $@ $< $(ZE_LIBS)
$(BUILD)/intel/%-asan: tests/intel/%.c | deps-build
	mkdir -p $(@D)
	$(CC) $(C_FLAGS) -O0 -fsanitize=address,undefined -o $@ $< $(ZE_LIBS)

-include $(wildcard $(BUILD)/intel/*.d)

# ---- the software device and the tests, each in a variant -----------------------------------------------------

# $(call objects,DIRECTORY,FLAGS OF THE DEVICE,FLAGS OF THE TESTS,NEEDS,DIRECTORY OF WHAT TESTS LOAD)
# With sanitizers the device has undefined symbols: clang links their run-time library into programs alone.
define objects
$(1)/softgpu/%.o: tests/softgpu/%.c | deps-build $(4)
	mkdir -p $$(@D)
	$$(CC) $$(C_FLAGS) $(2) -fPIC -c -o $$@ $$<

$(1)/libze_softgpu.so: $(DEVICE:%=$(1)/softgpu/%.o)
	echo "  $$@"
	$$(CC) $$(C_FLAGS) $(2) -shared $(if $(2),,-Wl$(comma)-z$(comma)defs) -o $$@ $$^ -ldl -lm

$(1)/tests/fixture.o: private ALL_FLAGS += -DBUILD_DIRECTORY='"$(abspath $(5))/"' -DSOURCE_DIRECTORY='"$(CURDIR)/"'
$(1)/tests/%.o: tests/%.c | deps-build deps-test $(4)
	mkdir -p $$(@D)
	$$(CC) $$(C_FLAGS) $(3) -c -o $$@ $$<

$(1)/tests/%.o: tests/%.cpp | deps-build deps-test $(4)
	mkdir -p $$(@D)
	$$(CXX) $$(CXX_FLAGS) $(3) -c -o $$@ $$<

# Programs of several files with a copy of the library each.
$(1)/tests/test_process: $(1)/tests/plugins/other_file.o

$(1)/tests/test_scoped: $(1)/tests/plugins/other_version.o

# In C++, and of another version.
$(1)/tests/plugins/other_version.o: private CXXFLAGS += -I$(1)/tests/plugins/newer
$(1)/tests/plugins/other_version.o: $(1)/tests/plugins/newer/zetools.h

# Plugins with a copy of the library each, and a program that knows the loader through them alone.
$(1)/tests/plugins/plugin_c.so: tests/plugins/plugin.c | deps-build deps-test $(4)
	mkdir -p $$(@D)
	$$(CC) $$(C_FLAGS) $(3) -fvisibility=hidden -fPIC -shared -o $$@ $$< $$(ZE_LIBS)

$(1)/tests/plugins/plugin_newer.so: tests/plugins/plugin.c $(1)/tests/plugins/newer/zetools.h | deps-build deps-test $(4)
	$$(CC) -I$(1)/tests/plugins/newer $$(C_FLAGS) $(3) -fvisibility=hidden -fPIC -shared -o $$@ $$< $$(ZE_LIBS)

$(1)/tests/plugins/newer/zetools.h: zetools.h
	mkdir -p $$(@D)
	sed -e 's/^#define ZETOOLS_VERSION ".*"/#define ZETOOLS_VERSION "newer"/' \
	    -e 's/^struct zt_profiler {/&\n    uint64_t added[7];/' $$< >$$@

$(1)/tests/plugins/plugin_cpp.so: tests/plugins/plugin.c | deps-build deps-test $(4)
	mkdir -p $$(@D)
	$$(CXX) $$(CXX_FLAGS) $(3) -fvisibility=hidden -fPIC -shared -x c++ -o $$@ $$< -x none $$(ZE_LIBS)

$(1)/tests/test_plugins: $(1)/tests/test_plugins.o | $(1)/tests/plugins/plugin_c.so $(1)/tests/plugins/plugin_cpp.so \
    $(1)/tests/plugins/plugin_newer.so
	echo "  $$@"
	$$(CC) $$(C_FLAGS) $(3) -o $$@ $$^ -lcmocka -ldl

-include $$(wildcard $(1)/softgpu/*.d $(1)/tests/*.d $(1)/tests/plugins/*.d)
endef

# $(call programs,DIRECTORY,FLAGS,OF THE LIBRARY,OF THE TESTS): test programs, with the library and the tests from the
# objects of one directory each.
define programs
$(1)/tests/test_%: $(4)/tests/test_%.o $(3)/tests/fixture.o $(patsubst %,$(4)/tests/%.o,$(filter-out fixture,$(FIXTURE)))
	mkdir -p $$(@D)
	echo "  $$@"
	$$(if $$(wildcard tests/test_$$*.cpp),$$(CXX) $$(CXX_FLAGS),$$(CC) $$(C_FLAGS)) $(2) -o $$@ $$^ -lcmocka $$(ZE_LIBS)
endef

# $(call variant,NAME,FLAGS[,NEEDS,DIRECTORY OF WHAT TESTS LOAD]): all compiled with these.
variant = $(call objects,$(BUILD)/$(1),$(2),$(2),$(3),$(or $(4),$(BUILD)))$(newline)$(call programs,$(BUILD)/$(1),$(2),$(BUILD)/$(1),$(BUILD)/$(1))
# $(call of_library,NAME,FLAGS): the library is compiled with these; the tests are the plain ones.
define of_library
$(BUILD)/$(1)/tests/fixture.o: private ALL_FLAGS += $(2) -DBUILD_DIRECTORY='"$(abspath $(BUILD))/"' -DSOURCE_DIRECTORY='"$(CURDIR)/"'
$(BUILD)/$(1)/tests/fixture.o: tests/fixture.c | deps-build deps-test
	mkdir -p $$(@D)
	$$(CC) $$(C_FLAGS) -c -o $$@ $$<

$(BUILD)/$(1)/tests/test_process: $(BUILD)/tests/plugins/other_file.o
$(BUILD)/$(1)/tests/test_scoped: $(BUILD)/tests/plugins/other_version.o
-include $$(wildcard $(BUILD)/$(1)/tests/*.d)
$(call programs,$(BUILD)/$(1),$(2),$(BUILD)/$(1),$(BUILD))
endef
define newline


endef

# plain: tests and library without optimisation, which takes most of the time. The device is that of the examples.
$(eval $(call objects,$(BUILD),,-O0,,$(BUILD)))
$(eval $(call programs,$(BUILD),-O0,$(BUILD),$(BUILD)))

# o2: the library as users compile it.
$(eval $(call of_library,o2,-O2))
o2_TESTS := $(filter-out test_plugins,$(TESTS))

# asan, tsan: what has threads, or bytes from outside.
$(eval $(call variant,asan,-O0 -fsanitize=address$(comma)undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer))
$(eval $(call variant,tsan,-O0 -fsanitize=thread))
tsan_TESTS := test_auto test_callbacks test_clear test_debug test_hotspots test_lists test_locks test_lost test_memory test_modules test_nesting \
    test_passes test_phases test_plugins test_power test_process test_reader test_regions test_reports test_sequences test_signal test_soak \
    test_stamps test_streams test_strict test_thread test_timeline test_trace test_trace_off test_watch
asan_TESTS := $(sort $(tsan_TESTS) test_advice test_bad_input test_baseline test_counters test_environment test_every_call test_facts \
    test_faults test_interrupted test_kernels test_merge test_open test_openmetrics test_softgpu_debug \
    test_softgpu_modules test_statistics)

# What an option of the compiler can break.
# lto: what is optimised across files: copies of the library in two of them, locks, the rings of streams.
lto_TESTS := test_locks test_streams
$(eval $(call variant,lto,-O2 -flto=auto))
# native: loops that are vectorised, over counters, time stamps and sums.
native_TESTS := test_statistics test_merge test_streams test_stamps
$(eval $(call of_library,native,-O3 -march=native))
# fast: all that computes with values that may be NaN or infinite. Linked so, a program also treats denormal numbers as 0.
fast_TESTS := test_statistics test_merge test_reports test_latency
$(eval $(call of_library,fast,-O2 $(FAST_MATH)))
# hidden: what is looked up by name, in the program and in shared objects. C++ has no exceptions and no type
# information: the plugin, which has the whole library in C++, and scopes.
hidden_TESTS := test_scoped test_plugins test_open test_trace
$(eval $(call variant,hidden,-O0 -fvisibility=hidden))
$(BUILD)/hidden/tests/%: private CXXFLAGS += -fno-exceptions -fno-rtti

# headers: compiled against the newest headers, to run on the oldest loader: what uses functions that some lack.
headers_TESTS := test_kernels test_lists test_lost test_open test_passes test_stamps test_streams test_trace test_trace_off
$(eval $(call variant,headers,-O0 -isystem $(BUILD)/suites/sid/include))

# coverage: gcov reads what gcc's programs count.
$(eval $(call variant,coverage,-O0 --coverage -fprofile-update=atomic -DCOVERAGE))
$(BUILD)/coverage/%: CC = gcc
$(BUILD)/coverage/%: CXX = g++

# A second driver for the loader, which does not load a file twice.
$(BUILD)/libze_second.so: $(BUILD)/libze_softgpu.so
	cp $< $@

$(BUILD)/tests/plugins/failing.so: $(BUILD)/tests/plugins/%.so: tests/plugins/%.c | deps-build deps-test
	mkdir -p $(@D)
	$(CC) $(C_FLAGS) -O0 -fPIC -shared -o $@ $< $(ZE_LIBS)

# A program that tells the compiler that no value is NaN, and one in strict ISO C, without -pthread.
%/tests/test_fast_math.o $(BUILD)/windows/test_fast_math.o: private ALL_FLAGS += -O1 $(FAST_MATH)
%/tests/test_strict.o: private C_FLAGS = -std=c11 $(CFLAGS) $(ALL_FLAGS)

# What tests load and run, whatever their variant.
LOADED := $(BUILD)/libze_softgpu.so $(ALL_KERNELS:%=$(BUILD)/kernels/%.so) $(BUILD)/tests/plugins/failing.so
RUN_BY_test_preload := libzt_auto.so simulate
RUN_BY_test_perfetto := libzt_auto.so simulate
RUN_BY_test_connectors := libzt_auto.so simulate $(addprefix programs/,itt itt_auto kokkos loops primitives)
RUN_BY_test_gather := gather
RUN_BY_test_watch := hang
RUN_BY_test_hotspots := libzt_auto.so simulate hotspots
RUN_BY_test_every_call := libzt_auto.so simulate $(filter-out bench_google hang onednn ranks,$(EXAMPLES))
run_by = $(patsubst %,$(BUILD)/examples-O0/%,$(sort $(foreach test,$(1),$(RUN_BY_$(test)))))

.PHONY: test
test: $(TESTS:%=$(BUILD)/tests/%) $(LOADED) $(call run_by,$(TESTS)) ## all test programs once
	ZT_SEQUENCES=$${ZT_SEQUENCES:-500} tests/run-tests.sh plain

$(foreach test,$(TESTS),$(eval $(test:test_%=test-%): $(call run_by,$(test))))
$(patsubst test_%,test-%,$(filter-out test_page,$(TESTS))): test-%: $(BUILD)/tests/test_% $(LOADED)
	tests/run-tests.sh plain -- test_$*
test-%: ## one test program
	echo "there is no tests/test_$*" >&2
	exit 1

.PHONY: sequence
sequence: $(LOADED) $(BUILD)/tests/test_sequences ## one sequence of the model test: SEED=n
	env $(SEED:%=ZT_SEED=%) tests/run-tests.sh plain -- test_sequences

.PHONY: night
night: $(LOADED) $(BUILD)/o2/tests/test_night ## ten hours by the device's clock, with ten million launches: some minutes
	ZT_LAUNCHES=$${ZT_LAUNCHES:-10000000} ZT_TEST_TIMEOUT=3600 tests/run-tests.sh o2 -- test_night
	cat $(BUILD)/logs/o2/test_night.log

# ---- checks: all that CI does beyond the tests ----------------------------------------------------------------

# Each step is a goal. With the tests, they take at most 40 minutes on two cores.
CHECKS := test-variants test-windows test-arm64 test-i386 test-musl test-page fuzz coverage matrix parts test-join analysis run-examples test-readme test-prometheus spirv lint
.PHONY: check
check: suites ## all other checks: the steps are below
	tests/check.sh $(CHECKS)

# The loader of the newest suite that is there; without suites the system's.
SUITES = $(foreach suite,bookworm trixie sid,$(if $(wildcard $(BUILD)/suites/$(suite)/run),$(suite)))
ON_NEWEST = $(patsubst %,-%,$(lastword $(SUITES)))
VARIANTS = asan tsan lto native fast hidden $(if $(filter sid,$(SUITES)),headers-bookworm) \
    $(addsuffix $(ON_NEWEST),o2 validation intercept events drivers)
programs_of = $(patsubst %,$(BUILD)/$(1)/tests/%,$(2))
built = $(call programs_of,$(1),$(2)) $(BUILD)/$(1)/libze_softgpu.so

.PHONY: test-variants
test-variants: $(call built,asan,$(asan_TESTS)) $(call built,tsan,$(tsan_TESTS)) $(if $(filter sid,$(SUITES)),$(call built,headers,$(headers_TESTS))) \
    $(foreach name,lto hidden native fast o2,$(call programs_of,$(name),$($(name)_TESTS))) \
    $(TESTS:%=$(BUILD)/tests/%) $(LOADED) $(call run_by,$(TESTS)) $(BUILD)/libze_second.so | deps-check ## sanitizers, options of the compiler, the loader's layers, other loaders
	ZT_SEQUENCES=$${ZT_SEQUENCES:-1000} tests/run-tests.sh $(VARIANTS)

.PHONY: test-page
test-page: $(BUILD)/tests/test_page $(LOADED) | deps-page ## run.html in a browser: figures, keyboard, screenshots (build/page)
	mkdir -p $(BUILD)/page
	ZT_PAGES=$(abspath $(BUILD))/page tests/run-tests.sh plain -- test_page
	tests/page/test_page.py $(BUILD)/page

# On the loader of trixie, where it is there, which has functions that the system's may lack.
.PHONY: coverage
coverage: $(call built,coverage,$(TESTS)) $(LOADED) $(call run_by,$(TESTS)) | deps-coverage ## lines and branches of the header that tests run, by part
	rm -rf $(BUILD)/coverage/data
	find $(BUILD)/coverage -name '*.gcda' -delete
	tests/run-tests.sh coverage$(if $(filter trixie,$(SUITES)),-trixie)
	tests/coverage.py $(BUILD)/coverage

.PHONY: run-examples
run-examples: examples ## run all examples
	tests/check.sh demo run-preload $(EXAMPLES:%=run-%)

.PHONY: test-readme
test-readme: $(BUILD)/libzt_auto.so $(BUILD)/examples/simulate $(RUN_NEEDS) ## what README.md says, compiled and run
	tests/readme.sh

.PHONY: test-prometheus
test-prometheus: $(BUILD)/libzt_auto.so $(BUILD)/examples/simulate $(RUN_NEEDS) ## run.prom, read by Prometheus, its node exporter and Pushgateway
	tests/prometheus.sh

.PHONY: matrix
matrix: | deps-test deps-matrix ## compile the header in every language, compiler and mode
	tests/compile/matrix.sh

# Test programs that run under valgrind in two minutes together. Not run are those that take half a minute or more each,
# or fail there as their deadlines are too short; that interrupt kernels by signals; that run other programs; and
# test_process, whose child processes end with memory in use; and test_cost, whose malloc valgrind replaces.
ANALYSIS_PROGRAMS := $(filter-out test_all_functions test_auto test_bench test_connectors test_cost test_counters test_debug test_every test_every_call \
    test_faults test_gather test_hotspots test_interrupted test_lists test_locks test_minute test_night test_preload test_process test_reports \
    test_sequences test_signal test_soak test_softgpu_debug test_softgpu_sampling test_timeline test_watch,$(TESTS))

.PHONY: analysis
analysis: $(ANALYSIS_PROGRAMS:%=$(BUILD)/tests/%) $(LOADED) | deps-analysis ## gcc's and clang's analysers, clang-tidy, cppcheck, valgrind
	tests/analysis.sh $(ANALYSIS_PROGRAMS)

# The parts of the header, each compiled alone, in every configuration.
PARTS := $(wildcard src/*/*.c)
PARTS_DONE := $(PARTS:src/%.c=$(BUILD)/parts/%.done)
PART_WARNINGS := $(WARNINGS) -Wmissing-declarations -Werror

.PHONY: header parts test-join
header: ## join src/ into zetools.h
	src/join.py
test-join: | deps-lint
	tests/test_join.py
parts: $(PARTS_DONE) ## compile each part of the header alone, as C99 and C++11, with and without the options
$(PARTS_DONE): $(BUILD)/parts/%.done: src/%.c $(wildcard src/*/*.h) zetools.h | deps-build deps-cxx
	mkdir -p $(@D)
	for options in '' -DZETOOLS_TRACER -DZETOOLS_DEBUG '-DZETOOLS_TRACER -DZETOOLS_DEBUG' \
	    '-DZETOOLS_TRACER -DZETOOLS_DEBUG -DZETOOLS_NO_THREADS' -DZETOOLS_CONNECTORS; do \
	    $(CC) -std=c99 $(PART_WARNINGS) -Isrc -I. $(ZE_HEADERS) -DZT__PARTS $$options -c -o /dev/null $< && \
	    $(CXX) -std=c++11 -x c++ $(PART_WARNINGS) -Isrc -I. $(ZE_HEADERS) -DZT__PARTS $$options -c -o /dev/null $< || exit 1; \
	done
	touch $@

.PHONY: suites
suites: ## fetch the headers and loaders of other Debian suites
	tests/suites.sh

.PHONY: lint
lint: | deps-lint ## formatting, and what must not be in the tree
	tests/lint.sh

# ---- other machines: arm64 by qemu, i386 on the processor itself or by qemu; another C library: musl; Windows under Wine

# Without optimisation, which the sizes of types do not depend on, so that they are built soon.
cross_flags = -O0 -isystem $(BUILD)/$(1)/include -L$(BUILD)/$(1)/lib
# With these, i386 programs need no launcher, so that they can execute themselves and each other. The device and the tests
# are written for 64 bits: there, sizes of 64 bits are kept in size_t (conversion), and compared with what no size_t of 32
# bits exceeds (type-limits). psabi is a note about how older compilers have passed a structure. The header is compiled
# for 32 bits without these, in the matrix.
I386_FLAGS := -Wl$(comma)--dynamic-linker=/usr/i686-linux-gnu/lib/ld-linux.so.2 \
    -Wl$(comma)--disable-new-dtags$(comma)-rpath$(comma)$(abspath $(BUILD))/i386/lib:/usr/i686-linux-gnu/lib \
    -Wno-conversion -Wno-type-limits -Wno-psabi
$(BUILD)/arm64/%: private CC = aarch64-linux-gnu-gcc
$(BUILD)/arm64/%: private CXX = aarch64-linux-gnu-g++
$(BUILD)/i386/%: private CC = i686-linux-gnu-gcc
$(BUILD)/i386/%: private CXX = i686-linux-gnu-g++
$(BUILD)/musl/%: private CC = musl-gcc
$(BUILD)/musl/%: private CXX = musl-gcc -fno-exceptions -fno-rtti

# CONTRIBUTING.md says why the others are not run.
ARM64_TESTS := test_advice test_lists test_merge test_modules test_nesting test_open test_passes test_regions test_stamps \
    test_statistics test_trace
I386_TESTS := $(ARM64_TESTS) test_auto test_bad_input test_phases test_every test_environment test_lost test_process test_reader \
    test_streams test_thread test_timeline test_softgpu test_softgpu_work
MUSL_TESTS := $(I386_TESTS) test_signal

# Whatever else is made in this directory waits for this, which empties it.
$(BUILD)/%/complete: tests/cross.sh tests/apt.sh | deps-build deps-%
	tests/cross.sh $*

# $(call cross,MACHINE,TESTS,FLAGS,NEEDS)
define cross
$(call variant,$(1),$(call cross_flags,$(1)) $(3),$(BUILD)/$(1)/complete $(4),$(BUILD)/$(1))
$(call kernels,$(BUILD)/$(1),$$(CC),-g -fPIC -Wl$(comma)--unique='.text.*',$(BUILD)/$(1)/complete)
.PHONY: test-$(1)
test-$(1): $(call built,$(1),$(2)) $(ALL_KERNELS:%=$(BUILD)/$(1)/kernels/%.so)
	tests/run-tests.sh $(1) -- $(2)
endef
test-arm64: ## tests as arm64 programs, under qemu
test-i386: ## tests as programs of 32 bits
test-i386: export EMULATED_TESTS = $(ARM64_TESTS)
test-musl: ## tests with the C library musl
$(eval $(call cross,arm64,$(ARM64_TESTS)))
$(eval $(call cross,i386,$(I386_TESTS),$(I386_FLAGS)))
$(eval $(call cross,musl,$(MUSL_TESTS),-Wl$(comma)-rpath$(comma)$(abspath $(BUILD))/musl/lib,$(BUILD)/musl/lib/libze_loader.so))

# A loader of the tests' own, for musl.
$(BUILD)/musl/lib/libze_loader.so: tests/musl/loader.c $(BUILD)/musl/loader/functions.def tests/softgpu/tables.def $(BUILD)/musl/complete
	$(CC) $(C_FLAGS) $(call cross_flags,musl) -I$(BUILD)/musl/loader -fPIC -shared -Wl,-soname,$(@F).1 -o $@.1 $<
	ln -sfn $(@F).1 $@
$(BUILD)/musl/loader/functions.def: tests/softgpu/functions.def | $(BUILD)/musl/complete
	mkdir -p $(@D)
	sed 's/^SG_FUNCTION(\(ze[A-Z][^,]*, [^,]*, [^,]*, [^,]*, ze\)\([^,]*\),/SG_TRACED("zelTracer\2RegisterCallback", \1\2,/' $< >$@

# What the device has on POSIX systems alone, and the tests of that; CONTRIBUTING.md says why.
WINDOWS_DEVICE := $(filter-out agent debug elf registers remote sampling signals stop target,$(DEVICE)) windows
WINDOWS_TESTS := test_advice test_bench test_callbacks test_every test_fast_math test_faults test_latency test_lists test_locks \
    test_lost test_merge test_nesting test_no_threads test_open test_passes test_regions test_soak test_softgpu \
    test_softgpu_engines test_softgpu_metrics test_softgpu_work test_stamps test_statistics test_streams test_thread \
    test_timestamps test_trace test_trace_off
WINDOWS_CC := x86_64-w64-mingw32-gcc-posix
# The compiler checks formats of printf as those of the C library of Microsoft (format), although the tests use those of
# mingw-w64. read and write of Microsoft take unsigned (conversion).
WINDOWS_FLAGS = -std=gnu11 -O0 -g $(filter-out -Wconversion,$(ALL_FLAGS)) -Wno-format -D__USE_MINGW_ANSI_STDIO=1 -Itests/windows \
    -isystem $(BUILD)/windows/include -include tests/windows/posix.h
$(eval $(call kernels,$(BUILD)/windows,$(WINDOWS_CC),-static -Wl$(comma)--export-all-symbols -Itests/windows -include tests/windows/posix.h,$(BUILD)/windows/complete))

$(BUILD)/windows/fixture.o: private ALL_FLAGS += -DBUILD_DIRECTORY='"Z:$(abspath $(BUILD))/windows/"' -DSOURCE_DIRECTORY='"Z:$(CURDIR)/"'
$(BUILD)/windows/%.o: tests/%.c $(BUILD)/windows/complete
	mkdir -p $(@D)
	$(WINDOWS_CC) $(WINDOWS_FLAGS) -c -o $@ $<

$(BUILD)/windows/ze_softgpu.dll: $(WINDOWS_DEVICE:%=$(BUILD)/windows/softgpu/%.o) $(BUILD)/windows/windows/posix.o
	echo "  $@"
	$(WINDOWS_CC) -shared -static -o $@ $^ -lpsapi

$(BUILD)/windows/tests/%.exe: $(BUILD)/windows/%.o $(patsubst %,$(BUILD)/windows/%.o,$(filter-out endless,$(FIXTURE))) $(BUILD)/windows/windows/posix.o
	mkdir -p $(@D)
	echo "  $@"
	$(WINDOWS_CC) -static -o $@ $^ -L$(BUILD)/windows/lib -lcmocka.dll -lze_loader.dll -lpsapi

.PHONY: test-windows
test-windows: $(WINDOWS_TESTS:%=$(BUILD)/windows/tests/%.exe) $(BUILD)/windows/ze_softgpu.dll $(ALL_KERNELS:%=$(BUILD)/windows/kernels/%.so) ## the tests that can run on Windows, under Wine, with the loader cross-compiled
	tests/run-windows.sh $(WINDOWS_TESTS)

-include $(wildcard $(BUILD)/windows/*.d $(BUILD)/windows/softgpu/*.d)

# ---- fuzzing --------------------------------------------------------------------------------------------------

# Always with clang, which brings libFuzzer. The device is the plain one.
FUZZ_TARGETS := $(filter-out fuzz,$(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*.c)))
FUZZ_FLAGS = -std=gnu11 -O1 -g -pthread $(ALL_FLAGS) -DBUILD_DIRECTORY='"$(abspath $(BUILD))/"' -fno-sanitize-recover=all \
    -fsanitize=fuzzer-no-link,address,undefined,float-cast-overflow

$(BUILD)/fuzz/%.o: tests/fuzz/%.c | deps-build deps-fuzz
	mkdir -p $(@D)
	clang $(FUZZ_FLAGS) -c -o $@ $<

$(BUILD)/fuzz/%: $(BUILD)/fuzz/%.o $(BUILD)/fuzz/fuzz.o
	echo "  $@"
	clang $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ $(ZE_LIBS)

-include $(wildcard $(BUILD)/fuzz/*.d)

FUZZ_NEEDS := $(BUILD)/libze_softgpu.so $(BUILD)/kernels/saxpy.so
.PHONY: fuzz fuzz-random
fuzz fuzz-random: $(FUZZ_TARGETS:%=$(BUILD)/fuzz/%) $(FUZZ_NEEDS)
fuzz: ## fuzz each target for FUZZ_SECONDS (10) with the same seed, and read the reports back
	FUZZ_SEED=1 tests/fuzz/run.sh $(FUZZ_TARGETS)
fuzz-random: ## the same with a new seed, and from what such runs have found before
	tests/fuzz/run.sh $(FUZZ_TARGETS)

fuzz-%: $(BUILD)/fuzz/% $(FUZZ_NEEDS) ## fuzz one target
	tests/fuzz/run.sh $*

# ---- the tree -------------------------------------------------------------------------------------------------

.PHONY: format
format: ## bring all sources into shape
	find . \( -name .git -o -path ./build \) -prune -o -type f -regex '.*\.\(h\|c\|cpp\|cc\|cl\)' -print | \
	    xargs clang-format -i

.PHONY: pictures
pictures: $(BUILD)/libzt_auto.so $(BUILD)/examples/simulate $(BUILD)/examples/hang $(BUILD)/examples/regions $(RUN_NEEDS) | deps-page ## the pictures of README.md, of runs of the examples
	tests/pictures.sh

.PHONY: clean
clean: ## remove what was built and what examples wrote (run.*), except what was fetched
	rm -f $(RUN_IN)/run.*
	find $(BUILD) -mindepth 1 -maxdepth 1 ! -name suites ! -name prometheus -exec rm -r {} + 2>/dev/null || true
