/*
 * option_rows - all options, a row each; in the order in which help lists them.
 *
 * A row names the member of struct options (options.h) for the value, and has all that parsing,
 * messages, help and completions need. So a new option needs its member, its row, and the code that
 * uses the member.
 *
 *     OPTION(member, kind, group, commands, {spellings, letters first}, argument in help,
 *            short help (up to 20 characters; NULL: not listed), help, bounds of a number;
 *            other members of struct option_entry)
 *
 * No include guard: included several times, with different definitions of OPTION.
 */

/* clang-format off */
OPTION(fields, FIELDS, GROUP_KEY, FOR_KEY_OPTIONS, {"-f", "--fields"}, "LIST",
       "compare these fields", "compare only these fields: 2, 1,3-, '!2', id,name",
       .describes = true)
OPTION(separator, SEPARATOR, GROUP_KEY, FOR_KEY_OPTIONS, {"-t", "--separator"}, "SEP",
       "separator of fields", "byte between fields: , or \\t (default: blanks)", .describes = true)
OPTION(csv, NOTHING, GROUP_KEY, FOR_KEY_OPTIONS, {"--csv"}, NULL,
       "rows of CSV", "input is CSV, also with newlines; -f takes names", .describes = true,
       .excludes = B(jsonl), .why = "a line is either CSV or JSON")
OPTION(jsonl, NOTHING, GROUP_KEY, FOR_KEY_OPTIONS, {"--jsonl"}, NULL,
       "lines of JSON", "lines are JSON; -f takes names of members", .describes = true,
       .excludes = B(separator) | B(header),
       .why = "a line of JSON has neither separators nor a header line")
OPTION(by, PROFILE, GROUP_KEY, FOR_KEY_OPTIONS, {"--by"}, "FORM",
       "url, host, endpoint", "compare the url, host, endpoint or line", .describes = true)
OPTION(ignore_case, NOTHING, GROUP_KEY, FOR_KEY_OPTIONS, {"-i", "--ignore-case"}, NULL,
       NULL, "ignore the case of ASCII letters", .describes = true)
OPTION(trim, NOTHING, GROUP_KEY, FOR_KEY_OPTIONS, {"--trim"}, NULL,
       NULL, "ignore white space at the ends of lines and fields", .describes = true)
OPTION(without, PATTERNS, GROUP_KEY, FOR_KEY_OPTIONS, {"--without"}, "PATTERN",
       "leave out matches", "leave out what matches PATTERN (repeatable)", .describes = true)
OPTION(header, NOTHING, GROUP_KEY, FOR_READERS, {"--header"}, NULL,
       NULL, "the first line of each FILE is a header line")

OPTION(zero_terminated, NOTHING, GROUP_LINES, FOR_READERS | FOR_POP,
       {"-z", "-0", "--zero-terminated"}, NULL,
       "lines end with NUL", "lines end with NUL, in the input and the output")
OPTION(append, FILE, GROUP_LINES, FOR_FILTER, {"-a", "--append"}, "FILE",
       "append new lines", "append new lines to FILE instead of printing them")
OPTION(tee, FILE, GROUP_LINES, FOR_FILTER, {"--tee"}, "FILE",
       "print and append", "print new lines, and append them to FILE, too",
       .needs = OPERAND_FILTER,
       .excludes = B(append) | B(tag) | B(repeated) | B(exec) | B(pending),
       .why = "--tee prints new lines and keeps them in FILE, each once")
OPTION(dropped, FILE, GROUP_LINES, FOR_FILTER | FOR_ADD | FOR_PUSH, {"--dropped"}, "FILE",
       NULL, "append dropped lines to FILE")
OPTION(max_count, COUNT, GROUP_LINES, FOR_FILTER | FOR_QUERY | FOR_POP, {"-m", "--max-count"}, "N",
       "stop after N lines", "stop after N lines were printed or selected", 0, 1e15)
OPTION(tag, NOTHING, GROUP_LINES, FOR_FILTER | FOR_QUERY | FOR_KEY, {"--tag"}, NULL,
       "tag lines: new, seen", "print every line after new or seen (key: key, none)",
       .excludes = B(append) | B(dropped) | B(repeated) | B(exec) | B(count) | B(quiet) |
                   B(invert_match),
       .why = "--tag prints every line")
OPTION(exit_status, NOTHING, GROUP_LINES, FOR_FILTER, {"-e", "--exit-status"}, NULL,
       NULL, "exit with 1 if no line was selected")
