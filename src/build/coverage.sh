#!/bin/sh
# Runs the tests on a build that counts, in build/coverage, and prints how much of src they reach. The
# pages in build/coverage/report show each line.
#
#     src/build/coverage.sh [TEST...]
#
# Without a TEST, it runs all of `make check`, and of the long tests, at a small scale, those that
# make each system call and each allocation fail, because most other uncovered code handles that.
set -u

cd "$(dirname "$0")/../.." || exit 1
directory=$PWD/build/coverage
src/build/deps.sh ci || exit 1
# The compiler counts lines of source, whatever it optimises. The counters are mapped into a file (that
# is what the relocation is for), so that those of a run that is killed count, too, and so that a run
# makes no system call at its end that a test might make fail. Programs that the build runs count, too.
LLVM_PROFILE_FILE=$directory/built.profraw make -s -j"$(getconf _NPROCESSORS_ONLN)" BUILD=build/coverage \
    CC=clang CFLAGS='-O2 -g -fprofile-instr-generate -fcoverage-mapping -mllvm -runtime-counter-relocation' \
    programs || exit 1
counts=$directory/counts

# A file for each program, writable by all, because tests run the program as other users, too.
rm -rf "$counts"
mkdir "$counts"
export LLVM_PROFILE_FILE="$counts/%m%c.profraw"
(umask 0 && "$directory/unseen" --version >/dev/null) || exit 1

tests/run --build "$directory" "$@"
status=$?
if [ $# -eq 0 ]; then
    BUILD=$directory TORTURE_SCALE=${TORTURE_SCALE:-5} tests/torture/run tests/torture/calls.bats || status=1
fi

set -- -instr-profile="$counts/all.profdata" "$directory/unseen"
for program in "$directory"/tests/unit/test_*[!.]?; do
    case $program in
    *.d) ;;
    *) set -- "$@" -object "$program" ;;
    esac
done
{
    llvm-profdata merge -sparse -o "$counts/all.profdata" "$counts"/*.profraw &&
        llvm-cov show -format html -show-branches count -output-dir "$directory/report" \
            -ignore-filename-regex '/tests/' "$@" &&
        llvm-cov report -show-branch-summary -show-region-summary=false \
            -ignore-filename-regex '/tests/' "$@" &&
        echo "coverage: line by line: $directory/report/index.html"
} || status=1
exit $status
