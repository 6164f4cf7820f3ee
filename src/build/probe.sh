#!/bin/sh
# Which flags this compiler, this libc and these user's flags can take together: prints a makefile
# fragment. It asks by compiling and linking, never by version: distributions patch compilers, and
# a flag may be fine in itself and wrong beside what the user gave.
#
#     CC=... CPPFLAGS=... CFLAGS=... LDFLAGS=... src/build/probe.sh >config.mk
set -u

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

# A copy of unknown length: it takes a part of the C library that _FORTIFY_SOURCE replaces.
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

# The user's flags come last where a compiler takes the last one of two.
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
# A warning means that a flag is ignored. Where the user's own flags give one, it tells nothing.
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

# It checks what the sanitizers check better, and hides calls from them. A distribution's own
# choice stays; -U because some compilers bring a level of their own.
fortify=
case $user_flags in
*-fsanitize=* | *_FORTIFY_SOURCE*) ;;
*) fortify=$(first_of "-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3" \
    "-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2") ;;
esac

# Position-independent code is the linker's affair too: both or neither. A static program is left
# to its own start-up files.
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

# The old floating-point unit of i386 calculates in 80 bits, and comes to other last bits than all
# other machines.
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
