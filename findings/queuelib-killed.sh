#!/usr/bin/env bash
# Subject: queuelib 1.10.0 (PyPI), the disk queue of Scrapy
# Question: a process that pushed to the queue is killed. What does the next one find in it?
# One would guess: what was pushed, perhaps without the last few items. That is what the queue is on
#     disk for.
# What happens: nothing. The items are in its file, but how many there are is written at close()
#     alone, and a queue that was not closed opens as one of length 0, without an error.
# Why it matters: a crawl of Scrapy with a job directory has two memories. The list of seen requests
#     is written as it grows, and survives (seen with Scrapy 2.19.0: all but its last 8 kB). So what
#     waited is seen, is never queued again, and is never fetched. A filter and its queue need one
#     moment at which both hold a line.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
python3 -m venv "$here/venv"
"$here/venv/bin/pip" --disable-pip-version-check -q install queuelib==1.10.0

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

cat >"$here/queue.py" <<'PYTHON'
import os, signal, sys
from queuelib import FifoDiskQueue

action, directory = sys.argv[1:]
queue = FifoDiskQueue(directory)
if action == "look":
    print(len(queue), "items")
    sys.exit()
for number in range(1000):
    queue.push(b"http://a.example/%d" % number)
if action == "close":
    queue.close()
else:
    os.kill(os.getpid(), signal.SIGKILL)
PYTHON
"$here/venv/bin/pip" list 2>/dev/null | grep queuelib
python=$here/venv/bin/python
"$python" "$here/queue.py" close "$here/closed"
{ "$python" "$here/queue.py" kill "$here/killed"; } 2>/dev/null || true
shows "after close()" "$("$python" "$here/queue.py" look "$here/closed")" "1000 items"
shows "after SIGKILL, bytes in its file" \
    "$(find "$here/killed" -type f -size +8k | wc -l) file of more than 8 kB" \
    "1 file of more than 8 kB"
shows "after SIGKILL" "$("$python" "$here/queue.py" look "$here/killed")" "0 items"
