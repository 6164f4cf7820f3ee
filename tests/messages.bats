#!/usr/bin/env bats
# All messages: tests/messages runs the command lines of tests/messages.txt.

load helper

# shellcheck disable=SC2120
messages() {
    timeout -k 5 "$((4 * UNSEEN_TIMEOUT))" "$repository/tests/messages" "$@" 3>&-
}

@test "what is said, with which exit status, and what it leaves on disk" {
    need_full
    # shellcheck disable=SC2119
    messages
}

@test "each message begins with the name of the program, says of what it is, and why" {
    sed -n 's/^[0-9,]\+ \(x[0-9]* \)\?//p' "$repository/tests/messages.txt" | grep -v '^{' >said
    [[ $(wc -l <said) -gt 500 ]]
    run -1 grep -vE '^unseen: ([^ ].*: .+|.* is missing \(.*\))$' said
}

# bats test_tags=tool
@test "another message, another status, a line printed, a file changed: each is told, and can be accepted" {
    local fault
    cat >right <<'END'
# a comment
$ unseen --nosuch
2 unseen: --nosuch: unknown option (see unseen --help)
$ unseen s.bf access.log
> 6
> 7
> 8
> 9
0
~ s.bf
END
    messages right
    for fault in 's/see/or/' 's/^2/1/' '/^> 9/d' '/^~/d' 's/^~/+/'; do
        sed "$fault" right >table
        exits 1 messages table
    done
    exits 0 messages --update table
    same table right
}
