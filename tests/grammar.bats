#!/usr/bin/env bats
# The command line: commands and files, options, help. (What is refused: messages.bats; numbers and
# recipes as they are written: tests/unit/test_number.c, test_recipe.c.)

load helper

# --- the first word ----------------------------------------------------------

@test "the file system is never asked: a file of that name changes nothing" {
    local word
    exits 0 unseen --create ./seen < <(seq 3)
    for word in seen '--create seen' '-n 10 seen'; do
        fails_with 2 'seen: unknown command' unseen $word < <(seq 5)
    done
    # nor does a file with the name of a command hide the command
    cp seen stats
    fails_with 2 'FILTER' unseen stats
    succeeds unseen ./stats < <(seq 4)
    prints '4\n'
}

@test "what is not [a-z][a-z-]*, or comes after --, is a filter" {
    local name
    for name in Seen seen2 seen.bf seen_bf ./seen 9 SEEN '-- seen' '-- query' '-- -n'; do
        exits 0 unseen --create $name < <(seq 3)
        says "^unseen: ${name#-- }: created"
        rm "./${name#-- }"
    done
    fails_with 2 'seen/: ' unseen seen/ < <(seq 3)
}

# --- options and operands ----------------------------------------------------

# holds_table: of lines "OUTPUT|COMMAND LINE", each is run beside f.bf, which has 1 to 3, and the files
# a (3, 4), -- (4, 5) and -m (5); its input is 2 to 6.
holds_table() {
    local wanted line
    exits 0 unseen --create -n 100 made.bf < <(seq 3)
    seq 2 6 >in
    seq 3 4 >a
    seq 4 5 >--
    echo 5 >-m
    while IFS='|' read -r wanted line; do
        cp made.bf f.bf
        eval "succeeds $line" <in || { echo "$line"; return 1; }
        [[ $(tr '\n\0' ' .' <"$out") == "$wanted" ]] || complain "$line" || return 1
    done
}

@test "where options, operands and -- can stand, and how they can be written" {
    holds_table <<'END'
4 |unseen f.bf -m 1
4 |unseen -m1 f.bf
4 |unseen f.bf --max-count=1
4 5 |unseen --max-count 2 f.bf
4 |unseen f.bf a
4 5 |unseen f.bf a -m 9 -- --
4 5 |unseen f.bf -- -- -m
5 |unseen f.bf -- -m
4 5 6 |unseen f.bf -
4 |env POSIXLY_CORRECT=1 "$UNSEEN" f.bf -m 1
2 |env POSIXLY_CORRECT=1 "$UNSEEN" query f.bf -c
2 |unseen -c query f.bf
3 |unseen query f.bf -vc
1 |unseen query f.bf a --count
1 |unseen query f.bf -v a --count
4 5 6 |unseen -n 100 f.bf --fpr 1e-6
4 5 6 |unseen f.bf -n1e2 -p10^-6 --
2 3 4 5 6 |unseen
2 3 4 5 6 |unseen --
2.3.|unseen -zm2 < <(printf '2\0003\0002\0004\0')
2.3.|unseen -0e < <(printf '2\0003\0002\0')
2.3.|unseen -ezm 2 -- < <(printf '2\0003\0002\0004\0')
4 5 6 |unseen -a /dev/stdout f.bf
2 3 |unseen f.bf --dropped ./- >/dev/null && cat ./- >"$out"
END
}

@test "a line that is named as a file: the message's command does it" {
    exits 0 unseen create f.bf
    exits 2 unseen push f.bf "it's"
    eval "$(sed 's/.*(if that is a line: \(.*\))$/\1/' "$err")"
    succeeds unseen pop f.bf
    prints "it's\\n"
}

# --- help --------------------------------------------------------------------

@test "help, in general and for each command, under its three names: on stdout, within 80 columns" {
    local command
    succeeds unseen help
    cp "$out" wanted
    for command in --help -h '--create absent.bf --help'; do
        succeeds unseen $command
        same "$out" wanted
    done
    [[ $(commands | wc -l) -ge 14 && ! -e absent.bf ]]
    for command in $(commands); do
        succeeds unseen help "$command"
        grep -q "^Usage: unseen $command" "$out" || complain "does not say 'unseen $command'"
        cp "$out" one
        succeeds unseen "$command" --help
        same "$out" one
        succeeds unseen "$command" -h
        same "$out" one
        cat one >>wanted
    done
    succeeds unseen help unseen
    grep -Fq 'Usage: unseen [OPTION]... [FILTER [FILE...]]' "$out" || complain "not of the plain form"
    cat "$out" >>wanted
    [[ $(unseen help | wc -l) -le 40 ]] || complain "the short help does not fit a terminal"
    succeeds unseen help all
    [[ $(cat "$out" wanted | wc -L) -le 80 ]] || complain "a line is longer than 80 columns"
}

@test "--version, -V: whatever else is on the line" {
    local form
    for form in --version -V 'query --version' '-n 5 -V'; do
        succeeds unseen $form
        grep -Eqx 'unseen [0-9]+\.[0-9]+.*' "$out" || complain "not a version"
    done
}
