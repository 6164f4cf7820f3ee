#!/usr/bin/env bash
# Subject: journalctl of systemd 252 (Debian 12: 252.39-1~deb12u2), -o json
# Question: a service logs two errors of 5,000 characters, such as stack traces. Which MESSAGE have
#     they in the journal as lines of JSON?
# One would guess: the whole text, as in journalctl -o cat and -o export.
# What happens: null, both. The manual says so of "fields larger than 4096 bytes"; the name and its
#     equals sign count, so that a MESSAGE has at most 4,087 bytes. With --all it is whole. A text
#     with a colour or a byte of Latin-1 is an array of the numbers of its bytes, and stays that.
# Why it matters: whatever compares unit and message takes all long errors of a unit for one, and
#     counts the second cause as a repetition of the first. Collectors, too, shipped without --all.
# Source: github.com/systemd/systemd/issues/24186, and as others met it:
#     github.com/elastic/beats/issues/45511,
#     github.com/open-telemetry/opentelemetry-collector-contrib/issues/30920
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"
version=252.39-1~deb12u2
{ apt-get download -qq "systemd=$version" "libsystemd-shared=$version" \
    "systemd-journal-remote=$version" libmicrohttpd12 2>/dev/null &&
    for package in ./*.deb; do dpkg -x "$package" . || exit; done; } ||
    { echo "skipped: no systemd $version from Debian here"; exit 77; }
# The shared library of systemd lies elsewhere in some versions of the package.
LD_LIBRARY_PATH=$(dirname "$(find . -name 'libsystemd-shared-*.so')"):$(dirname \
    "$(find . -name 'libmicrohttpd.so.12')")
export LD_LIBRARY_PATH

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

# The journal's own format of export, which systemd-journal-remote turns into a journal.
cat >export.py <<'PYTHON'
import sys

messages = [b'short', b'y' * 5000, b'z' * 5000, b'q' * 4087, b'q' * 4088, b'caf\xe9',
            b'\x1b[31mred']
for i, message in enumerate(messages):
    fields = {'__REALTIME_TIMESTAMP': 1793491200000000 + i, '__MONOTONIC_TIMESTAMP': 1 + i,
              '_BOOT_ID': '0123456789abcdef0123456789abcdef', '_SYSTEMD_UNIT': 'a.service'}
    text = ''.join(f'{name}={value}\n' for name, value in fields.items()).encode()
    text += b'MESSAGE\n' + len(message).to_bytes(8, 'little') + message + b'\n\n'
    sys.stdout.buffer.write(text)
PYTHON
# How a value looks, shortly: a text by its length if it is long.
cat >messages.py <<'PYTHON'
import json
import sys

values = [json.loads(line)['MESSAGE'] for line in sys.stdin]
print(*(f'text of {len(value)}' if isinstance(value, str) and len(value) > 9
        else json.dumps(value) for value in values), sep='; ')
PYTHON
python3 export.py >in.export
mkdir journal
lib/systemd/systemd-journal-remote -o journal/a.journal in.export 2>log || { cat log >&2; exit 1; }

# messages OPTION...: what MESSAGE is in each line.
messages() { bin/journalctl --file journal/a.journal -o json "$@" | python3 messages.py; }

bin/journalctl --version | sed -n 1p
bytes='[99, 97, 102, 233]; [27, 91, 51, 49, 109, 114, 101, 100]'
shows "-o json" "$(messages)" "\"short\"; null; null; text of 4087; null; $bytes"
shows "-o json --all" "$(messages --all)" \
    "\"short\"; text of 5000; text of 5000; text of 4087; text of 4088; $bytes"
shows "-o cat, lengths" \
    "$(bin/journalctl --file journal/a.journal -o cat | awk '{ print length }' | sed -n '2,5p' |
        paste -sd' ')" "5000 5000 4087 4088"
