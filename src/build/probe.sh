#!/bin/sh
# Prints a makefile fragment with the flags that work with this compiler, this libc and the user's
# flags. It finds out by compiling and linking, never by version, because distributions patch
# compilers, and a flag that works alone may conflict with the user's.
#
#     CC=... CPPFLAGS=... CFLAGS=... LDFLAGS=... src/build/probe.sh >config.mk
set -u

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

# It copies an unknown number of bytes, by a function that _FORTIFY_SOURCE replaces.
cat >"$scratch/probe.c" <<'END'
#include <float.h>
#include <stdio.h>
#include <string.h>
#if defined(DOUBLES) && FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 1
#error "doubles are wider than they should be"
#endif
int main(int argc, char **argv)
{
    char copy[64];
    size_t length = strlen(argv[0]);
    if (length >= sizeof copy)
        length = sizeof copy - 1;
    memcpy(copy, argv[0], length);
    copy[length] = '\0';
    return puts(copy) < argc;
}
END

# The user's flags come last, because a compiler obeys the last of two conflicting flags.
try() {
    eval "${CC:-cc} -std=c17 $* ${CPPFLAGS:-} ${CFLAGS:-} -o \"\$scratch/probe\"" \
        "\"\$scratch/probe.c\" ${LDFLAGS:-}" >"$scratch/log" 2>&1
}

if ! try; then
    {
        echo "probe: ${CC:-cc} cannot build a C17 program:"
        sed 's/^/    /' "$scratch/log"
        echo "probe: to install what a build needs: make deps"
    } >&2
    exit 1
fi
# The headers of other packages.
"${0%/*}/deps.sh" tell build >&2 || exit 1
# A warning means that a flag is ignored, unless the user's own flags already cause a warning.
strict=-Werror
try $strict || strict=

# Prints the first of its arguments that works; each is one or more flags.
first_of() {
    for flags; do
        if try "$strict $flags"; then
            echo "$flags"
            return
        fi
    done
}

# Prints all of its arguments that work.
all_of() {
    for flags; do
        try "$strict $flags" && printf '%s ' "$flags"
    done
    echo
}

user_flags=" ${CPPFLAGS:-} ${CFLAGS:-} ${LDFLAGS:-} "

# Not with sanitizers, which check more, but cannot see the calls that it replaces; and not if the
# user's flags set a level. -U, because some compilers set a level of their own.
fortify=
case $user_flags in
*-fsanitize=* | *_FORTIFY_SOURCE*) ;;
*) fortify=$(first_of "-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3" \
    "-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2") ;;
esac

# A position-independent program needs flags for both compiler and linker. A static program keeps
# its own start-up files.
pie_compile=
pie_link=
case $user_flags in
*" -static "* | *" -no-pie "* | *" -fno-pie "*) ;;
*)
    if try "$strict -fPIE -pie"; then
        pie_compile=-fPIE
        pie_link=-pie
    fi
    ;;
esac

# The old floating-point unit of i386 computes with 80 bits, so its last bits differ from those of
# all other machines.
doubles=
if ! try -DDOUBLES && try -DDOUBLES -msse2 -mfpmath=sse; then
    doubles='-msse2 -mfpmath=sse'
fi

echo "WARN := -Wall -Wextra -Wpedantic $(all_of -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
    -Wold-style-definition -Wvla -Wformat=2 -Wundef -Wcast-align -Wpointer-arith -Wwrite-strings \
    -Wimplicit-fallthrough -Wduplicated-cond -Wdate-time)"
echo "HARDEN := $fortify $(all_of -fstack-protector-strong -fstack-clash-protection) $pie_compile"
echo "HARDEN_LINK := $pie_link $(all_of -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)"
echo "DOUBLES := $doubles"
echo "HEADERS := $("${0%/*}/headers.sh")"
