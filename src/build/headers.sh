#!/bin/sh
# Prints the flags that this compiler needs to find the headers of the kernel and of xxHash: musl's
# wrapper for gcc finds neither, and a cross compiler does not find xxHash's. These headers are the
# same for all machines, and the headers of the compiler's own C library still come first.
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
