#!/usr/bin/env bash
# Subject: java.util.zip.GZIPInputStream of JDK 17, default buffer of 512 bytes
# Question: does it read all members of a .gz stream?
# One would guess: yes, it has read members that follow each other since Java 7.
# What happens: it depends on where the first member ends within a block of 512 bytes. If at most
#     26 bytes of the block are left after its data, available() of the stream below is asked. If
#     that answers 0, as streams from networks and pipes may at any time, the first member is taken
#     for the last one, without an error.
# Why it matters: a list of many members from a socket or an object store comes out whole on most
#     days. One length in nineteen loses everything after the first member.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
java -version 2>&1 | grep 'version "17\.' >/dev/null ||
    { echo "skipped: this is about Java 17"; exit 77; }

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

java -version 2>&1 | sed -n 1p
cat >"$here/Members.java" <<'JAVA'
import java.io.*;
import java.util.Random;
import java.util.zip.*;

public class Members {
    static byte[] gzip(byte[] data) throws IOException {
        var bytes = new ByteArrayOutputStream();
        try (var out = new GZIPOutputStream(bytes)) { out.write(data); }
        return bytes.toByteArray();
    }

    public static void main(String[] args) throws IOException {
        byte[] second = gzip("second".getBytes());
        int whole = 0, lost = 0, other = 0;
        for (int length = 1000; length < 1512; length++) {
            byte[] data = new byte[length];
            new Random(length).nextBytes(data);
            var both = new ByteArrayOutputStream();
            both.write(gzip(data));
            both.write(second);
            InputStream in = new FilterInputStream(new ByteArrayInputStream(both.toByteArray())) {
                @Override public int available() { return 0; }
            };
            int got = new GZIPInputStream(in).readAllBytes().length;
            if (got == length + 6) whole++; else if (got == length) lost++; else other++;
        }
        System.out.printf("%d whole, %d without the second member, %d other%n", whole, lost, other);
    }
}
JAVA
shows "512 lengths of a first member, available() answers 0" "$(java "$here/Members.java")" \
    "485 whole, 27 without the second member, 0 other"
