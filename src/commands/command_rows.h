/*
 * command_rows - all commands, a row each; in the order in which help lists them.
 *
 * A row makes the command's bit FOR_NAME, the prototype of the function that runs it, and its entry
 * in the table, from which dispatch, help, messages and completions come. So a new command needs
 * its row, the file of its function, and the bit in the rows of the options that it takes.
 *
 *     COMMAND(NAME, function, word, operands, title over it and the next ones in the short help
 *             (NULL: as before), how it is called, a second way (or NULL), summary, more lines of
 *             its help (or NULL), other words for it (each between blanks; or NULL))
 *
 * The plain form, without a command, comes first. No include guard: included several times, with
 * different definitions of COMMAND.
 */

/* clang-format off */
COMMAND(FILTER, filter, "", OPERANDS_FILTER_FILES, NULL,
       "unseen [FILTER [FILE...]] [-x CMD [ARG]...]", NULL,
       "print each line that was not seen before", NULL, NULL)

COMMAND(CREATE, create, "create", OPERANDS_FILTER, "Make, fill and query filters",
       "unseen create FILTER", NULL,
       "make an empty filter",
       "Without options, FILTER grows as needed, and at most one new line in a million\n"
       "is dropped by mistake. Any two of -n, -p and --size determine the third; with\n"
       "--size or --fixed, FILTER never grows.\n"
       "  unseen create --csv -f id FILTER  compare rows of CSV by their column id\n",
       " new init make touch ")
COMMAND(ADD, add, "add", OPERANDS_FILTER_FILES, NULL,
       "unseen add FILTER [FILE...]", NULL,
       "remember lines without printing them",
       "For lines that you do not want to see, such as those of last year.\n",
       " insert put learn import load ")
COMMAND(QUERY, query, "query", OPERANDS_FILTER_FILES, NULL,
       "unseen query FILTER [FILE...]", NULL,
       "print the lines that are in FILTER",
       "FILTER is not changed. Exit status: 0 if a line was selected, 1 if none was, and\n"
       "2 or greater after an error.\n"
       "  unseen query -v FILTER list      print the lines that are new\n"
       "  unseen query -c FILTER list      print how many lines are in FILTER\n"
       "  unseen query -q FILTER list      print nothing, and set the exit status\n"
       "  unseen query --tag FILTER list   print every line, after \"seen\" or \"new\"\n",
       " check test contains has lookup find get grep ")
COMMAND(REMOVE, remove, "remove", OPERANDS_FILTER_FILES, NULL,
       "unseen remove FILTER [FILE...]", NULL,
       "remove lines from a counting filter",
       "FILTER must have been made with --counting. Lines that are not in FILTER are no\n"
       "error; at the end, unseen reports how many there were. Remove only lines that\n"
       "FILTER has printed: removing others can make it forget lines it should remember.\n",
       " delete del rm forget drop erase ")

COMMAND(STATS, stats, "stats", OPERANDS_FILTERS, "Inspect filters and keys, plan, get help",
       "unseen stats FILTER...", NULL,
       "report lines, fill, false-positive rate",
       "The figures are computed from the bits of FILTER, not from counters.\n",
       " show info stat status inspect ")
COMMAND(VERIFY, verify, "verify", OPERANDS_FILTERS, NULL,
       "unseen verify FILTER...", NULL,
       "check filters for damage",
       "Exit status: 0 if all filters are sound, even if there are notes; 1 if something\n"
       "is wrong with a filter that can be used; 2 if one is damaged or unreadable.\n",
       " fsck validate ")
COMMAND(PLAN, plan, "plan", OPERANDS_FILES, NULL,
       "unseen plan FILE... | -n N", NULL,
       "say how large a filter would be",
       "Any two of -n, -p and --size determine the third. Nothing is made.\n"
       "With FILE, unseen counts the distinct lines in it, and uses that number as -n.\n"
       "The report then ends with the command that makes such a filter.\n",
       " size estimate calc ")
COMMAND(KEY, key, "key", OPERANDS_FILES, NULL,
       "unseen key [FILE...]", NULL,
       "print the key of each line",
       "The key is what is compared. The operands are files of lines, not filters.\n"
       "  unseen key --by url links       print each link as --by url compares it\n",
       " keys normalize normalise canonicalize ")
COMMAND(HELP, help, "help", OPERANDS_COMMAND, NULL,
       "unseen help [COMMAND | all]", NULL,
       "print help on a command, or all options",
       "`unseen help unseen` lists the options of unseen without a command.\n",
       " usage man ")

COMMAND(PUSH, push, "push", OPERANDS_FILTER_FILES, "Work through a queue",
       "unseen push FILTER [FILE...]", NULL,
       "append new lines to the queue of FILTER",
       "The first push makes the queue: FILTER.queue, a directory of text files.\n"
       "To queue lines again that pop --tries has given up: unseen push --failed FILTER\n",
       " enqueue append offer ")
COMMAND(POP, pop, "pop", OPERANDS_FILTER, NULL,
       "unseen pop FILTER [-x CMD [ARG]...]", NULL,
       "print the oldest line, or pass it to CMD",
       "The line is taken off the queue once it was printed, or once CMD, which reads it\n"
       "from standard input, has exited with 0. With -m N, pop takes the oldest N lines.\n"
       "The exit status is 1 if no line waits. If CMD fails, its lines go to the back of\n"
       "the queue, and the exit status is 3. With --tries N, lines on which CMD failed N\n"
       "times go to FILTER.failed, and the exit status is 0, so that a loop goes on:\n"
       "  while unseen pop FILTER --until-done --tries 3 -x ./visit\n"
       "  do :; done\n",
       " dequeue shift take next ")

COMMAND(COMMIT, commit, "commit", OPERANDS_FILTER_FILES, "Retry tasks, share work among machines",
       "unseen commit FILTER FILE...", NULL,
       "remember the lines of --pending runs",
       "  unseen --pending keys FILTER list >new    print new lines, remember none yet\n"
       "  unseen commit FILTER keys && rm keys      remember them once `new` is safe\n"
       "The files can be committed in any order, at any time, and more than once. While\n"
       "keys exists, a run that names it is a retry, and prints the same lines again.\n",
       " settle ")
COMMAND(SHARD, shard, "shard", OPERANDS_FILES, NULL,
       "unseen shard I/N [FILE...]", "unseen shard N [FILE...]",
       "print the lines of shard I of N",
       "Shards are counted from 1. Lines with the same key are in the same shard.\n"
       "  unseen shard 1/4 list            print the lines of the first of 4 shards\n"
       "  unseen shard 4 list              print every line after its shard and a TAB\n"
       "  unseen shard 4 --files s%d list  write the shards to the files s1 to s4\n"
       "  unseen shard --by host 1/4 list  keep all pages of a host in one shard\n",
       " split part partition distribute ")
COMMAND(MERGE, merge, "merge", OPERANDS_FILTERS, NULL,
       "unseen merge -o OUT FILTER...", NULL,
       "make one filter of several",
       "OUT remembers the lines of all FILTERs, and may be one of them. Make the filters\n"
       "alike, with unseen create --like. If they are shards, all of them must be given.\n",
       " join union combine ")
/* clang-format on */
