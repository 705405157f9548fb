# zugzwang. `make help` lists the targets; everything that is made goes to build/.
#
#   V=1                            show the commands
#   SANITIZE=address,undefined     instrument zug and its tests
#   WERROR=1                       a warning ends the build
#   FUZZ_S=20                      seconds that check-fuzz gives each reader of foreign bytes
#   DEPS=no                        install nothing, print what is missing
#   MUST_RUN=1                     a skipped test counts as failed
#   NEKARA=                        bench: a checkout of Nekara's C++ library, to be measured beside libzug
#   KERNEL=, KERNEL_VERSION=, VM=1 see tools/kernel and tools/run-in-kernel
#   VM_TIMEOUT=3600                seconds that the tests in the machine may take
#   MACHINES=                      how many machines share those tests, see tests/vm/machines

SHELL		:= /bin/bash
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS	+= --no-builtin-rules
.PHONY: all programs demo check check-analyze check-death check-fuzz check-sanitized check-soak check-soak-zugd check-large check-unit check-model check-world check-host check-libzug check-arm64 check-html check-languages check-servers check-runtimes check-vm check-long check-releases check-matrix check-cluster bench install install-libzug uninstall clean help build-tests

B		:= build
CC		:= gcc
CXX		:= g++
OBJCOPY		:= objcopy
BPF_CC		:= clang-19
PREFIX		?= /usr/local
DESTDIR		?=
FUZZ_S		?= 20
export FUZZ_S DEPS MUST_RUN VM KERNEL KERNEL_VERSION MACHINES NEKARA

ifeq ($(V),1)
Q		:=
say		:= @:
else
Q		:= @
say		= @printf '  %-8s %s\n'
MAKEFLAGS	+= --no-print-directory
endif

all: $(B)/zug $(B)/zugd $(B)/libzug.a $(B)/libzug.so programs

help:
	@printf '%s\n' \
		'all          zug, zugd and the test programs' \
		'demo         find a bug, explain it, replay it' \
		'check        every test; also check-unit, check-model, check-world, check-libzug, check-vm alone' \
		'check-fuzz   readers of foreign bytes under libFuzzer, $(FUZZ_S) s each' \
		'check-analyze  the analysers of gcc and clang, beside the known exceptions' \
		'check-sanitized  the tests that need no kernel under ASan and UBSan, and under TSan, and zug under ASan in the machine' \
		'check-soak   what one long search has and keeps; check-soak-zugd: zugd, with three members of group zug' \
		'check-large  programs with very many threads, processes or libraries, and one of 500 MB' \
		'check-html   the pages of zug show --html, in a browser' \
		'check-arm64  libzug for arm64, under qemu-user' \
		'check-languages  programs in Rust and Go' \
		'check-servers  servers in six languages, each with a bug; installs what they need; half an hour. Correct systems of' \
		'               Debian that must repeat, where they are installed; goes on where it was ended; hours' \
		'check-runtimes  small programs in Java, each with a bug; ten minutes. ONLY=files: one in JavaScript' \
		'check-long   the tests that take long' \
		'check-death  what takes part in a search is killed at random moments' \
		'check-matrix planted programs with other C libraries and compilers; goes on where it was ended' \
		'check-cluster  shards under Slurm and GNU parallel; installs them' \
		'check-releases  demo and check in a clean Debian 12 and 13 (root; half an hour each)' \
		'bench        measure' \
		'install-libzug  the library for tests of one'\''s own, alone' \
		'install      to DESTDIR and PREFIX ($(PREFIX)); uninstall removes it' \
		'clean        remove $(B)/'

# --- what the build needs -----------------------------------------------------------------------
# Make builds config.mk first and then starts over with it.

# libzug alone needs a compiler and nothing else: it takes what is known already, so that its objects stay the same.
libzug_goals	:= install-libzug $(B)/libzug.a $(B)/libzug.so
ifneq ($(filter-out clean help uninstall $(libzug_goals),$(or $(MAKECMDGOALS),all)),)
config		:= $(B)/config.mk
-include $(config)
else ifneq ($(wildcard $(B)/config.mk),)
$(eval $(file <$(B)/config.mk))
endif

$(B)/config.mk: tools/deps tools/libbpf tools/lib.sh
	@mkdir -p $(B)
	@tools/deps build
	@prefix=$$(tools/libbpf --prefix) && library=$$(tools/libbpf --library) && bpftool=$$(tools/libbpf --bpftool) && \
		printf '%s\n' "LIBBPF_PREFIX := $$prefix" "LIBBPF := $$library" "BPFTOOL := $$bpftool" >$@

