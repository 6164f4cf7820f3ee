#!/usr/bin/env bash
# Subject: posix_fadvise(POSIX_FADV_WILLNEED), madvise(MADV_WILLNEED) and readahead(2) of Linux (here 6.18)
# Question: a program asks for a whole file, of 8 times what the system reads ahead, to be read into the
#     page cache. How much of it comes, and how does the program learn that?
# One would guess: all of it, as there is memory. The manual speaks of the specified region, and of fewer
#     data only when memory is short.
# What happens: each of the three returns 0, and the first max(read_ahead_kb, max_sectors_kb) of the
#     device come: 128 KB to a few MB. The rest is never read. Asked for in pieces of 128 KB, all of it
#     comes.
# Why it matters: this one call is how programs warm a table that is on disk (a Bloom filter, an index).
#     They then fault the rest in a page at a time, and seem to show that reading ahead is of no use.
set -euo pipefail

here=$(mktemp -d -p "${TMPDIR:-/var/tmp}")
trap 'rm -rf "$here"' EXIT
(cd "$here" && apt-get download -qq util-linux-extra=2.38.1-5+deb12u3 util-linux=2.38.1-5+deb12u3 2>/dev/null) ||
    { echo "skipped: no util-linux 2.38.1-5+deb12u3 from Debian here"; exit 77; }
for package in "$here"/*.deb; do
    dpkg -x "$package" "$here"
done
device=/sys/dev/block/$(stat -c %Hd:%Ld "$here")
[[ -e $device/queue ]] || device=$device/..
[[ -e $device/queue ]] || { echo "skipped: $here is on no block device"; exit 77; }

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

ahead=$(cat "$device/queue/read_ahead_kb" "$device/queue/max_sectors_kb" | sort -n | sed -n '$p')
size=$((8 * ahead * 1024))
head -c $size /dev/urandom >"$here/file"
sync "$here/file"
cat >"$here/ask.py" <<'END'
import ctypes, mmap, os, sys, time
way, path = sys.argv[1:]
fd = os.open(path, os.O_RDONLY)
size = os.fstat(fd).st_size
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
if way == "fadvise":
    os.posix_fadvise(fd, 0, size, os.POSIX_FADV_WILLNEED)
elif way == "madvise":
    mmap.mmap(fd, size, prot=mmap.PROT_READ).madvise(mmap.MADV_WILLNEED)
elif way == "readahead":
    result = ctypes.CDLL(None).readahead(fd, ctypes.c_int64(0), ctypes.c_size_t(size))
    assert result == 0, result
else:
    for at in range(0, size, 128 << 10):
        os.posix_fadvise(fd, at, 128 << 10, os.POSIX_FADV_WILLNEED)
time.sleep(2)
END
uname -sr
"$here/usr/bin/fincore" --version
for way in fadvise madvise readahead pieces; do
    python3 "$here/ask.py" "$way" "$here/file"
    [[ $way == pieces ]] && expected=$size || expected=$((1024 * ahead))
    shows "$way of $size bytes, bytes in the page cache" \
        "$("$here/usr/bin/fincore" -bno RES "$here/file" | tr -d ' ')" "$expected"
done
