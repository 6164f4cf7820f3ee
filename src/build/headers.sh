#!/bin/sh
# Prints the flags by which this compiler finds the headers of the kernel and of xxHash, where it
# does not by itself: musl's wrapper for gcc knows neither, a compiler for another processor not
# xxHash's. They are the same for all; and those of its own C library still come first.
#
#     CC=... CPPFLAGS=... CFLAGS=... src/build/headers.sh
set -u

compiler() {
    eval "${CC:-cc} ${CPPFLAGS:-} ${CFLAGS:-} $*" 2>/dev/null
}

finds_all() {
    printf '#include <%s>\n' linux/fs.h xxhash.h | compiler "$*" -E -x c -o /dev/null -
}

flags="-idirafter /usr/include -idirafter /usr/include/$(compiler -dumpmachine </dev/null)"
finds_all || ! finds_all "$flags" || echo "$flags"
