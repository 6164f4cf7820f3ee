#!/usr/bin/env bats
# What bash, zsh and fish offer as completions. Each shell answers the same questions.

load helper

scripts=${UNSEEN_TOOLS:-${UNSEEN%/*}/tests/tools}/../../completions

# in_SHELL LINE...: what it offers for each, one a line, and then "==".

# As bash splits the line, "=" is a word.
in_bash() {
    bash --norc -c '
        source "$1" && shift
        for line; do
            read -ra COMP_WORDS <<<"${line//=/ = }"
            [[ $line != *[\ =] ]] || COMP_WORDS+=("")
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=()
            _unseen unseen "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
            printf "%s\n" "${COMPREPLY[@]}" ==
        done
    ' bash "$scripts/unseen.bash" "$@" | sed 's/ $//'
}

in_zsh() {
    timeout -k 1 120 zsh -f "$repository/tests/completions.zsh" "$scripts" "$@"
}

# fish repeats the option before "=", and describes.
in_fish() {
    HOME=$PWD timeout -k 1 120 fish -c 'source $argv[1]; for line in $argv[2..]; complete -C $line; echo ==; end' \
        "$scripts/unseen.fish" "$@" | cut -f 1 | sed 's/^--[a-z]*=//'
}

# answers SHELL: to every question as it should. (In any order; a directory may have its slash or not.)
answers() {
    mkdir bin logs
    printf '#!/bin/sh\n' >bin/hand-over
    chmod +x bin/hand-over
    touch seen.bf other.bf notes.txt
    PATH=$PWD/bin:$PATH
    local line offer offered
    cat >wanted
    mapfile -t lines < <(cut -d '|' -f 1 wanted)
    for line in "${lines[@]}"; do
        offered=
        while IFS= read -r offer && [[ $offer != == ]]; do offered+=${offer%/}$'\n'; done
        echo "$line|$(sort -u <<<"$offered" | sed '/^$/d' | paste -sd ' ')"
    done < <("in_$1" "${lines[@]}") >got
    diff wanted got
}

questions() {
    cat <<'END'
unseen que|query
unseen ve|verify
unseen help p|plan pop push
unseen -n 5 cre|create
unseen --by url mer|merge
unseen --by=url mer|merge
unseen -- que|
unseen seen.bf que|
unseen query --inv|--invert-match
unseen query seen.bf --inv|--invert-match
unseen --inv query seen.bf --tag --inv|--invert-match
unseen create --inv|
unseen create --app|
unseen --app|--append
unseen create --forc|--force
unseen merge --out|--output
unseen pop --until|--until-done
unseen pop --wait |
unseen --by |endpoint host line url
unseen --by=u|url
unseen key --by e|endpoint
unseen -n |
unseen query s|seen.bf
unseen s|seen.bf shard stats
unseen stats seen.bf o|other.bf
unseen query seen.bf n|notes.txt
unseen create seen.bf n|
unseen --create --like o|other.bf
unseen merge -o al|
unseen -a n|notes.txt
unseen key n|notes.txt
unseen '*' n|notes.txt
unseen seen.bf -x hand-o|hand-over
unseen seen.bf -x cat n|notes.txt
unseen pop seen.bf -x cat --inv n|notes.txt
END
}

@test "bash: commands, options, profiles, filters, files, and what follows -x" {
    answers bash < <(questions)
}

@test "zsh: commands, options, profiles, filters, files, and what follows -x" {
    need zsh
    answers zsh < <(questions)
}

@test "fish: commands, options, profiles, filters, files, and what follows -x" {
    need fish
    answers fish < <(questions)
}

# --- the same options everywhere: each prints "COMMAND OPTION", a line for each spelling -------------

of_help() {
    unseen help all | awk '
        function flush(    n, m, i, j, a, b) {
            n = split(takers == "" ? all : takers, a, " ")
            m = split(names, b, " ")
            for (i = 1; i <= n; i++)
                for (j = 1; j <= m; j++)
                    print a[i], b[j]
            names = takers = ""
        }
        BEGIN { all = ENVIRON["ALL"] }
        /^ +-/ {
            flush()
            for (i = 1; $i ~ /^-/; i++) { sub(",", "", $i); names = names " " $i }
        }
        /^ *\([a-z ]*/ && takers == "" { open = 1; sub(/.*\(/, "") }
        open { open = !/\)$/; sub(/\)$/, ""); takers = takers " " $0 }
        END { flush() }'
}

of_bash() {
    # shellcheck disable=SC1091 # made by the Makefile
    source "$scripts/unseen.bash"
    for command in $ALL; do
        for option in ${_unseen_options[${command/plain/filter}]}; do echo "$command" "$option"; done
    done
}

# The rows that all three scripts have: _unseen_option 'COMMAND... ' ... 'HELP' OPTION...
of_tables() {
    sed -n "s/^_unseen_option '\([^']*\)'.*'\([^']*\)$/\1|\2/p" "$scripts/tables" | awk -F '|' '{
        n = split($1, a, " "); m = split($2, b, " ")
        for (i = 1; i <= n; i++) for (j = 1; j <= m; j++) print a[i], b[j]
    }' | sed 's/^filter /plain /'
}

# Every long option is tried with every command, and every letter. (One shell does it, without the traps of
# bats.)
of_program() {
    # shellcheck disable=SC2046 # for the other shell; options are words
    timeout 120 bash -c '
        try() {
            said=$("$UNSEEN" ${1/plain/} "$2" ./x 2>&1 >/dev/null </dev/null)
            [[ $said == *"not an option here"* || $said == *"unknown option"* ]] || echo "$1 $2"
        }
        for command in $ALL; do
            for option; do try "$command" "$option"; done
        done
        for letter in -{a..z} -{A..Z} -{0..9}; do try plain "$letter"; done
    ' bash $(cut -d " " -f 2 help | grep -e -- | sort -u)
}

# What OPTIONS and COMMANDS name: ".It Fl z , 0 , Fl -zero-terminated", ".Pq Fl -output".
of_manual() {
    awk '/^\.Sh/ { inside = /OPTIONS|COMMANDS/ }
        inside && /^\./ {
            flag = 0
            for (i = 1; i <= NF; i++)
                if ($i ~ /^\.?[A-Z][a-z]$/)
                    flag = $i ~ /Fl$/
                else if (flag && $i ~ /^-?[a-zA-Z0-9]/)
                    print "-" $i
        }' "$repository/man/unseen.1"
}

@test "help, the completions, the program and the manual name the same options" {
    local source
    ALL="plain $(in_bash 'unseen help ' | paste -sd ' ' | sed 's/\ball\b//; s/==//')"
    export ALL
    for source in help tables bash program; do
        "of_$source" | sort -u >$source
    done
    for source in tables bash; do
        diff help $source || { echo "help, and $source"; return 1; }
    done
    grep -e ' --' -e '^plain ' help | diff - program
    [[ $(wc -l <help) -gt 250 ]] || complain "only $(wc -l <help)"
    diff <(cut -d ' ' -f 2 help | sort -u) <(of_manual | sort -u)
    # the help of a command has no others
    for command in ${ALL#plain }; do
        unseen help "$command" | grep -Eo -- '^ {2,6}-[^ ]+( --[a-z-]+)?' | grep -Eo -- '-[^ ,]+' | sed "s/^/$command /"
    done >some
    [[ $(wc -l <some) -gt 100 ]]
    run -1 grep -vxFf help some
}
