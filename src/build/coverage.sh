#!/bin/sh
# Runs the tests on a build with --coverage and says how much of src they reached; the pages that
# show each line are in DIRECTORY/report.
#
#     src/build/coverage.sh DIRECTORY [TEST...]
set -u

directory=$1
shift

find "$directory" -name '*.gcda' -exec rm -f {} +
tests/run --build "$directory" "$@"
status=$?

branches="--rc lcov_branch_coverage=1"
# shellcheck disable=SC2086
{
    lcov --quiet $branches --capture --directory "$directory/obj" --base-directory . \
        --no-external --output-file "$directory/lcov.info" &&
        genhtml --quiet $branches --branch-coverage --output-directory "$directory/report" \
            "$directory/lcov.info" &&
        lcov $branches --list "$directory/lcov.info" &&
        echo "coverage: line by line: $directory/report/index.html"
} || status=1
exit $status
