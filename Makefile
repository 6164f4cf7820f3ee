# unseen: how to build, try, test and install it.
#
#   make                 build/unseen
#   make static          build/static/unseen, which needs no library; CC=musl-gcc makes it small
#   make demo            filter a generated list twice, and show what happens
#   make check           all tests; the last line is "N passed, N failed"
#   make test-unit       only the tests in C
#   make messages        writes what the program says now into tests/messages.txt
#   make bench           speed, beside other tools; bench-quick: in a minute
#   make cpus            build and test for five other processors; they and this one share files
#   make accuracy        measure false-positive rates, as a table
#   make torture         the long tests: kills, faults, full disks
#   make mutants         faults made in the source: which does no quick test see?
#   make engines         run the files in man/examples/ on real engines; ENGINE=slurm: on Slurm only
#   make fuzz            look for input that breaks a fuzz program, FUZZ_TIME (60) seconds each; AFL=1:
#                        with AFL++, not libFuzzer
#   make coverage        run the tests, and show which lines of src they reach
#   make lint            read the source: analyzers, shellcheck, mandoc
#   make format          run clang-format; format-check only asks whether that is needed
#   make install         into $(DESTDIR)$(prefix); uninstall removes it
#   make dist            a source archive in build/dist
#   make wheel           static programs for two processors as packages for pip, in build/wheel
#   make release         these, and as archives, with manuals and completions; the source archive and
#                        checksums, in build/release
#   make check-long      what CI leaves out: the Debian package, builds compared, keys of many lines
#   make deb             a Debian package in build/deb, and what lintian says of it
#   make html            the manual as HTML, in build/html
#   make deps            install what a build needs; demo and check do so by themselves
#
# You can set: CC, CFLAGS, CPPFLAGS, LDFLAGS, LDLIBS, DESTDIR, prefix or PREFIX (and bindir, mandir,
# docdir); BUILD, the directory for all that is built, so that builds can stand side by side; TESTS,
# the tests that check runs ("filter.bats sizing"); WERROR=1, to turn warnings into errors;
# NO_INSTALL=1, never to install packages; V=1, to show whole commands.

VERSION = 0.1.0
# Where packages say the project is, and who made them.
HOMEPAGE = https://unseen.example
MAINTAINER = The unseen authors <authors@unseen.example>
BUILD = build

CFLAGS ?= -O2 -g
LDLIBS ?=
prefix = $(or $(PREFIX),/usr/local)
exec_prefix = $(prefix)
bindir = $(exec_prefix)/bin
datarootdir = $(prefix)/share
mandir = $(datarootdir)/man
docdir = $(datarootdir)/doc/unseen
bashcompdir = $(datarootdir)/bash-completion/completions
zshcompdir = $(datarootdir)/zsh/site-functions
fishcompdir = $(datarootdir)/fish/vendor_completions.d
INSTALL = install
TESTS ?=
WERROR =

SHELL = /bin/sh
.SUFFIXES:
.DELETE_ON_ERROR:
# The scripts see the user's tools and flags in the environment, where quotes need no quoting.
export CC CPPFLAGS CFLAGS LDFLAGS LDLIBS

Q = $(if $(V),,@)
SAY = @$(if $(V),:,echo)
# Without -j from the user, the targets that do everything use all processors.
PARALLEL = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1))

# --- What is made of what ---

