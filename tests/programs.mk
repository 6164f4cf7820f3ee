# What the tests run: included by the Makefile, which has the flags and what the program is made of.
#
#   tools            programs of one file and libraries for LD_PRELOAD, for tests that run the program
#   check-programs   what make check needs
#   fuzz-programs    those of tests/fuzz
#   programs         all of it, also for the scripts that take long (tests/README.md)

# Tests in C link all of the program but main (PARTS). Tools are of one file, without any of src.
programs_in = $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard tests/$(1)/*.c)))
UNIT = $(call programs_in,unit)
FUZZ = $(call programs_in,fuzz)
# Reads many small files in one process, for tests/key/oracle_rows.py.
ROWS = $(BUILD)/tests/key/oracle_rows
# Leaves out patterns of many values, for tests/key/oracle_without.py.
WITHOUT = $(BUILD)/tests/key/oracle_without
LINKED = $(UNIT) $(FUZZ) $(ROWS) $(WITHOUT) $(call programs_in,bench) $(call programs_in,torture)
TOOLS = $(call programs_in,tools)
# Libraries for LD_PRELOAD.
PRELOADS = $(patsubst tests/tools/preload/%.c,$(BUILD)/tests/tools/%.so,\
	$(sort $(wildcard tests/tools/preload/*.c)))
# The program, and the tests in C, where layers of more than 3 pages have a stage, of 64 at least.
STAGED = $(BUILD)/tests/tools/staged
STAGED_GROWTH = $(BUILD)/tests/growth.o
STAGED_TESTS = $(addprefix $(BUILD)/tests/,unit/test_stage unit/test_damage fuzz/fuzz_filter fuzz/fuzz_side_files)
staged = $(patsubst $(BUILD)/obj/core/growth.o,$(STAGED_GROWTH),$(1))

check-programs: all tools $(UNIT) $(ROWS) $(WITHOUT) $(FUZZ)

tools: $(TOOLS) $(PRELOADS) $(STAGED)

fuzz-programs: $(FUZZ)

programs: check-programs $(LINKED)

$(TOOLS): $(BUILD)/tests/%: tests/%.c $(BUILD)/config.mk Makefile
	$(call program)

$(LINKED): $(BUILD)/tests/%: tests/%.c $(PARTS) $(BUILD)/sources $(BUILD)/config.mk Makefile
	$(call program,$(if $(filter $@,$(STAGED_TESTS)),$(call staged,$(PARTS)),$(PARTS)))

$(STAGED_GROWTH): src/core/growth.c $(BUILD)/config.mk Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CPPFLAGS) -DSTAGE_FROM_PAGES=3 -DSTAGE_OF_MEMORY=1000000000 '-DSTAGE_PAGES(pages)=((pages) > 512 ? (pages) / 8 : 64)' \
		$(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(STAGED): $(OBJECTS) $(STAGED_GROWTH)
	@mkdir -p $(@D)
	$(SAY) "  LINK    $@"
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $(call staged,$(OBJECTS)) $(ALL_LDLIBS)

$(STAGED_TESTS): $(STAGED_GROWTH)

# Not with the flags of the program: what a sanitizer needs is not in every process.
$(PRELOADS): $(BUILD)/tests/tools/%.so: tests/tools/preload/%.c $(BUILD)/config.mk Makefile
	@mkdir -p $(@D)
	$(SAY) "  CC      $<"
	$(Q)$(CC) -std=c17 -D_GNU_SOURCE $(WARN) -O2 -fPIC -shared -o $@ $<

# Those that run commands in one process, again and again (tests/fuzz/hostile.h), and one whose input
# is cut into pieces. FUZZER comes from tests/fuzz/replay: only these programs get the fuzzer's main.
$(FUZZ): ALL_LDLIBS += $(FUZZER)
$(patsubst %,$(BUILD)/tests/fuzz/fuzz_%,filter side_files): ALL_LDFLAGS += -Wl,--wrap=confine_begin
$(BUILD)/tests/fuzz/fuzz_lines $(ROWS): ALL_LDFLAGS += -Wl,--wrap=read
# Two thirds of the time of a fuzzer would go into counting the steps of its sums.
$(BUILD)/obj/core/sizing.o: ALL_CFLAGS += $(UNCOUNTED)

-include $(STAGED_GROWTH:.o=.d) $(addsuffix .d,$(TOOLS) $(LINKED))

.PHONY: tools check-programs fuzz-programs programs
