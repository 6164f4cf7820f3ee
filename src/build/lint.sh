#!/bin/sh
# Reads the source: each of these by itself, or all.
#
#     src/build/lint.sh [tidy | cppcheck | shell | man | rooms]...
#
# rooms: calls go down the list of rooms below, and a room is entered by its doors.
set -u

cd "$(dirname "$0")/../.." || exit 2
jobs=$(getconf _NPROCESSORS_ONLN)

# The analyzer, nine tenths of the time, reads the program; what tests do wrong the sanitizers see.
tidy() {
    log=$(mktemp) || return 1
    # shellcheck disable=SC2046  # the flags are words
    set -- -std=c17 -Isrc -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64 '-DUNSEEN_VERSION="0"' \
        $(src/build/headers.sh)
    {
        printf '%s\n' src/*/*.c | xargs -P "$jobs" -I '{}' clang-tidy --quiet '{}' -- "$@" &&
            printf '%s\n' tests/*/*.c | xargs -P "$jobs" -I '{}' \
                clang-tidy --quiet --checks=-clang-analyzer-* '{}' -- "$@"
    } 2>"$log"
    status=$?
    [ $status -eq 0 ] || grep -v 'warnings\? generated' "$log"
    rm "$log"
    return $status
}

# It reads no header of the system: what src insists on is defined for it.
cppcheck_all() {
    cppcheck --quiet --error-exitcode=1 --inline-suppr --std=c11 \
        --enable=warning,performance,portability --suppress=missingIncludeSystem \
        -Isrc -D_GNU_SOURCE -DF_OFD_SETLK=37 -DUNSEEN_VERSION='"0"' src tests
}

shell() {
    src/build/shell-files.sh | xargs -n 8 -P "$jobs" shellcheck -x
}

manual() {
    mandoc -T lint -W warning man/*.[1-8]
}

# The rooms from top to bottom, each with its doors: the headers that the rooms above may include. A
# room with "*" has no other headers than doors. What is included by a test is the test's affair.
rooms() {
    table=$(mktemp) || return 1
    cat >"$table" <<'END'
completions *
commands    command_rows.h option_rows.h command.h options.h
pipeline    *
queue       queue.h
merge       merge.h
filter      filter.h writer.h create.h survey.h pending.h
format      *
key         *
io          *
text        *
core        *
system      *
END
    # "src/ROOM/FILE:LINE:ROOM/HEADER" of each include of ours.
    grep -nE '^#include "[a-z]+/' src/*/*.[ch] | sed 's/#include "\([^"]*\)".*/\1/' |
        awk -F '[/:]' '
            FILENAME != "-" {
                split($0, word, " +")
                rank[word[1]] = FNR
                for (i = 2; i in word; i++)
                    door[word[1] "/" word[i]] = 1
                next
            }
            {
                room = $2; other = $5; header = $5 "/" $6
                if (!(room in rank) || !(other in rank))
                    wrong = "is of a room that src/build/lint.sh does not know"
                else if (rank[other] < rank[room])
                    wrong = "is above " room
                else if (other != room && !(header in door) && !((other "/*") in door))
                    wrong = "is no door of its room"
                else
                    next
                print $1 "/" $2 "/" $3 ":" $4 ": " header " " wrong
                status = 1
            }
            END { exit status }' "$table" -
    status=$?
    rm "$table"
    # What is pure neither prints nor ends the process.
    ! grep -nE '(^|[^a-z_])(v?f?printf|f?puts|perror|fopen|_?exit|abort)\(' \
        src/core/*.c src/key/*.c src/format/*.c || status=1
    return $status
}

[ $# -gt 0 ] || set -- tidy cppcheck shell man rooms
worst=0
for what; do
    case $what in
    tidy) tidy ;;
    cppcheck) cppcheck_all ;;
    shell) shell ;;
    man) manual ;;
    rooms) rooms ;;
    *)
        echo "lint: $what: not one of tidy, cppcheck, shell, man, rooms" >&2
        exit 2
        ;;
    esac || worst=1
done
exit $worst
