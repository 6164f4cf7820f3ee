#!/usr/bin/env bash
# Subject: rsyslog 8.2302.0 (mmjsonparse) and syslog-ng 3.38.1 (json-parser), both of Debian 12
# Question: a line of JSON has the id 12345678901234567890, a number of 64 bits. Both tools parse
#     the line into properties, which are text, and write these out. Which id is written?
# One would guess: the same. Or else a double, as in JavaScript: 12345678901234567000.
# What happens: 9223372036854775807, and so for each id of 2^63 or more. Both read integers as
#     signed ones of 64 bits, which stop at the largest without a word. Ids in quotes pass, and so
#     do smaller ones, even beyond 2^53. syslog-ng also writes numbers with a fraction or an
#     exponent with six decimals: 1.10 as 1.100000, and 2e-7 as 0.000000.
# Why it matters: of random ids of 64 bits, such as hashes, every second one becomes this one value,
#     and the others are right. Whatever compares ids downstream keeps one line of all that half.
# See also: github.com/syslog-ng/syslog-ng/issues/3367, where it stopped at 2^31, and
#     github.com/rsyslog/rsyslog/pull/7177, which avoids libfastjson's integers in another module.
set -euo pipefail

here=$(mktemp -d)
daemon=
# Ends a daemon that still runs, and removes the directory.
cleanup() {
    [[ -z $daemon ]] || kill "$daemon" 2>/dev/null || :
    rm -rf "$here"
}
trap cleanup EXIT
cd "$here"
rsyslog=8.2302.0-1+deb12u2 syslog_ng=3.38.1-5+deb12u1
{ apt-get download -qq "rsyslog=$rsyslog" libfastjson4 libestr0 "syslog-ng-core=$syslog_ng" \
    libivykis0 libjson-c5 libnet1 2>/dev/null &&
    for package in ./*.deb; do dpkg -x "$package" . || exit; done; } ||
    { echo "skipped: no rsyslog $rsyslog and syslog-ng $syslog_ng from Debian here"; exit 77; }
modules=$(echo "$here"/usr/lib/*/rsyslog)
LD_LIBRARY_PATH=$(dirname "$modules"):$here/usr/lib/syslog-ng:$(dirname lib/*/libjson-c.so.5)
export LD_LIBRARY_PATH

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

cat >in.jsonl <<'JSON'
{"id":12345678901234567890,"x":1.10}
{"id":12345678901234567891,"x":2e-7}
{"id":9223372036854775806,"x":3}
{"id":9007199254740993,"x":4}
{"id":"12345678901234567890","x":5}
JSON
cat >rsyslog.conf <<CONF
module(load="imfile")
module(load="mmjsonparse")
template(name="id" type="string" string="%\$!id% %\$!x%\n")
input(type="imfile" file="$here/in.jsonl" tag="in" ruleset="all")
ruleset(name="all") {
    action(type="mmjsonparse" cookie="")
    action(type="omfile" file="$here/out" template="id")
}
CONF
cat >syslog-ng.conf <<CONF
@version: 3.38
@module json-plugin
log {
    source { file("$here/in.jsonl" flags(no-parse) follow-freq(1)); };
    parser { json-parser(prefix(".json.")); };
    destination { file("$here/out" template("\${.json.id} \${.json.x}\n")); };
};
CONF

# written COMMAND...: the lines that a daemon writes to ./out, as soon as there are five.
written() {
    rm -f out
    "$@" >log 2>&1 &
    daemon=$!
    for ((i = 0; i < 300; i++)); do
        [[ ! -f out || $(wc -l <out) -lt 5 ]] || break
        sleep 0.1
    done
    kill "$daemon"
    wait "$daemon" || :
    daemon=
    [[ -f out ]] || { cat log >&2; exit 1; }
}

ls {rsyslog,libfastjson4,syslog-ng-core,libjson-c5}_*.deb
written usr/sbin/rsyslogd -n -f "$here/rsyslog.conf" -i "$here/pid" -M "$modules"
most=9223372036854775807
shows "rsyslog, ids and x" "$(paste -sd, out)" \
    "$most 1.10,$most 2e-7,9223372036854775806 3,9007199254740993 4,12345678901234567890 5"
written usr/sbin/syslog-ng -F --no-caps -f "$here/syslog-ng.conf" -R "$here/persist" \
    -c "$here/ctl" -p "$here/pid" --module-path "$(echo "$here"/usr/lib/syslog-ng/3.*)"
shows "syslog-ng, ids and x" "$(paste -sd, out)" \
    "$most 1.100000,$most 0.000000,9223372036854775806 3,9007199254740993 4,12345678901234567890 5"
