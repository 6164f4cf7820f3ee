# unseen: how to build, try, test and install it.
#
#   make                 build/unseen
#   make static          build/static/unseen, which needs no library; CC=musl-gcc makes it small
#   make demo            filter a generated list twice, and show what happens
#   make check           all tests; the last line is "N passed, N failed"
#   make lint            read the source: analyzers, shellcheck, mandoc, the order of rooms
#   make format          run clang-format; format-check only asks whether that is needed
#   make install         into $(DESTDIR)$(prefix); uninstall removes it
#   make dist            a source archive in build/dist
#   make deb             a Debian package in build/deb, and what lintian says of it
#   make wheel           static programs for two processors as packages for pip, in build/wheel
#   make release         these, and as archives, with manuals and completions; the source archive and
#                        checksums, in build/release
#   make deps            install what a build needs; demo and check do so by themselves
#   make clean           remove what was built
#
# Benchmarks and the long tests are scripts, and tests/README.md lists them.
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

# Not part of the program: what prints its tables for shells. Who builds for another processor needs
# one that was built for this one.
GENERATOR = src/completions/generate.c
COMPLETER = $(BUILD)/completions/generate
COMPLETIONS = $(addprefix $(BUILD)/completions/,unseen.bash _unseen unseen.fish)
SOURCES = $(filter-out $(GENERATOR),$(sort $(wildcard src/*/*.c)))
OBJECTS = $(SOURCES:src/%.c=$(BUILD)/obj/%.o)
# For other programs: all but main.
PARTS = $(filter-out $(BUILD)/obj/commands/main.o,$(OBJECTS))
MANUALS = $(sort $(wildcard man/*.[1-8]))
# What unseen-scale(7) tells the reader to copy.
EXAMPLES = $(sort $(wildcard man/examples/*))

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
NO_COMPILER = demo static check deps clean dist release wheel deb uninstall lint format format-check
ifneq ($(filter-out $(NO_COMPILER),$(or $(MAKECMDGOALS),all)),)
include $(BUILD)/config.mk
endif

all: $(BUILD)/unseen $(COMPLETIONS)

# $(call program,OBJECTS): builds a program of one more file.
define program
	@mkdir -p $(@D)
	$(SAY) "  CC      $<"
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) -MMD -MP -MF $@.d -o $@ $< $(1) $(ALL_LDLIBS)
endef

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

# OBJECT_FLAGS: for the program's own files, where they change nothing that is compiled (.ci/run).
$(BUILD)/obj/%.o: src/%.c $(BUILD)/config.mk Makefile
	@mkdir -p $(@D)
	$(SAY) "  CC      $<"
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(OBJECT_FLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/completions/generate: $(GENERATOR) $(PARTS) $(BUILD)/sources $(BUILD)/config.mk Makefile
	$(call program,$(PARTS))

$(BUILD)/completions/tables: $(COMPLETER)
	@mkdir -p $(@D)
	$(Q)$(COMPLETER) >$@

$(COMPLETIONS): $(BUILD)/completions/%: src/completions/% $(BUILD)/completions/tables
	$(Q)sed '/^# The tables of the program:/r $(BUILD)/completions/tables' $< >$@

-include $(OBJECTS:.o=.d) $(COMPLETER).d

# --- Trying and testing ---

# What tests are made of, and the goals tools, check-programs and programs.
-include tests/programs.mk

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

# --- Reading the source ---

lint:
	@src/build/lint.sh

C_FILES = $(sort $(wildcard src/*/*.[ch] tests/*/*.[ch]))

format:
	$(Q)clang-format -i $(C_FILES)

# Comments, too, which clang-format leaves as they are.
format-check:
	$(Q)! LC_ALL=C grep -nE '^.{101}' $(C_FILES)
	$(Q)clang-format --dry-run --Werror $(C_FILES)

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
release wheel deb:
	@src/build/deps.sh $(if $(filter deb,$@),deb,release)
	@src/packaging/$(if $(filter deb,$@),deb.sh $(BUILD),release.sh $(BUILD) $(filter wheel,$@))

# BUILD is the user's, and rm -r is final: only a directory that was made here goes.
clean:
	@if [ -e "$(BUILD)" ] && [ ! -e "$(BUILD)/flags" ] && [ "$(BUILD)" != build ]; then \
		echo "clean: $(BUILD) was not made by this Makefile: left alone" >&2; exit 1; \
	fi
	rm -rf "$(BUILD)"

FORCE:
.PHONY: all static deps demo check lint format format-check install uninstall \
	dist release wheel deb clean FORCE