# Not part of the program: what prints its tables for shells.
GENERATOR = src/completions/generate.c
SOURCES = $(filter-out $(GENERATOR),$(sort $(wildcard src/*/*.c)))
OBJECTS = $(SOURCES:src/%.c=$(BUILD)/obj/%.o)
# Tests in C link all but main.
PARTS = $(filter-out $(BUILD)/obj/commands/main.o,$(OBJECTS))

programs_in = $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard tests/$(1)/*.c)))
UNIT = $(call programs_in,unit)
BENCH = $(call programs_in,bench)
TORTURE = $(call programs_in,torture)
FUZZ = $(call programs_in,fuzz)
# Generators and the like: programs of one file, without any of src.
TOOLS = $(call programs_in,tools)
# A program that asks a library what our rules should give.
ORACLE = $(BUILD)/tests/key/oracle_uriparser
# The program, and the tests in C, where layers of more than 3 pages have a stage, of 64 at least.
STAGED_GROWTH = $(BUILD)/tests/growth.o
STAGED = $(BUILD)/tests/tools/staged
STAGED_TESTS = $(addprefix $(BUILD)/tests/,unit/test_stage unit/test_damage fuzz/fuzz_filter fuzz/fuzz_side_files)
staged = $(patsubst $(BUILD)/obj/core/growth.o,$(STAGED_GROWTH),$(1))
# Libraries for LD_PRELOAD.
PRELOADS = $(patsubst tests/tools/preload/%.c,$(BUILD)/tests/tools/%.so,\
	$(sort $(wildcard tests/tools/preload/*.c)))
MANUALS = $(sort $(wildcard man/*.[1-8]))
# What unseen-scale(7) tells the reader to copy.
EXAMPLES = $(sort $(wildcard man/examples/*))
COMPLETIONS = $(addprefix $(BUILD)/completions/,unseen.bash _unseen unseen.fish)
# Who builds for another processor needs one that was built for this one.
COMPLETER = $(BUILD)/completions/generate

# --- Flags ---

# Sizes of filters come from floating point and must be the same bits on every machine: hence no
# contraction, no fast-math and no wider registers, whatever CFLAGS say. Files and times have 64 bits
# on machines of 32, too. File names in debug information are relative, so that a build does not
# depend on where it was made.
ALL_CPPFLAGS = -Isrc -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64 \
	-DUNSEEN_VERSION='"$(VERSION)"' $(CPPFLAGS) $(HEADERS)
ALL_CFLAGS = -std=c17 $(WARN) $(if $(filter 1,$(WERROR)),-Werror) $(HARDEN) \
	-ffile-prefix-map="$$PWD"=. $(CFLAGS) -ffp-contract=off -fno-fast-math $(DOUBLES)
ALL_LDFLAGS = $(HARDEN_LINK) $(LDFLAGS)
# libc first: most symbols are there, and at each start all libraries before it are asked for them.
ALL_LDLIBS = $(LDLIBS) -lc -lm -pthread

# WARN, HARDEN, HARDEN_LINK, DOUBLES and HEADERS come from probing the compiler. Some goals must run
# without one: a bare machine has none before it has asked src/build/deps.sh.
NO_COMPILER = demo static check mutants engines coverage fuzz deps clean dist release wheel deb check-long html uninstall \
	lint lint-% format format-check
ifneq ($(filter-out $(NO_COMPILER),$(or $(MAKECMDGOALS),all)),)
include $(BUILD)/config.mk
endif

all: $(BUILD)/unseen $(COMPLETIONS)

# Writes TEXT to the target, but leaves that alone if it has not changed: then nothing is rebuilt.
keep_text = @mkdir -p $(@D) && printf '%s\n' "$$TEXT" >$@.new && \
	if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(BUILD)/flags: export TEXT = $(CC) | $(CPPFLAGS) | $(CFLAGS) | $(LDFLAGS) | $(LDLIBS) | $(WERROR) | $(VERSION)
$(BUILD)/flags: FORCE
	$(keep_text)

# A file that is gone leaves everything else older than the program.
$(BUILD)/sources: export TEXT = $(SOURCES)
$(BUILD)/sources: FORCE
	$(keep_text)

$(BUILD)/config.mk: $(BUILD)/flags src/build/probe.sh
	$(Q)src/build/probe.sh >$@.new && mv $@.new $@

$(BUILD)/unseen: $(OBJECTS) $(BUILD)/sources $(BUILD)/config.mk
	$(SAY) "  LINK    $@"
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $(OBJECTS) $(ALL_LDLIBS)

$(BUILD)/obj/%.o: src/%.c $(BUILD)/config.mk Makefile
	@mkdir -p $(@D)
	$(SAY) "  CC      $<"
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/completions/generate: $(GENERATOR) $(PARTS) $(BUILD)/sources $(BUILD)/config.mk Makefile
	@mkdir -p $(@D)
	$(SAY) "  CC      $<"
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) -MMD -MP -MF $@.d -o $@ $< $(PARTS) \
		$(ALL_LDLIBS)

$(BUILD)/completions/tables: $(COMPLETER)
	@mkdir -p $(@D)
	$(Q)$(COMPLETER) >$@

$(COMPLETIONS): $(BUILD)/completions/%: src/completions/% $(BUILD)/completions/tables
	$(Q)sed '/^# The tables of the program:/r $(BUILD)/completions/tables' $< >$@

$(TOOLS): $(BUILD)/tests/%: tests/%.c $(BUILD)/config.mk Makefile
	@mkdir -p $(@D)
	$(SAY) "  CC      $<"
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) -MMD -MP -MF $@.d -o $@ $< $(ALL_LDLIBS)

$(STAGED_GROWTH): src/core/growth.c $(BUILD)/config.mk Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CPPFLAGS) -DSTAGE_FROM_PAGES=3 -DSTAGE_OF_MEMORY=1000000000 '-DSTAGE_PAGES(pages)=((pages) > 512 ? (pages) / 8 : 64)' \
		$(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(STAGED): $(OBJECTS) $(STAGED_GROWTH)
	@mkdir -p $(@D)
	$(SAY) "  LINK    $@"
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $(call staged,$(OBJECTS)) $(ALL_LDLIBS)

$(STAGED_TESTS): $(STAGED_GROWTH)

# Where the library is not there, or cannot be linked as the flags want it, the oracle is not made,
# and the test that needs it is skipped.
$(ORACLE): tests/key/oracle_uriparser.c $(BUILD)/config.mk Makefile
	@mkdir -p $(@D)
	@if echo 'int main(void) { void *volatile p = (void *)uriNormalizeSyntaxA; return !p; }' | \
		$(CC) -w $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -include uriparser/Uri.h -x c -o $@.probe - -luriparser $(LDLIBS) 2>$@.log; then \
		echo "  CC      $<" && rm $@.probe && $(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) \
			-o $@ $< -luriparser $(ALL_LDLIBS); \
	else \
		echo "  NOT     $< (see $@.log)"; \
	fi

# Not with the flags of the program: what a sanitizer needs is not in every process.
$(PRELOADS): $(BUILD)/tests/tools/%.so: tests/tools/preload/%.c $(BUILD)/config.mk Makefile
	@mkdir -p $(@D)
	$(SAY) "  CC      $<"
	$(Q)$(CC) -std=c17 -D_GNU_SOURCE $(WARN) -O2 -fPIC -shared -o $@ $<

$(UNIT) $(BENCH) $(TORTURE) $(FUZZ): $(BUILD)/tests/%: tests/%.c $(PARTS) \
		$(BUILD)/sources $(BUILD)/config.mk Makefile
	@mkdir -p $(@D)
	$(SAY) "  CC      $<"
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) -MMD -MP -MF $@.d -o $@ $< \
		$(if $(filter $@,$(STAGED_TESTS)),$(call staged,$(PARTS)),$(PARTS)) $(ALL_LDLIBS)

-include $(OBJECTS:.o=.d) $(STAGED_GROWTH:.o=.d) $(BUILD)/completions/generate.d
-include $(addsuffix .d,$(TOOLS) $(UNIT) $(BENCH) $(TORTURE) $(FUZZ))

# --- Trying and testing ---

# deps.sh runs before the make that needs a compiler: hence a make within make.

deps:
	@src/build/deps.sh build

demo:
	@src/build/deps.sh build
	@$(MAKE) --no-print-directory $(PARALLEL) all tools
	@src/build/demo.sh $(BUILD)

static:
	@src/build/deps.sh build
	@$(MAKE) --no-print-directory $(PARALLEL) BUILD=$(BUILD)/static LDFLAGS="-static $(LDFLAGS)" all

check:
	@src/build/deps.sh check
	@$(MAKE) --no-print-directory $(PARALLEL) check-programs
	@tests/run --build $(BUILD) $(TESTS)

check-programs: all tools $(UNIT) $(ORACLE) $(FUZZ)

tools: $(TOOLS) $(PRELOADS) $(STAGED)

messages: all
	@UNSEEN=$(BUILD)/unseen tests/messages --update

test-unit: $(UNIT)
	@tests/run --build $(BUILD) --unit

# Each of these is a script of its own, told where the programs are.
bench bench-quick: all tools $(BENCH)
	@BUILD=$(BUILD) tests/bench/run $(if $(filter bench-quick,$@),--quick)

cpus: all tools
	@src/build/deps.sh cpus
	@BUILD=$(BUILD) tests/cpus

accuracy: all
	@BUILD=$(BUILD) tests/accuracy/run

mutants:
	@tests/mutants

torture: all tools $(TORTURE)
	@BUILD=$(BUILD) tests/torture/run

engines:
	@src/build/deps.sh check
	@$(MAKE) --no-print-directory $(PARALLEL) all tools
	@BUILD=$(BUILD) tests/engines/run $(ENGINE)

fuzz-programs: $(FUZZ)

FUZZ_TIME = 60
FUZZED = -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all -DLIBFUZZER
# AFL++ takes programs that were written for libFuzzer.
FUZZER_OF = $(if $(AFL),afl,fuzz)
FUZZ_WITH_fuzz = CC=clang CFLAGS='$(FUZZED) -fsanitize=fuzzer-no-link' \
	UNCOUNTED=-fno-sanitize-coverage=trace-cmp,inline-8bit-counters,pc-table
FUZZ_WITH_afl = CC=afl-clang-fast CFLAGS='$(FUZZED)'

# Two thirds of the time would go into counting the steps of its sums.
$(BUILD)/obj/core/sizing.o: ALL_CFLAGS += $(UNCOUNTED)

# Only these programs get the fuzzer's main.
$(FUZZ): ALL_LDLIBS += $(FUZZER)
# Those that run commands in one process, again and again (tests/fuzz/hostile.h).
$(patsubst %,$(BUILD)/tests/fuzz/fuzz_%,filter side_files): ALL_LDFLAGS += \
	-Wl,--wrap=confine_begin
# It cuts what is read into pieces.
$(BUILD)/tests/fuzz/fuzz_lines: ALL_LDFLAGS += -Wl,--wrap=read

fuzz:
	@src/build/deps.sh $(if $(AFL),afl,ci)
	@AFL_QUIET=1 $(MAKE) --no-print-directory $(PARALLEL) BUILD=$(BUILD)/$(FUZZER_OF) \
		$(FUZZ_WITH_$(FUZZER_OF)) FUZZER=-fsanitize=fuzzer fuzz-programs
	@BUILD=$(BUILD)/$(FUZZER_OF) tests/fuzz/replay --$(FUZZER_OF) $(FUZZ_TIME)

# The compiler counts lines of source, whatever it optimises. The counters are mapped into a
# file (that is what the relocation is for), so that those of a run that is killed count, too, and
# so that a run makes no system call at its end that a test might make fail.
COUNTED = -O2 -g -fprofile-instr-generate -fcoverage-mapping -mllvm -runtime-counter-relocation

# Programs that the build itself runs write their counts there, too.
coverage: export LLVM_PROFILE_FILE = $(BUILD)/coverage/built.profraw
coverage:
	@src/build/deps.sh ci
	@$(MAKE) --no-print-directory $(PARALLEL) BUILD=$(BUILD)/coverage CC=clang CFLAGS='$(COUNTED)' check-programs
	@src/build/coverage.sh $(BUILD)/coverage $(TESTS)

# --- Reading the source ---

C_FILES = $(sort $(wildcard src/*/*.c tests/*/*.c))
C_HEADERS = $(sort $(wildcard src/*/*.h tests/*/*.h))
LINT_FLAGS = -std=c17 $(ALL_CPPFLAGS)

lint: lint-tidy lint-cppcheck lint-shell lint-man

# $(1): which files; $(2): options.
tidy = printf '%s\n' $(filter $(1),$(C_FILES)) | xargs -P "$$(getconf _NPROCESSORS_ONLN)" -I '{}' \
	clang-tidy --quiet $(2) '{}' -- $(LINT_FLAGS)

# The analyzer, nine tenths of the time, reads the program; what tests do wrong the sanitizers see.
lint-tidy:
	@mkdir -p $(BUILD)
	$(Q){ $(call tidy,src/%) && $(call tidy,tests/%,--checks=-clang-analyzer-*); } 2>$(BUILD)/tidy.log \
		|| { grep -v 'warnings\? generated' $(BUILD)/tidy.log; exit 1; }

# It reads no header of the system: what src insists on is defined for it.
lint-cppcheck:
	$(Q)cppcheck --quiet --error-exitcode=1 --inline-suppr --std=c11 \
		--enable=warning,performance,portability --suppress=missingIncludeSystem \
		-Isrc -D_GNU_SOURCE -DF_OFD_SETLK=37 -DUNSEEN_VERSION='"$(VERSION)"' src tests

lint-shell:
	$(Q)src/build/shell-files.sh | xargs -n 8 -P "$$(getconf _NPROCESSORS_ONLN)" shellcheck -x

lint-man:
	$(Q)if [ -n "$(MANUALS)" ]; then mandoc -T lint -W warning $(MANUALS); fi

# Comments, too, which clang-format leaves as they are.
lint-width:
	$(Q)! LC_ALL=C grep -nE '^.{101}' $(C_FILES) $(C_HEADERS)

format:
	$(Q)clang-format -i $(C_FILES) $(C_HEADERS)

format-check: lint-width
	$(Q)clang-format --dry-run --Werror $(C_FILES) $(C_HEADERS)

# --- Installing and packing ---

# The shell finds directories in the environment, where their names need no quoting.
install uninstall: export DESTDIR := $(DESTDIR)
install uninstall: export bindir := $(bindir)
install uninstall: export docdir := $(docdir)
install uninstall: export mandir := $(mandir)
install uninstall: export bashcompdir := $(bashcompdir)
install uninstall: export zshcompdir := $(zshcompdir)
install uninstall: export fishcompdir := $(fishcompdir)

# $(1): a manual page; where it belongs.
manual_path = $$DESTDIR$$mandir/man$(subst .,,$(suffix $(1)))

install: all
	$(INSTALL) -d "$$DESTDIR$$bindir" "$$DESTDIR$$docdir/examples"
	$(INSTALL) -m 755 $(BUILD)/unseen "$$DESTDIR$$bindir/unseen"
	$(foreach page,$(MANUALS),$(INSTALL) -d "$(call manual_path,$(page))" && \
		$(INSTALL) -m 644 $(page) "$(call manual_path,$(page))" &&) :
	$(INSTALL) -m 644 LICENSE $(wildcard README.md) "$$DESTDIR$$docdir"
	$(INSTALL) -m 644 $(EXAMPLES) "$$DESTDIR$$docdir/examples"
	$(INSTALL) -d "$$DESTDIR$$bashcompdir" "$$DESTDIR$$zshcompdir" "$$DESTDIR$$fishcompdir"
	$(INSTALL) -m 644 $(BUILD)/completions/unseen.bash "$$DESTDIR$$bashcompdir/unseen"
	$(INSTALL) -m 644 $(BUILD)/completions/_unseen "$$DESTDIR$$zshcompdir"
	$(INSTALL) -m 644 $(BUILD)/completions/unseen.fish "$$DESTDIR$$fishcompdir"

uninstall:
	rm -f "$$DESTDIR$$bindir/unseen"
	rm -f $(foreach page,$(MANUALS),"$(call manual_path,$(page))/$(notdir $(page))")
	rm -f "$$DESTDIR$$docdir/LICENSE" "$$DESTDIR$$docdir/README.md"
	rm -f $(EXAMPLES:man/%="$$DESTDIR$$docdir/%")
	rm -f "$$DESTDIR$$bashcompdir/unseen" "$$DESTDIR$$zshcompdir/_unseen" \
		"$$DESTDIR$$fishcompdir/unseen.fish"
	for directory in "$$DESTDIR$$docdir/examples" "$$DESTDIR$$docdir"; do \
		if [ -d "$$directory" ]; then rmdir "$$directory"; fi; \
	done

dist:
	@src/build/dist.sh $(VERSION) $(BUILD)/dist $(BUILD)

release wheel deb: export VERSION := $(VERSION)
release wheel deb: export HOMEPAGE := $(HOMEPAGE)
release wheel deb: export MAINTAINER := $(MAINTAINER)
release deb:
	@src/build/deps.sh $@
	@src/packaging/$@.sh $(BUILD)

wheel:
	@src/build/deps.sh release
	@src/packaging/release.sh $(BUILD) wheel

# The steps that CI leaves out, for their time.
check-long:
	@.ci/run keys_million reproducible deb

# Other projects' pages have no place to link to.
html:
	@src/build/deps.sh html
	@mkdir -p $(BUILD)/html
	$(Q)cp src/packaging/manual.css $(BUILD)/html
	$(Q)for page in $(MANUALS:man/%=%); do \
		(cd man && mandoc -T html -O 'style=manual.css,man=%N.%S.html;elsewhere:' $$page) | \
		sed 's|<a class="Xr" href="elsewhere:[^"]*">\([^<]*\)</a>|\1|g' >$(BUILD)/html/$$page.html; \
	done

# BUILD is the user's, and rm -r is final: only a directory that was made here goes.
clean:
	@if [ -e "$(BUILD)" ] && [ ! -e "$(BUILD)/flags" ] && [ "$(BUILD)" != build ]; then \
		echo "clean: $(BUILD) was not made by this Makefile: left alone" >&2; exit 1; \
	fi
	rm -rf "$(BUILD)"

FORCE:
.PHONY: all static deps demo check check-programs tools messages mutants test-unit bench bench-quick cpus \
	accuracy torture engines fuzz fuzz-programs coverage lint lint-tidy lint-cppcheck lint-shell \
	lint-man lint-width format format-check install uninstall dist release wheel deb check-long html clean FORCE
