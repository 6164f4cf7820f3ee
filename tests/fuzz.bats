#!/usr/bin/env bats
# Inputs that once broke something, and one for each path that fuzzing has found: damaged and hostile
# filters, queues and files beside them, through the commands (tests/fuzz/hostile.h says what must
# hold); keys of strange lines. tests/fuzz/replay --fuzz looks for more.

load helper

@test "fuzz: no input of the corpora breaks its program" {
    BUILD=${UNSEEN_TOOLS%/tests/tools} "$repository/tests/fuzz/replay"
}
