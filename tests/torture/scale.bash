# Sizes of the heavy tests; load it behind helper.bash.

# shellcheck shell=bash

# scaled N: N times TORTURE_SCALE percent, at least 1.
scaled() {
    local n=$(($1 * ${TORTURE_SCALE:-100} / 100))
    echo $((n > 0 ? n : 1))
}

# Where tests/torture/*.c and the library to preload were built.
# shellcheck disable=SC2154,SC2034 # UNSEEN is set by helper.bash; the tests use programs
programs=${UNSEEN_TORTURE:-${UNSEEN%/*}/tests/torture}