# A file of flags that changes only when they do; the targets that depend on it are then rebuilt.
SANITIZE_FLAGS	:= $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
CFLAGS		?= -O2 -g
WARNINGS	:= -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-parameter
# What makes an error in reading foreign bytes harder to use. Sanitizers have checks of their own.
HARDEN		:= -fstack-protector-strong $(if $(SANITIZE),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3) -fPIE
HARDEN_LINK	:= -pie -Wl,-z,relro,-z,now
ALL_CFLAGS	= -std=gnu11 -D_GNU_SOURCE= $(WARNINGS) $(if $(WERROR),-Werror) $(CFLAGS) $(HARDEN) $(SANITIZE_FLAGS) -pthread \
		  -iquote . -iquote $(B) -iquote userspace $(if $(LIBBPF_PREFIX:/usr=),-isystem $(LIBBPF_PREFIX)/include)
# The same without -I: the test programs are compiled as a user compiles a program.
PROGRAM_CFLAGS	:= -O1 -g -pthread -Wall -Wextra
LDLIBS		= $(LIBBPF) -ldw -lelf -lzstd -ljson-c -lcap -lz -lZydis -liberty -lm -pthread
BPF_CFLAGS	= -target bpf -mcpu=v3 -O2 -g -std=gnu11 -Wall -Wno-missing-declarations -D__TARGET_ARCH_x86 \
		  -iquote . -iquote $(B) -iquote bpf -isystem $(LIBBPF_PREFIX)/include

# What was built with WERROR=1 is built.
FLAGS_NOW	= $(CC) $(subst -Werror,,$(ALL_CFLAGS)) $(LDLIBS) $(BPF_CC) $(BPF_CFLAGS)
ifneq ($(shell cat $(B)/flags 2>/dev/null),$(FLAGS_NOW))
.PHONY: $(B)/flags
endif
$(B)/flags: | $(config)
	@mkdir -p $(B)
	@printf '%s\n' '$(FLAGS_NOW)' >$@

# --- the scheduler ------------------------------------------------------------------------------
# Always compiled with the types of the default kernel: one object for all kernels.

$(B)/vmlinux.h: tools/kernel
	$(say) HEADER $@
	$(Q)header=$$(env -u KERNEL -u KERNEL_VERSION tools/kernel --header) && cp "$$header" $@

$(B)/zug.bpf.o: bpf/zug.bpf.c $(B)/vmlinux.h $(B)/flags
	$(say) BPF $@
	$(Q)$(BPF_CC) $(BPF_CFLAGS) -MMD -MP -c -o $@ $<

$(B)/zug.skel.h: $(B)/zug.bpf.o
	$(say) SKEL $@
	$(Q)$(BPFTOOL) gen skeleton $< name zug_bpf >$@
	$(Q)printf '#define ZUG_BPF_ID "%s"\n' "$$(sha256sum $< | cut -c-16)" >>$@

# --- zug ----------------------------------------------------------------------------------------

