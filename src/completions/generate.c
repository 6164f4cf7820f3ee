/*
 * generate - prints the tables that a shell needs to complete command lines, from the program's own
 * tables. The Makefile appends the script of the same name in this directory, which uses them.
 *
 *     generate unseen.bash | _unseen | unseen.fish
 */
#include "commands/command.h"

#include <stdio.h>
#include <string.h>

static const char *const operand_names[] = {
    [OPERANDS_FILTER] = "filter",
    [OPERANDS_FILTERS] = "filters",
    [OPERANDS_FILTER_FILES] = "filter-files",
    [OPERANDS_FILES] = "files",
    [OPERANDS_COMMAND] = "command",
};

#define PROFILE_LIST "line url host endpoint"

/* How a value is completed: its kind for bash, text after its name for zsh, options for fish. */
struct value {
    const char *bash, *zsh, *fish;
};

static const struct value *value_of(const struct option_entry *entry)
{
    static const struct value unknown = {"value", " ", " -x"};
    static const struct value known[] = {
        [TAKES_FILE] = {"file", "_files", " -r -F"},
        [TAKES_FILTER] = {"filter", "_unseen_filters", " -x -a '(__unseen_filters)'"},
        [TAKES_PROFILE] = {"profile", "(" PROFILE_LIST ")", " -x -a '" PROFILE_LIST "'"},
        [TAKES_COMMAND] = {"command", " _command_names -e:*::arguments: _normal", ""},
    };
    bool is_known = entry->kind < sizeof known / sizeof *known && known[entry->kind].bash != NULL;
    return is_known ? &known[entry->kind] : &unknown;
}

/* The name of a command in the scripts; "filter" is the form without a command. */
static const char *name_of(const struct command *command)
{
    return command->name[0] != '\0' ? command->name : "filter";
}

/* Prints text for a string in single quotes: `quote` replaces a single quote, and a backslash goes
 * before each character of `special`. */
static void print_text(const char *text, const char *quote, const char *special)
{
    for (; *text != '\0'; text++)
        if (*text == '\'')
            fputs(quote, stdout);
        else
            printf("%s%c", strchr(special, *text) != NULL ? "\\" : "", *text);
}

static void print_commands_of(const struct option_entry *entry)
{
    for (const struct command *command = command_table; command->name != NULL; command++)
        if ((entry->commands & command->bit) != 0)
            printf(" %s", name_of(command));
}

static void print_spellings(const struct option_entry *entry, const char *separator)
{
    for (int i = 0; i < SPELLINGS && entry->spellings[i] != NULL; i++)
        printf("%s%s", i == 0 ? "" : separator, entry->spellings[i]);
}

/* --- bash: functions that map a word to words --- */

static void bash_options(void)
{
    puts("_unseen_options() # COMMAND\n{\n    case $1 in");
    for (const struct command *command = command_table; command->name != NULL; command++) {
        printf("    %s) echo '", name_of(command));
        for (int i = 0; i < OPTIONS; i++)
            if ((option_table[i].commands & command->bit) != 0) {
                print_spellings(&option_table[i], " ");
                putchar(' ');
            }
        puts("' ;;");
    }
    puts("    esac\n}");
}

static void bash_takes(void)
{
    puts("_unseen_takes() # OPTION\n{\n    case $1 in");
    for (int i = 0; i < OPTIONS; i++) {
        if (option_table[i].kind == TAKES_NOTHING)
            continue;
        fputs("    ", stdout);
        print_spellings(&option_table[i], " | ");
        printf(") echo %s ;;\n", value_of(&option_table[i])->bash);
    }
    puts("    esac\n}");
}

static void bash_operands(void)
{
    puts("_unseen_operands() # COMMAND\n{\n    case $1 in");
    for (const struct command *command = command_table; command->name != NULL; command++)
        printf("    %s) echo %s ;;\n", name_of(command), operand_names[command->operands]);
    puts("    esac\n}");
}