OPTION(repeated, NOTHING, GROUP_LINES, FOR_FILTER, {"-d", "--repeated"}, NULL,
       NULL, "print lines that occur more than once, once each",
       .excludes = B(exec) | B(pending) | B(durable) | B(window) | B(forget_after) | B(dropped) |
                   B(summary) | OPERAND_FILTER,
       .why = "-d prints repeated lines, in memory only; for the field separator: -t")

OPTION(exec, COMMAND, GROUP_DELIVERY, FOR_FILTER | FOR_POP, {"-x", "--exec"}, "CMD ARG...",
       "pass lines to CMD", "pass lines to CMD; if CMD fails, they come again",
       .needs = OPERAND_FILTER, .excludes = B(append),
       .why = "-x hands the lines to CMD; for a list of new lines: -a or --tee, without -x; to "
              "keep the output of CMD: >> FILE")
OPTION(pending, FILE, GROUP_DELIVERY, FOR_FILTER, {"--pending"}, "FILE",
       NULL, "remember nothing yet; commit with FILE will", .needs = OPERAND_FILTER,
       .excludes = B(exec) | B(durable), .why = "each decides when lines are remembered")
OPTION(durable, NOTHING, GROUP_DELIVERY, FOR_FILTER | FOR_PUSH, {"--durable"}, NULL,
       NULL, "remember lines when the output is on disk", .needs = OPERAND_FILTER,
       .excludes = B(exec), .why = "each decides when lines are remembered")

OPTION(create, NOTHING, GROUP_MAKING, FOR_FILTER | FOR_ADD | FOR_PUSH, {"--create"}, NULL,
       "make missing FILTER", "make FILTER if it is missing", .needs = OPERAND_FILTER)
OPTION(capacity, COUNT, GROUP_MAKING, FOR_MAKERS | FOR_PLAN, {"-n", "--capacity"}, "N",
       "size for N lines", "size FILTER for N distinct lines: 1000000, 1e9, 10M",
       1, SIZING_KEYS_MAX, .describes = true)
OPTION(rate, RATE, GROUP_MAKING, FOR_MAKERS | FOR_PLAN, {"-p", "--fpr"}, "P",
       "false-positive rate", "false-positive rate: 1e-4, 1% (default 1e-6)",
       SIZING_RATE_MIN, SIZING_RATE_MAX, .describes = true)
OPTION(window, COUNT, GROUP_MAKING, FOR_MAKERS | FOR_PLAN, {"--window"}, "N",
       "remember the last N", "remember the last N new lines, forget older ones",
       1, SIZING_KEYS_MAX, .describes = true,
       .excludes = B(capacity) | B(forget_after) | B(fixed) | B(counting),
       .why = "a window remembers the last N lines and forgets older ones by itself")
OPTION(forget_after, TIME, GROUP_MAKING, FOR_MAKERS | FOR_PLAN, {"--forget-after"}, "TIME",
       NULL, "forget lines after TIME: 90s, 15m, 7d, 1d12h", 1, TIME_MAX, .describes = true,
       .excludes = B(fixed) | B(counting) | B(size),
       .why = "the filter grows with the lines of each TIME and forgets them by itself")
OPTION(size, SIZE, GROUP_MAKING, FOR_MAKERS | FOR_PLAN, {"--size"}, "SIZE",
       NULL, "size of FILTER, which never grows: 64M, 2G", 72 * 1024, 0x1p50, .describes = true,
       .excludes = B(bits_per_key), .why = "both set the size")
OPTION(fixed, NOTHING, GROUP_MAKING, FOR_MAKERS | FOR_PLAN, {"--fixed"}, NULL,
       NULL, "never grow; after N lines the rate rises", .describes = true)
OPTION(counting, NOTHING, GROUP_MAKING, FOR_MAKERS | FOR_PLAN, {"--counting"}, NULL,
       NULL, "lines can be removed; four times as large", .describes = true,
       .needs = OPERAND_FILTER)
OPTION(like, FILTER, GROUP_MAKING, FOR_MAKERS | FOR_SHARD, {"--like"}, "FILTER",
       NULL, "copy the options of FILTER (shard: its key)", .describes = true, .beside_like = true,
       .why = "--like copies this from its FILTER")
OPTION(secret, NOTHING, GROUP_MAKING, FOR_MAKERS, {"--secret"}, NULL,
       NULL, "hash with a secret, against crafted lines", .describes = true, .beside_like = true,
       .excludes = B(seed), .why = "a secret replaces the seed")
OPTION(shard, SHARD, GROUP_MAKING, FOR_MAKERS, {"--shard"}, "I/N",
       NULL, "make FILTER for shard I of N only", .describes = true, .beside_like = true,
       .needs = OPERAND_FILTER)