# lib/zug is a library of its own, which zug does not use.
libzug_src	:= $(wildcard lib/zug/*.c)
lib_src		:= $(filter-out $(libzug_src),$(wildcard lib/*.c lib/*/*.c))
search_src	:= $(wildcard search/*.c search/*/*.c)
user_src	:= $(wildcard userspace/*/*.c)
lib_obj		:= $(lib_src:%.c=$(B)/%.o)
search_obj	:= $(search_src:%.c=$(B)/%.o)
user_obj	:= $(user_src:%.c=$(B)/%.o)
main_obj	:= $(B)/userspace/cli/zug.o

$(B)/%.o: %.c $(B)/flags
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# The pages' templates and scripts are part of the object; -MMD does not see them, because the assembler includes them.
$(B)/userspace/report/page.o: $(wildcard userspace/report/html/*)

# Only files that include the skeleton need the kernel; unit tests are linked without them, so they build and run anywhere.
kernel_src	:= $(if $(user_src),$(shell grep -l 'zug\.skel\.h' $(user_src) /dev/null))
kernel_obj	:= $(kernel_src:%.c=$(B)/%.o)
$(kernel_obj): $(B)/zug.skel.h

$(B)/pure.a: $(lib_obj) $(search_obj)
	$(say) AR $@
	@mkdir -p $(@D)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(B)/user.a: $(filter-out $(main_obj) $(kernel_obj),$(user_obj))
	$(say) AR $@
	@mkdir -p $(@D)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(B)/zug: $(main_obj) $(kernel_obj) $(B)/user.a $(B)/pure.a
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) $(HARDEN_LINK) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# --- libzug -------------------------------------------------------------------------------------
# The parts of zug that need no kernel, once more: for a shared library, and with nothing to be seen but zug_*.

libzug_parts	:= $(addprefix lib/,label.c trace.c trace_copy.c trace_cursor.c trace_decode.c trace_read.c trace_steps.c \
		   trace_write.c base/array.c base/id_map.c base/installed.c base/machine_mark.c base/new_file.c base/shell_word.c) $(search_src) $(libzug_src) \
		   $(addprefix userspace/engine/,progress_check.c takers.c failure.c spawn.c replay.c expiry.c values.c script.c)
libzug_obj	:= $(libzug_parts:%.c=$(B)/libzug/%.o)
libzug_map	:= lib/zug/libzug.map
LIBZUG_VERSION	:= 1

$(B)/libzug/%.o: %.c $(B)/flags
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -fPIC -fvisibility=hidden -MMD -MP -c -o $@ $<

$(B)/libzug.so: $(libzug_obj) $(libzug_map)
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -shared -Wl,-soname,libzug.so.$(LIBZUG_VERSION) -Wl,--version-script,$(libzug_map) \
		-Wl,-z,defs,-z,nodelete -o $@ $(libzug_obj) -lm -pthread
	$(Q)ln -sf libzug.so $@.$(LIBZUG_VERSION)

$(B)/libzug.a: $(libzug_obj) $(libzug_map)
	$(say) AR $@
	$(Q)$(LD) -r -o $(B)/libzug.o $(libzug_obj)
	$(Q)sed -n 's/^\t\(zug_[a-z_]*\);$$/\1/p' $(libzug_map) >$(B)/libzug.names
	$(Q)$(OBJCOPY) --keep-global-symbols=$(B)/libzug.names $(B)/libzug.o
	$(Q)rm -f $@ && $(AR) rcs $@ $(B)/libzug.o

$(B)/zugd: $(B)/zug
	$(Q)ln -sf zug $@

# --- tests: one binary for each file with a main(), linked with the others of its folder -----------

has_main	= $(if $(1),$(shell grep -lE '^(int )?main\b' $(1) /dev/null))
unit_src	:= $(wildcard tests/unit/*.c)
model_src	:= $(wildcard tests/model/*.c)
world_src	:= $(wildcard tests/world/*.c)
kworld_src	:= $(wildcard tests/kworld/*.c)
unit_main	:= $(call has_main,$(unit_src))
model_main	:= $(call has_main,$(model_src))
world_main	:= $(call has_main,$(world_src))
kworld_main	:= $(call has_main,$(kworld_src))
unit_bin	:= $(unit_main:%.c=$(B)/%)
model_bin	:= $(model_main:%.c=$(B)/%)
world_bin	:= $(world_main:%.c=$(B)/%)
kworld_bin	:= $(kworld_main:%.c=$(B)/%)
unit_help	:= $(patsubst %.c,$(B)/%.o,$(filter-out $(unit_main),$(unit_src)))
model_help	:= $(patsubst %.c,$(B)/%.o,$(filter-out $(model_main),$(model_src)))
world_help	:= $(patsubst %.c,$(B)/%.o,$(filter-out $(world_main),$(world_src)))
kworld_help	:= $(patsubst %.c,$(B)/%.o,$(filter-out $(kworld_main),$(kworld_src)))

$(B)/deps-test: tools/deps
	@mkdir -p $(B)
	@tools/deps test
	@touch $@

$(patsubst %.c,$(B)/%.o,$(unit_src) $(model_src) $(world_src) $(kworld_src)): | $(B)/deps-test

# From an archive the linker takes only what a test uses; a unit test of a lower layer needs nothing of the kernel.
$(unit_bin): $(B)/%: $(B)/%.o $(unit_help) $(B)/pure.a $(if $(user_src),$(B)/user.a)
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %/user.a,$^) $(B)/pure.a -lcmocka $(LDLIBS)

$(model_bin): $(B)/%: $(B)/%.o $(model_help) $(B)/pure.a
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(B)/pure.a -lcmocka -lz -lzstd -lm -pthread

# The engine in a world without a kernel; model programs of the search run there, too.
$(world_bin): $(B)/%: $(B)/%.o $(world_help) $(model_help) $(B)/user.a $(B)/pure.a
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(B)/user.a $(B)/pure.a $(LDLIBS)

# The kernel's world without a kernel: what these link in takes the place of the kernel side and of the sandbox.
$(kworld_bin): $(B)/%: $(B)/%.o $(kworld_help) $(B)/tests/model/tap.o $(B)/user.a $(B)/pure.a
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(B)/user.a $(B)/pure.a $(LDLIBS)

# Tests of libzug, which is all that they are linked with. Those that compare it with models and with zug's engine look
# inside, too; beside the engine it has zug's parts instead of its own copy of them.
libzug_test_src	:= $(wildcard tests/libzug/*.c)
libzug_main	:= $(call has_main,$(libzug_test_src))
libzug_bin	:= $(libzug_main:%.c=$(B)/%)
libzug_twins	:= $(B)/tests/libzug/test_model $(B)/tests/libzug/test_world $(B)/tests/libzug/test_lane_box

$(B)/tests/libzug/test_model: $(B)/tests/libzug/test_model.o $(B)/tests/libzug/twin.o $(libzug_obj) $(model_help)
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ -lm -pthread

$(B)/tests/libzug/test_world: $(B)/tests/libzug/test_world.o $(B)/tests/libzug/twin.o \
			      $(patsubst %.c,$(B)/libzug/%.o,$(filter-out %/frames.c,$(libzug_src))) $(world_help) $(model_help) \
			      $(B)/user.a $(B)/pure.a
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(B)/user.a $(B)/pure.a $(LDLIBS)

# A file of zug's with its atomic operations as points of libzug, and with boxes that are small.
lane_box_flags	:= -DLANE_ORDERS=2 -DLANE_REPORTS=4
$(B)/tests/libzug/test_lane_box.o: ALL_CFLAGS += $(lane_box_flags)
$(B)/tests/libzug/lane_box.o: userspace/campaign/lane_box.c $(B)/flags
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(lane_box_flags) -include tests/libzug/atomics_as_points.h -MMD -MP -c -o $@ $<

$(B)/tests/libzug/test_lane_box: $(B)/tests/libzug/test_lane_box.o $(B)/tests/libzug/lane_box.o $(B)/libzug.a $(B)/tests/model/tap.o
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ -lm -pthread

$(filter-out $(libzug_twins),$(libzug_bin)): $(B)/%: $(B)/%.o $(B)/libzug.a $(B)/tests/model/tap.o
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(B)/libzug.a -lm -pthread

closes := $(B)/tests/vm/closes.so
$(closes): tests/vm/closes.c $(B)/flags
	@mkdir -p $(@D)
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) -fPIC -shared -o $@ $<

build-tests: $(unit_bin) $(model_bin) $(world_bin) $(kworld_bin) $(libzug_bin) $(closes)

# Readers of foreign bytes under libFuzzer; tests/unit/test_fuzz.c is a bounded run of the same in `make check`.
$(B)/tests/fuzz/fuzz: $(B)/tests/fuzz/fuzz_target.o $(B)/tests/fuzz/targets.o $(B)/user.a $(B)/pure.a
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(B)/tests/fuzz/fuzz_trace: $(B)/tests/fuzz/fuzz_trace.o $(B)/user.a $(B)/pure.a
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^ $(LDLIBS)

check-fuzz:
	@tools/deps build fuzz
	@tools/check-fuzz

# What the analysers of gcc and clang find in a file, a line each and without line numbers, which change. Leaks are left to
# clang, and to LeakSanitizer in check-sanitized: gcc 12 takes memory whose only pointer is in an element of an array, or in a
# struct that it has lost sight of, for lost, and names it '<unknown>'.
ANALYZE_GCC	:= -fanalyzer -fdiagnostics-plain-output -Wno-analyzer-malloc-leak
ANALYZE_CLANG	:= --analyze --analyzer-output text
analyzed	:= $(patsubst %.c,$(B)/analyze/%.found,$(lib_src) $(libzug_src) $(search_src) $(user_src))

$(B)/analyze/%.found: %.c $(B)/flags
	$(say) ANALYZE $<
	@mkdir -p $(@D)
	$(Q)LC_ALL=C $(CC) $(ALL_CFLAGS) $(ANALYZE_GCC) -MMD -MP -MT $@ -MF $(@:.found=.d) -S -o /dev/null $< 2>$@.gcc && \
		$(BPF_CC) $(ALL_CFLAGS) $(ANALYZE_CLANG) -o /dev/null $< 2>$@.clang || { cat $@.gcc $@.clang; exit 1; }
	$(Q)sed -n 's/^\([^: ]*\):[0-9:]* warning: /\1: /p' $@.gcc $@.clang | sort -u >$@

$(kernel_src:%.c=$(B)/analyze/%.found): $(B)/zug.skel.h

check-analyze: $(analyzed)
	@tools/tap 'tests/tools/analyze $(B)/analyze'

# All tests that need no kernel, under ASan and UBSan and under TSan; then some of those that need one, with a zug under ASan.
# libzug goes on with the next execution from the handler of a signal that ends one (SIGABRT): TSan takes all that follows
# for a part of the handler, so it does not look at what a handler may call.
check-sanitized: all
	@$(MAKE) B=$(B)/asan SANITIZE=address,undefined $(B)/asan/zug check-host
	@TSAN_OPTIONS=report_signal_unsafe=0 $(MAKE) B=$(B)/tsan SANITIZE=thread check-host
	@tools/deps vm
	@tools/tap "tools/run-in-kernel --timeout $(VM_TIMEOUT) tests/vm/sanitized"

# Pages in a browser: a target of its own, because it needs a browser.
html_bin	:= $(B)/tests/html/test_page
html_obj	:= $(patsubst %.c,$(B)/%.o,$(wildcard tests/html/*.c)) $(B)/tests/unit/sample_trace.o

$(html_obj): | $(B)/deps-test

$(html_bin): $(html_obj) $(B)/user.a $(B)/pure.a
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka $(LDLIBS)

# --- programs under test ------------------------------------------------------------------------
# tests/programs/X.c gives build/programs/X, and X-fixed when it knows FIXED. A line ` * build: WORDS` in its comment
# adds flags and libraries; CC=COMPILER among the words replaces the compiler, CATCH2 links that.

program_src	:= $(wildcard tests/programs/*.c tests/programs/*.cc tests/programs/*/*.c tests/programs/*/*.cc)
script_src	:= $(wildcard tests/programs/*.sh tests/programs/*/*.sh)
twin_src	:= $(if $(program_src),$(shell grep -l '\bFIXED\b' $(program_src) /dev/null))
program_bin	:= $(addprefix $(B)/,$(patsubst tests/%,%,$(basename $(program_src))))
twin_bin	:= $(addsuffix -fixed,$(addprefix $(B)/,$(patsubst tests/%,%,$(basename $(twin_src)))))
script_bin	:= $(addprefix $(B)/,$(patsubst tests/%,%,$(script_src)))

