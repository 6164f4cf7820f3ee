#!/usr/bin/env bash
# Subject: PostgreSQL 18.7 (as PGlite 0.5.17, npm) and Tcl 8.6.13 (Debian 12), whose regular
#     expressions are of one make
# Question: what does regexp_replace('/?utm_a=1&q=x&p=2', 'utm_[a-z]+=.*?&', '') leave?
# One would guess: /?q=x&p=2, as in Perl. `.*?` takes as little as it can, up to the first `&`.
# What happens: /?p=2. Whether a match is long or short is asked of the expression as a whole, and
#     its first quantifier answers for all. Here this is the `+`, so `.*?` runs up to the last `&`.
#     With 'utm_a=.*?&', where nothing stands before it, it stops at the first.
# Why it matters: to strip utm_ or session ids so takes the query, too, and pages that differ in it
#     become one URL. An `s?` or an `[a-z]+` in front of what is to be short decides it.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
type node npm >/dev/null 2>&1 || { echo "skipped: no node and npm here"; exit 77; }

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

cd "$here"
version=8.6.13+dfsg-2
(apt-get download -qq "tcl8.6=$version" "libtcl8.6=$version" 2>/dev/null &&
    dpkg -x tcl8.6_*.deb . && dpkg -x libtcl8.6_*.deb .) ||
    { echo "skipped: no tcl8.6 $version from Debian here"; exit 77; }
npm install --silent --no-save @electric-sql/pglite@0.5.17 >log 2>&1 || { cat log >&2; exit 1; }
cat >postgres.js <<'JS'
const {PGlite} = require("@electric-sql/pglite");
(async () => {
    const db = new PGlite(), [text, pattern] = process.argv.slice(2);
    const query = "select current_setting('server_version') v, regexp_replace($1, $2, '') r";
    const {rows: [row]} = await db.query(query, [text, pattern]);
    console.log(text ? row.r : row.v);
})();
JS
# shellcheck disable=SC2016 # a Tcl program
echo 'puts [regsub [lindex $argv 1] [lindex $argv 0] {}]' >strip.tcl

postgres() { node postgres.js "$@"; }
tcl() { LD_LIBRARY_PATH=$(echo "$here"/usr/lib/*-linux-gnu*) \
    TCL_LIBRARY=$here/usr/share/tcltk/tcl8.6 usr/bin/tclsh8.6 strip.tcl "$@"; }
perl() { command perl -e '($t, $p) = @ARGV; $t =~ s/$p//; print "$t\n"' "$@"; }
shows "version of PostgreSQL" "$(postgres '' a)" 18.7
url='/?utm_a=1&q=x&p=2'
for engine in perl postgres tcl; do
    [[ $engine == perl ]] && left='/?q=x&p=2' || left='/?p=2'
    shows "$engine, utm_a" "$("$engine" "$url" 'utm_a=.*?&')" '/?q=x&p=2'
    shows "$engine, utm_[a-z]+" "$("$engine" "$url" 'utm_[a-z]+=.*?&')" "$left"
    shows "$engine, [a-z]+?" "$("$engine" "$url" 'utm_[a-z]+?=.*?&')" '/?q=x&p=2'
done
