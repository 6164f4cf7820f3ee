#!/usr/bin/env bats
# What bash, zsh and fish offer as completions. Each shell answers the same questions.

# shellcheck disable=SC2154 # repository, out, err and code are set by helper.bash
load helper

scripts=${UNSEEN_TOOLS:-${UNSEEN%/*}/tests/tools}/../../completions

# in_bash LINE: what it offers, one a line; as bash splits the line, "=" is a word.
in_bash() {
    local -a words
    read -ra words <<<"${1//=/ = }"
    [[ $1 != *[\ =] ]] || words+=("")
    # shellcheck disable=SC2016 # for the other shell
    bash --norc -c '
        source "$1" && shift
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _unseen unseen "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf "%s\n" "${COMPREPLY[@]}"
    ' bash "$scripts/unseen.bash" "${words[@]}" | sed 's/ $//'
}

in_zsh() {
    timeout -k 1 60 zsh -f "$repository/tests/completions.zsh" "$scripts" "$1"
}

# fish repeats the option before "=", and describes.
in_fish() {
    # shellcheck disable=SC2016 # for the other shell
    HOME=$PWD timeout -k 1 60 fish -c 'source $argv[1]; complete -C $argv[2]' \
        "$scripts/unseen.fish" "$1" | cut -f 1 | sed 's/^--[a-z]*=//; /^$/d'
}

# offers SHELL LINE: as one line, sorted; a directory may have its slash or not.
offers() {
    "in_$1" "$2" | sed 's|/$||' | sort -u | grep . | paste -sd ' '
}

# answers SHELL: to every question as it should.
answers() {
    local line wanted got failed=0
    mkdir bin logs
    printf '#!/bin/sh\n' >bin/hand-over
    chmod +x bin/hand-over
    touch seen.bf other.bf notes.txt
    PATH=$PWD/bin:$PATH
    while IFS='|' read -r line wanted; do
        got=$(offers "$1" "$line")
        [[ $got == "$wanted" ]] || {
            echo "$line: offered '$got', and not '$wanted'"
            failed=$((failed + 1))
        }
    done <<'END'
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
unseen --summary=|json
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
    [[ $failed -eq 0 ]]
}

@test "bash: commands, options, profiles, filters, files, and what follows -x" {
    answers bash
}

@test "zsh: commands, options, profiles, filters, files, and what follows -x" {
    need zsh
    answers zsh
}

@test "fish: commands, options, profiles, filters, files, and what follows -x" {
    need fish
    answers fish
}

# The program itself says whether an option is one of a command's. (One shell asks it all, without the
# traps of bats.)
@test "bash: all options of each command, and no others" {
    local command all
    all=$(for command in '' $(in_bash 'unseen help '); do in_bash "unseen $command -"; done | sort -u)
    [[ $(wc -w <<<"$all") -gt 60 ]]
    for command in $(in_bash 'unseen help '); do
        in_bash "unseen $command -" | sort >offered
        # shellcheck disable=SC2016,SC2086 # for the other shell; options are words
        timeout 60 sh -c 'command=$1
            shift
            for option; do
                "$UNSEEN" "$command" "$option" x 2>said >/dev/null </dev/null
                grep -q -e "not an option here" -e "belongs to" said || printf "%s\n" "$option"
            done' sh "$command" $all >taken
        diff offered taken || { echo "offered, and taken: $command"; return 1; }
    done
}

@test "zsh and fish: the options that bash has" {
    local command shell
    need zsh fish
    for command in '' create query plan pop merge help; do
        for shell in bash zsh fish; do
            "in_$shell" "unseen $command --" | sort -u >"$shell"
        done
        grep -q . bash
        diff bash zsh
        diff bash fish
    done
}