# The project of tests/projects/ctest, configured as docs/ci.md says; ctest then searches each of its tests.
$(B)/projects/ctest/CTestTestfile.cmake: $(wildcard tests/projects/ctest/*) | $(B)/deps-test
	$(say) CTEST $(@D)
	$(Q)cmake -S tests/projects/ctest -B $(@D) -DCMAKE_C_COMPILER=$(CC) \
		-DCMAKE_CROSSCOMPILING_EMULATOR="$(abspath $(B)/zug);run;-q;--executions;60;--" >$(B)/ctest.log && \
		cmake --build $(@D) >>$(B)/ctest.log
	$(Q)touch $@

programs: $(program_bin) $(twin_bin) $(script_bin) $(B)/projects/ctest/CTestTestfile.cmake

# Catch2 3 is a library, Catch2 2 a header; the word CATCH2 means either. The variable is expanded late, because tools/deps
# may just have installed the library.
catch2_libs	= $(if $(shell ls /usr/lib/libCatch2.a /usr/lib/*/libCatch2.a 2>/dev/null),-lCatch2Main -lCatch2)

# The demonstration's program needs none of the packages of the tests.
program_deps	:= $(if $(DEMO),,$(B)/deps-test)

# build_program COMPILER,EXTRA
define build_program
	$(say) PROGRAM $@
	@mkdir -p $(@D)
	@mkdir -p $(B)/deps
	$(Q)cc=$(1) words=$$(sed -n 's/^ \* build: *//p' $< | head -n 1); \
	for word in $$words; do \
		case $$word in CC=*) cc=$${word#CC=} ;; CATCH2) libs="$$libs $(catch2_libs)" ;; -l*|-Wl,*) libs="$$libs $$word" ;; *) flags="$$flags $$word" ;; esac; \
	done; \
	$${cc} $(PROGRAM_CFLAGS) $(2) $$flags -MMD -MP -MF $(B)/deps/$(@F).d -o $@ $< $$libs
endef

$(filter $(B)/programs/libzug/%,$(program_bin) $(twin_bin)): $(B)/libzug.a

$(B)/programs/%: tests/programs/%.c | $(program_deps)
	$(call build_program,$(CC))

$(B)/programs/%: tests/programs/%.cc | $(program_deps)
	$(call build_program,$(CXX))

$(B)/programs/%-fixed: tests/programs/%.c | $(program_deps)
	$(call build_program,$(CC),-DFIXED)

$(B)/programs/%-fixed: tests/programs/%.cc | $(program_deps)
	$(call build_program,$(CXX),-DFIXED)

$(B)/programs/%.sh: tests/programs/%.sh
	$(say) COPY $@
	@mkdir -p $(@D)
	$(Q)cp $< $@ && chmod +x $@

# --- running ------------------------------------------------------------------------------------

VM_TIMEOUT	?= 3600
vm_tests	= 'tests/vm/machines --timeout $(VM_TIMEOUT)'

# What needs no kernel of its own: as many at once as there are processors, those that take longest first. Tests in machines
# run alone, because their machines keep the processors busy.
host_tests	= $(addprefix tests/tools/,libzug tap rooms rooms-calls man messages doctor install) $(model_bin) $(world_bin) \
		  $(kworld_bin) $(libzug_bin) $(unit_bin)
tap_host	= tools/tap -j "$$(nproc)" $(host_tests) --

check: all build-tests
	@tools/deps vm test
	@$(tap_host) $(vm_tests)

# The binaries of all tests that need no kernel, without what installs the library.
check-host: build-tests
	@tools/tap -j "$$(nproc)" $(model_bin) $(world_bin) $(kworld_bin) $(libzug_bin) $(unit_bin)

check-unit: $(unit_bin) $(kworld_bin)
	@tools/tap $(unit_bin) $(kworld_bin)

check-html: $(B)/zug $(html_bin)
	@tools/deps test html
	@tools/tap $(html_bin)

# Programs in languages whose compilers are too large to fetch for every check.
check-languages: $(B)/zug
	@tools/deps vm languages
	@mkdir -p $(B)/programs/languages
	@for source in tests/languages/*.rs; do output=$(B)/programs/languages/$${source##*/}; \
		rustc --edition 2021 -g -O -o $$output $$source && rustc --edition 2021 -g -o $${output%.rs}.debug.rs $$source && \
		rustc --edition 2021 -O -C strip=debuginfo -o $${output%.rs}.release.rs $$source || exit; done
	@for source in tests/languages/*.go; do go build -o $(B)/programs/languages/$${source##*/} $$source || exit; done
	@tools/tap 'tools/run-in-kernel --timeout $(VM_TIMEOUT) tests/languages/run'

