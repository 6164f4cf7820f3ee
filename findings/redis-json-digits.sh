#!/usr/bin/env bash
# Subject: Redis 7.0.15 (Debian 12), scripts in Lua and their cjson
# Question: a script remembers the id of each event, a number of 16 digits, to drop what was seen.
#     It parses the event with cjson.decode and makes the key "seen:" .. event.id. Have different
#     ids different keys?
# One would guess: yes, up to 2^53: numbers are doubles, and these have 16 digits.
# What happens: no. A double keeps the id; but Lua 5.1 writes a number with 14 digits, such as
#     1.7934912001235e+15, in the key as in cjson.encode. Ids that are rounded to the same hundred
#     are one. As an argument of its own, without "seen:", the number is written whole.
#     string.format("%.0f", event.id) writes all digits, and an id in quotes passes.
# Why it matters: microseconds since 1970 have 16 digits. A set of what was seen, the usual one that
#     several workers share, drops new events that come within the same 100 microseconds as a seen
#     one. A test with ids such as 1, 2 and 3 passes.
# Source: github.com/redis/redis/issues/7520 (of cjson.encode)
set -euo pipefail

here=$(mktemp -d)
server=
# Ends the server if it still runs, and removes the directory.
cleanup() {
    [[ -z $server ]] || kill "$server" 2>/dev/null || :
    rm -rf "$here"
}
trap cleanup EXIT
cd "$here"
version=5:7.0.15-1~deb12u10
{ apt-get download -qq "redis-server=$version" "redis-tools=$version" libjemalloc2 liblzf1 \
    2>/dev/null &&
    for package in ./*.deb; do dpkg -x "$package" . || exit; done; } ||
    { echo "skipped: no Redis $version from Debian here"; exit 77; }
LD_LIBRARY_PATH=$(dirname usr/lib/*/libjemalloc.so.2)
export LD_LIBRARY_PATH

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

# redis ARGUMENT...: asks the server.
redis() { usr/bin/redis-cli -s "$here/socket" "$@"; }

usr/bin/redis-server --version | grep -o 'v=[0-9.]*'
usr/bin/redis-server --port 0 --unixsocket "$here/socket" --save '' --dir "$here" >log &
server=$!
for ((i = 0; i < 100; i++)); do
    [[ ! -S socket ]] || break
    sleep 0.1
done

# new KEY ID...: for each ID, whether its key, an expression in Lua, was not there before.
new() {
    local id
    redis flushall >flushed
    for id in "${@:2}"; do
        redis eval "local event = cjson.decode(ARGV[1])
            return redis.call('SADD', 'all', $1)" 0 "{\"id\":$id}"
    done | paste -sd' '
}
ids=(1793491200123456 1793491200123499 1793491200123999)
shows "'seen:' .. event.id" "$(new "'seen:' .. event.id" "${ids[@]}")" "1 0 1"
shows "  is" "$(redis smembers all | sort | paste -sd' ')" \
    "seen:1.7934912001235e+15 seen:1.793491200124e+15"
shows "cjson.encode(event)" "$(new 'cjson.encode(event)' "${ids[@]}")" "1 0 1"
shows "event.id" "$(new event.id "${ids[@]}")" "1 1 1"
shows "string.format('%.0f', event.id)" "$(new "string.format('%.0f', event.id)" "${ids[@]}")" \
    "1 1 1"
shows "'seen:' .. event.id of 1 2 3" "$(new "'seen:' .. event.id" 1 2 3)" "1 1 1"
shows "'seen:' .. event.id of ids in quotes" \
    "$(new "'seen:' .. event.id" '"1793491200123456"' '"1793491200123499"')" "1 1"