OPTION(force, NOTHING, GROUP_MAKING, FOR_CREATE | FOR_MERGE, {"--force"}, NULL,
       NULL, "replace an existing filter")

OPTION(output, FILTER, GROUP_SINGLE, FOR_MERGE, {"-o", "--output"}, "OUT",
       NULL, "the filter to make")
OPTION(until_done, NOTHING, GROUP_SINGLE, FOR_POP, {"--until-done"}, NULL,
       NULL, "if no line waits, wait while workers hold lines")
OPTION(wait, TIME, GROUP_SINGLE, FOR_POP, {"--wait"}, "TIME",
       NULL, "if no line waits, wait for one at most this long", 0, TIME_MAX)
OPTION(tries, COUNT, GROUP_SINGLE, FOR_POP, {"--tries"}, "N",
       NULL, "give up a line when CMD has failed on it N times", 1, 9, .needs = B(exec))
OPTION(failed, NOTHING, GROUP_SINGLE, FOR_PUSH, {"--failed"}, NULL,
       NULL, "queue the lines of FILTER.failed again", .excludes = B(dropped) | B(header),
       .why = "--failed queues all lines of FILTER.failed")
OPTION(invert_match, NOTHING, GROUP_SINGLE, FOR_QUERY, {"-v", "--invert-match"}, NULL,
       NULL, "print lines that are not in FILTER")
OPTION(count, NOTHING, GROUP_SINGLE, FOR_QUERY, {"-c", "--count"}, NULL,
       NULL, "print only the number of lines selected")
OPTION(quiet, NOTHING, GROUP_SINGLE, FOR_QUERY, {"-q", "--quiet"}, NULL,
       NULL, "print nothing; stop at the first line selected")
OPTION(files, FILE, GROUP_SINGLE, FOR_SHARD, {"--files"}, "PATTERN",
       NULL, "with N: write each shard to its own file: s.%d")

OPTION(bits_per_key, NUMBER, GROUP_EXPERT, FOR_MAKERS | FOR_PLAN, {"--bits-per-key"}, "B",
       NULL, "size in bits per line of -n; FILTER never grows", 1, 1000, .describes = true,
       .excludes = B(window) | B(forget_after),
       .why = "it sets the size of a filter that never grows; for a window: -p")
OPTION(hashes, COUNT, GROUP_EXPERT, FOR_MAKERS | FOR_PLAN, {"--hashes"}, "K",
       NULL, "bits to set per line; FILTER never grows", 1, BLOCKS_MAX * FIELDS_MAX,
       .describes = true, .excludes = B(window) | B(forget_after),
       .why = "it is for a filter that never grows; for a window: -p")
OPTION(seed, SEED, GROUP_EXPERT, FOR_MAKERS, {"--seed"}, "S",
       NULL, "seed of the hash, 64 bits (default 0)", 0, 0x1p64, .describes = true,
       .beside_like = true)
OPTION(threads, COUNT, GROUP_EXPERT, FOR_READERS, {"-j", "--threads"}, "N",
       NULL, "use at most N threads (default 2, or 1)", 1, 1024)
OPTION(max_line, SIZE, GROUP_EXPERT, FOR_READERS | FOR_POP, {"--max-line"}, "SIZE",
       NULL, "treat longer lines as an error (default 1G)", 1, MAX_LINE_MAX)
OPTION(allow_network, NOTHING, GROUP_EXPERT,
       FOR_MAKERS | FOR_COMMIT | FOR_REMOVE | FOR_MERGE | FOR_POP, {"--allow-network"}, NULL,
       NULL, "allow writing to a filter on NFS, SMB, sshfs ...")

OPTION(progress, NOTHING, GROUP_SAID, FOR_READERS, {"--progress"}, NULL,
       NULL, "show on a terminal how far the run has come")
OPTION(summary, NOTHING, GROUP_SAID, FOR_SUMMARIES, {"--summary"}, NULL,
       NULL, "at the end, report on standard error what was done")
OPTION(json, NOTHING, GROUP_SAID, FOR_SUMMARIES | FOR_STATS | FOR_PLAN, {"--json"}, NULL,
       NULL, "stats, plan, --summary: report as JSON", .needs = B(summary))
OPTION(help, NOTHING, GROUP_SAID, FOR_ALL, {"-h", "--help"}, NULL,
       NULL, "print help; after a command, its help")
OPTION(version, NOTHING, GROUP_SAID, FOR_ALL, {"-V", "--version"}, NULL,
       NULL, "print the version")
/* clang-format on */
