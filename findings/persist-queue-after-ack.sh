#!/usr/bin/env bash
# Subject: persist-queue 1.1.0 (PyPI), UniqueQ and UniqueAckQ
# Question: after an item was taken and done with, can the same item be put again?
# One would guess: the same answer for both. Either "unique" means among the items that wait, or it
#     means for ever.
# What happens: UniqueQ takes it again. UniqueAckQ drops it without a word: a row that was
#     acknowledged stays in the table, and its uniqueness with it, until clear_acked_data() is
#     called; and that keeps the newest thousand rows, unless told otherwise.
# Why it matters: moving to the queue with acknowledgements, to lose nothing on a crash, turns a
#     queue into a filter. Work that should be done again is never done again; put() returns None
#     either way.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
python3 -m venv "$here/venv"
"$here/venv/bin/pip" --disable-pip-version-check -q install persist-queue==1.1.0

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

cat >"$here/again.py" <<'PYTHON'
import sys
import persistqueue

plain = persistqueue.UniqueQ(sys.argv[1] + "/plain", auto_commit=True)
plain.put("page")
plain.get()
plain.put("page")

acked = persistqueue.UniqueAckQ(sys.argv[1] + "/acked")
acked.put("page")
acked.ack(acked.get())
acked.put("page")
before = acked.size
acked.clear_acked_data(keep_latest=0)
acked.put("page")
print(plain.size, before, acked.size)
PYTHON
"$here/venv/bin/pip" list 2>/dev/null | grep persist-queue
shows "waiting: UniqueQ, UniqueAckQ, UniqueAckQ after clear_acked_data" \
    "$("$here/venv/bin/python" "$here/again.py" "$here")" "1 0 1"
