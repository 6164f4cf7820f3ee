#!/usr/bin/env bash
# Subject: GCC 12.2.0 (Debian 12: cpp-12 12.2.0-14+deb12u1)
# Question: a loop calls a small static function whose only work is __builtin_prefetch. Is the
#     prefetch in the program?
# One would guess: yes, inlined or not. A prefetch is asked for by name, and there is no other use for
#     that function.
# What happens: at -O1 and -O2 it is gone, with its calls. A function that only prefetches counts as one
#     without effect, and calls of such a function are left out before it is inlined. The same line
#     written in the loop stays. Nothing warns.
# Why it matters: tables larger than the cache live by prefetching. Where this happened, lookups of keys
#     that are not there took 250 ns instead of 50, and all results were right. Count the prefetch
#     instructions of an object file: objdump -d FILE.o | grep -c prefetch
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
packages=(cpp-12=12.2.0-14+deb12u1 libisl23=0.25-1.1 libmpc3=1.3.1-1 libmpfr6=4.2.0-1)
(cd "$here" && apt-get download -qq "${packages[@]}" 2>/dev/null) ||
    { echo "skipped: no ${packages[*]} from Debian here"; exit 77; }
for package in "$here"/*.deb; do
    dpkg -x "$package" "$here"
done
compilers=("$here"/usr/lib/gcc/*/12/cc1)
libraries=("$here"/usr/lib/*-linux-gnu)
export LD_LIBRARY_PATH=${libraries[0]}
[[ $(dpkg --print-architecture) == amd64 ]] || { echo "skipped: counts instructions of x86-64"; exit 77; }

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

# prefetches FILE OPTION: how many the program has.
prefetches() {
    "${compilers[0]}" -quiet "$2" "$here/$1" -o "$here/out.s"
    grep -c '^\s*prefetch' "$here/out.s" || true
}

cat >"$here/function.c" <<'END'
static void ahead(const long *table, const unsigned *at, unsigned long n, unsigned long i)
{
    for (unsigned long k = i == 0 ? 0 : i + 16; k <= i + 16 && k < n; k++)
        __builtin_prefetch(&table[at[k]]);
}

long sum(const long *table, const unsigned *at, unsigned long n)
{
    long all = 0;
    for (unsigned long i = 0; i < n; i++) {
        ahead(table, at, n, i);
        all += table[at[i]];
    }
    return all;
}
END
cat >"$here/loop.c" <<'END'
long sum(const long *table, const unsigned *at, unsigned long n)
{
    long all = 0;
    for (unsigned long i = 0; i < n + 16; i++) {
        if (i < n)
            __builtin_prefetch(&table[at[i]]);
        if (i >= 16)
            all += table[at[i - 16]];
    }
    return all;
}
END
"${compilers[0]}" -version </dev/null -o /dev/null 2>&1 | sed -n 1p
for option in -O1 -O2; do
    shows "in a function of its own, $option, prefetch instructions" "$(prefetches function.c $option)" 0
    shows "in the loop, $option" "$(prefetches loop.c $option)" 1
done