# ONLY='Fields Pool': those alone.
check-runtimes: $(B)/zug
	@tools/deps vm servers
	@mkdir -p $(B)/programs/runtimes
	@javac -g -d $(B)/programs/runtimes tests/runtimes/java/*.java
	@tools/tap 'tools/run-in-kernel --timeout $(VM_TIMEOUT) tests/runtimes/run $(ONLY)'

# Servers, whose runtimes are larger still. ONLY='java go': the shops in these languages alone. SYSTEMS: options of
# tests/servers/repeat, such as "--seconds 600 redis nginx", which alone is run then.
check-servers: $(B)/zug
	@tools/deps vm languages servers
	@mkdir -p $(B)/programs/servers/java
	@$(CXX) -std=c++17 -g -O1 -pthread -o $(B)/programs/servers/shop.cc tests/servers/cxx/shop.cc
	@rustc --edition 2021 -g -o $(B)/programs/servers/shop.rs tests/servers/rust/shop.rs
	@go build -o $(B)/programs/servers/shop.go tests/servers/go/shop.go
	@javac -g -d $(B)/programs/servers/java tests/servers/java/shop/*.java
	@mkdir -p $(B)/programs/systems
	@go build -o $(B)/programs/systems/goroutines tests/servers/systems/goroutines.go
	@javac -g -d $(B)/programs/systems tests/servers/systems/*.java
	@tools/tap -- $(if $(SYSTEMS),,'tools/run-in-kernel --timeout $(VM_TIMEOUT) tests/servers/run $(ONLY)') \
		$(if $(ONLY),,'tools/run-in-kernel --timeout 14400 tests/servers/repeat $(SYSTEMS)')

check-model: $(model_bin)
	@tools/tap $(model_bin)

check-world: $(world_bin)
	@tools/tap $(world_bin)

check-libzug: $(B)/zug $(B)/libzug.so $(libzug_bin)
	@tools/tap tests/tools/libzug $(libzug_bin)

# libzug on another processor: cross-built into a folder of its own, its tests under qemu-user.
arm64		:= aarch64-linux-gnu
arm64_bin	:= $(patsubst $(B)/%,$(B)/arm64/%,$(filter-out %/test_world,$(libzug_bin)))

check-arm64: $(B)/zug $(B)/libzug.a $(B)/libzug.so
	@tools/deps arm64
	@$(MAKE) B=$(B)/arm64 CC=$(arm64)-gcc AR=$(arm64)-ar LD=$(arm64)-ld OBJCOPY=$(arm64)-objcopy \
		$(arm64_bin) $(B)/arm64/libzug.so
	@tools/tap 'tests/tools/arm64 $(B)/arm64' $(arm64_bin:%='QEMU_LD_PREFIX=/usr/$(arm64) qemu-aarch64 %')

check-vm: all
	@tools/deps vm test
	@tools/tap $(vm_tests)

check-long: VM_TIMEOUT := 14400
check-long: all build-tests
	@tools/deps vm test
	@LONG=1 $(tap_host) tests/tools/vm $(vm_tests)

# The recipes of docs/scale.md with Slurm, GNU parallel and Kubernetes' types. CLUSTER: which of them; SHARDS: of the array job.
check-cluster: all
	@tools/deps vm cluster
	@tools/tap "tests/cluster/run $(CLUSTER)"

# DEATH: options of tests/vm/death, such as "--moments 1000 --seed 3".
check-death: all
	@tools/deps vm test
	@tools/tap "tools/run-in-kernel --timeout $(VM_TIMEOUT) tests/vm/death $(DEATH)"

# SOAK: options of tests/vm/soak, such as "--seconds 3600 --rows 12".
check-soak: all
	@tools/deps vm test
	@tools/tap "tools/run-in-kernel --timeout $(VM_TIMEOUT) tests/vm/soak $(SOAK)"

# SOAK: options of tests/vm/soak-zugd, such as "--executions 20000 --rows 20".
check-soak-zugd: all
	@tools/deps vm test
	@tools/tap "tools/run-in-kernel --timeout $(VM_TIMEOUT) tests/vm/soak-zugd $(SOAK)"

# LARGE: a pattern of names of tests, such as "500*".
check-large: all
	@tools/deps vm test
	@tests/large/build $(B)/large
	@tools/tap "tools/run-in-kernel --memory 3G --timeout $(VM_TIMEOUT) tests/vm/large $(LARGE)"

# MATRIX: options of tests/matrix/run, such as "--variants 'musl-*' --seconds 600".
check-matrix: all
	@tools/deps vm test
	@tools/tap "tests/matrix/run $(MATRIX)"

# Before every release: as a new user of each would try it.
check-releases:
	@tools/check-release 12 && tools/check-release 13

bench_bin	:= $(patsubst tools/%.c,$(B)/%,$(filter-out %/bench_search.c %/count.c %/count_mark.c %/lane_loop.c %/safestack.c %/show_trace.c,$(wildcard tools/bench/*.c)))

$(bench_bin): $(B)/%: tools/%.c
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(PROGRAM_CFLAGS) -o $@ $<

bench: all $(bench_bin)
	@tools/deps vm test
	@tools/bench-search speed
	@tools/bench-search lanes
	@tools/bench-libzug
	@tools/bench-show
	$(if $(wildcard tools/bench/run),@tools/run-in-kernel --timeout $(VM_TIMEOUT) tools/bench/run)

demo:
	@t0=$${EPOCHREALTIME/./}; tools/deps build vm || exit; \
	t1=$${EPOCHREALTIME/./}; $(MAKE) DEMO=1 $(B)/zugd $(B)/programs/lost-wakeup || exit; \
	t2=$${EPOCHREALTIME/./}; tools/run-in-kernel -v tools/demo; status=$$?; \
	t3=$${EPOCHREALTIME/./}; \
	printf 'demo: packages %d ms, build %d ms, run %d ms\n' $$(((t1 - t0) / 1000)) $$(((t2 - t1) / 1000)) \
		$$(((t3 - t2) / 1000)); exit $$status

share		:= $(DESTDIR)$(PREFIX)/share
man_pages	:= $(wildcard docs/man/*.1 docs/man/*.8)
# The files that install writes and uninstall removes.
libzug_headers	:= $(wildcard lib/zug/zug.h lib/zug/zug_pthread.h lib/zug/zug.hpp)
libzug_man	:= $(wildcard docs/man/*.3)
# man zug_join: a page for each call that libzug(3) tells.
libzug_calls	:= $(sort $(filter-out zug_options zug_campaign,\
		   $(shell sed -n '/^.SH SYN/,/^.SH DESC/p' docs/man/libzug.3 | grep -o 'zug_[a-z_]*')))
libzug_to	= $(DESTDIR)$(PREFIX)/lib
libzug_installed = $(addprefix $(DESTDIR)$(PREFIX)/include/,$(notdir $(libzug_headers))) $(libzug_to)/libzug.a \
		  $(libzug_to)/libzug.so.$(LIBZUG_VERSION) $(libzug_to)/libzug.so $(libzug_to)/pkgconfig/libzug.pc \
		  $(addprefix $(share)/man/man3/,$(notdir $(libzug_man)) $(libzug_calls:=.3))
installed	= $(libzug_installed) $(DESTDIR)$(PREFIX)/bin/zug $(DESTDIR)$(PREFIX)/bin/zugd $(share)/man/man5/zug-trace.5 \
		  $(share)/bash-completion/completions/zug \
		  $(foreach page,$(man_pages),$(share)/man/man$(subst .,,$(suffix $(page)))/$(notdir $(page)))

$(B)/zug-trace.5: docs/trace-format.md tools/md-to-man
	$(say) MAN $@
	$(Q)tools/md-to-man zug-trace 5 "a trace of zugzwang: one execution, to be replayed and explained" <$< >$@

# The library alone needs neither root nor a kernel.
install-libzug: $(B)/libzug.a $(B)/libzug.so
	install -d $(sort $(dir $(libzug_installed)))
	install -m 644 $(libzug_headers) $(DESTDIR)$(PREFIX)/include/
	install -m 644 $(B)/libzug.a $(libzug_to)/
	install -m 755 $(B)/libzug.so $(libzug_to)/libzug.so.$(LIBZUG_VERSION)
	ln -sf libzug.so.$(LIBZUG_VERSION) $(libzug_to)/libzug.so
	sed -e 's,@PREFIX@,$(PREFIX),' -e "s,@VERSION@,$$(sed -n 's/#define ZUG_VERSION "\(.*\)"/\1/p' lib/version.h)," \
		lib/zug/libzug.pc.in >$(libzug_to)/pkgconfig/libzug.pc
	chmod 644 $(libzug_to)/pkgconfig/libzug.pc
	install -m 644 $(libzug_man) $(share)/man/man3/
	@for call in $(libzug_calls); do echo '.so man3/libzug.3' >$(share)/man/man3/$$call.3; done
	@chmod 644 $(libzug_calls:%=$(share)/man/man3/%.3)
	@# the loader has a list of the libraries in its folders, /usr/local/lib among them; only root can renew it
	$(if $(DESTDIR),,@ldconfig 2>/dev/null || :)

install: install-libzug $(B)/zug $(B)/zug-trace.5
	install -d $(sort $(dir $(installed)))
	install -m 755 $(B)/zug $(DESTDIR)$(PREFIX)/bin/zug
	ln -sf zug $(DESTDIR)$(PREFIX)/bin/zugd
	install -m 644 $(wildcard docs/man/*.1) $(share)/man/man1/
	install -m 644 $(wildcard docs/man/*.8) $(share)/man/man8/
	install -m 644 $(B)/zug-trace.5 $(share)/man/man5/
	install -m 644 tools/completion.bash $(share)/bash-completion/completions/zug

uninstall:
	rm -f $(installed)

clean:
	rm -rf $(B)

-include $(wildcard $(B)/*.d $(B)/*/*.d $(B)/*/*/*.d $(B)/*/*/*/*.d)