static void print_bash(void)
{
    fputs("_unseen_commands='", stdout);
    for (const struct command *command = command_table + 1; command->name != NULL; command++)
        printf("%s ", command->name);
    puts("'\n_unseen_profiles='" PROFILE_LIST "'");
    bash_options();
    bash_takes();
    bash_operands();
}

/* --- zsh: specifications for _arguments --- */

/* How a value is attached: "-n+" and "--size=" accept it in the same word or the next. */
static const char *zsh_ending(const char *spelling, enum option_kind kind)
{
    if (kind == TAKES_NOTHING || kind == TAKES_COMMAND)
        return "";
    return option_is_long(spelling) ? "=" : "+";
}

static void zsh_option(const struct option_entry *entry)
{
    for (int i = 0; i < SPELLINGS && entry->spellings[i] != NULL; i++) {
        fputs("    _unseen_option '", stdout);
        print_commands_of(entry);
        fputs(" ' '(", stdout);
        print_spellings(entry, " ");
        printf(")%s%s[", entry->spellings[i], zsh_ending(entry->spellings[i], entry->kind));
        print_text(entry->help, "'\\''", "[]:\\");
        putchar(']');
        if (entry->kind != TAKES_NOTHING)
            printf(":%s:%s", entry->argument, value_of(entry)->zsh);
        puts("'");
    }
}

static void print_zsh(void)
{
    puts("#compdef unseen\n\n_unseen_commands=(");
    for (const struct command *command = command_table + 1; command->name != NULL; command++) {
        printf("    '%s:", command->name);
        print_text(command->summary, "'\\''", ":\\");
        puts("'");
    }
    puts(")\ntypeset -gA _unseen_operands=(");
    for (const struct command *command = command_table; command->name != NULL; command++)
        printf("    %s %s\n", name_of(command), operand_names[command->operands]);
    puts(")\n_unseen_options() {");
    for (int i = 0; i < OPTIONS; i++)
        zsh_option(&option_table[i]);
    puts("}");
}

/* --- fish: a call of complete for each option --- */

static void fish_option(const struct option_entry *entry)
{
    fputs("complete -c unseen -n '__unseen_is", stdout);
    print_commands_of(entry);
    putchar('\'');
    for (int i = 0; i < SPELLINGS && entry->spellings[i] != NULL; i++)
        if (option_is_long(entry->spellings[i]))
            printf(" -l %s", entry->spellings[i] + 2);
        else
            printf(" -s %s", entry->spellings[i] + 1);
    if (entry->kind != TAKES_NOTHING)
        fputs(value_of(entry)->fish, stdout);
    fputs(" -d '", stdout);
    print_text(entry->help, "\\'", "\\");
    puts("'");
}

/* Options whose value may be the next word, which is then not an operand. */
static void fish_valued(void)
{
    fputs("set -g __unseen_valued", stdout);
    for (int i = 0; i < OPTIONS; i++)
        if (option_table[i].kind != TAKES_NOTHING && option_table[i].kind != TAKES_COMMAND) {
            putchar(' ');
            print_spellings(&option_table[i], " ");
        }
    putchar('\n');
}

static void print_fish(void)
{
    puts("set -g __unseen_commands");
    for (const struct command *command = command_table + 1; command->name != NULL; command++) {
        printf("set -a __unseen_commands %s\\t'", command->name);
        print_text(command->summary, "\\'", "\\");
        puts("'");
    }
    for (const struct command *command = command_table; command->name != NULL; command++)
        printf("set -g __unseen_operands_%s %s\n", name_of(command),
               operand_names[command->operands]);
    fish_valued();
    for (int i = 0; i < OPTIONS; i++)
        fish_option(&option_table[i]);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*print)(void);
    } scripts[] = {{"unseen.bash", print_bash},
                   {"_unseen", print_zsh},
                   {"unseen.fish", print_fish}};
    for (size_t i = 0; argc == 2 && i < sizeof scripts / sizeof *scripts; i++)
        if (strcmp(argv[1], scripts[i].name) == 0) {
            scripts[i].print();
            return fflush(stdout) == 0 ? 0 : 1;
        }
    fputs("usage: generate unseen.bash | _unseen | unseen.fish\n", stderr);
    return 2;
}
