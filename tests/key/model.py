#!/usr/bin/env python3
"""The reference for `unseen key`: what counts in a line, rule by rule, in the plainest way.

    model.py [--trim] [-f LIST] [-t SEP] [--by PROFILE] [-i] [-z] FIRST <LINES

Prints what `unseen key --tag` prints, and to the file FIRST each line whose key no line before it had,
as `unseen` with the same recipe does. It is asked for recipes that are right. Nothing is shared with
the C code: the two are written from the same rules, so that a slip in one of them shows.

A key is made in five steps: the bytes of the line; blanks at its ends; fields; profile; case. Where
a step finds nothing to take, the line has no key: it is compared as a whole line, never equal to
another line's key. `None` says so here.
"""

import argparse
import re
import sys

PROFILE_BYTES_MAX = 65536
TO_THE_END = None

# --- Step 2: blanks at the ends -----------------------------------------------------------------


def trim(line, separator):
    """A separator is not trimmed: it may bound an empty field."""
    return line.strip(b" \t\r\v\f".replace(separator or b"", b""))


# --- Step 3: fields -----------------------------------------------------------------------------


def parse_range(text):
    """`2`, `2-4`, `3-`, `-2`, as (first, last)."""
    first, dash, last = text.partition("-")
    first = int(first or 1)
    return first, int(last) if last else TO_THE_END if dash else first


def parse_fields(text):
    """The canonical form: in rising order, ranges that overlap or touch joined."""
    ranges = []
    for first, last in sorted(map(parse_range, text.split(",")), key=lambda r: r[0]):
        if ranges and (ranges[-1][1] is TO_THE_END or first <= ranges[-1][1] + 1):
            before, end = ranges.pop()
            both_end = end is not TO_THE_END and last is not TO_THE_END
            ranges.append((before, max(end, last) if both_end else TO_THE_END))
        else:
            ranges.append((first, last))
    return ranges


def parse_separator(text):
    r"""One byte, or one of the escapes \t, \0, \\ and \xHH, which are Python's, too."""
    return text.encode("latin-1").decode("unicode_escape").encode("latin-1")


def fields(line, ranges, separator):
    """Fields of the line, in its order; None if one of the ranges begins after its last field."""
    found = line.split(separator) if separator else re.findall(rb"[^ \t]+", line)
    if ranges[-1][0] > len(found):
        return None
    chosen = [field for first, last in ranges for field in found[first - 1 : last]]
    return (separator or b" ").join(chosen)


# --- Step 4: url/1 ------------------------------------------------------------------------------

UP_TO_SPACE = bytes(range(0x21))
UNRESERVED = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
DEFAULT_PORTS = {b"http": b"80", b"https": b"443", b"ws": b"80", b"wss": b"443", b"ftp": b"21"}

# Scheme, authority, path, query with its question mark.
URL = re.compile(rb"([A-Za-z][A-Za-z0-9+.-]*)://([^/?]*)([^?]*)(\?.*)?", re.DOTALL)
# An address in brackets, or what holds neither bracket nor colon; a port may follow.
HOST_AND_PORT = re.compile(rb"(\[[0-9A-Fa-f:.]+\]|[^][:]+)(?::([0-9]*))?")

# What percent-encoding changes. A bracket is legal around the address of a host alone, where it is
# no data: everywhere else it is encoded.
CHANGED = re.compile(rb'%[0-9A-Fa-f]{2}|%|[\x00-\x20\x7f-\xff"<>\\^{|}`\[\]]')


def encoded(byte):
    return b"%%%02X" % byte


def changes():
    """Each match of CHANGED and what it becomes."""
    table = {bytes([byte]): encoded(byte) for byte in range(256)}
    digits = "0123456789abcdefABCDEF"
    for pair in (a + b for a in digits for b in digits):
        byte = int(pair, 16)
        table[b"%" + pair.encode()] = bytes([byte]) if byte in UNRESERVED else encoded(byte)
    return table


CHANGES = changes()


def percent(text):
    """Rule 6, in one pass from left to right: what comes out of it is not looked at again."""
    return CHANGED.sub(lambda match: CHANGES[match[0]], text)


def lower_host(host):
    """After rule 6, so that each % begins a triplet, whose digits stay upper case."""
    return re.sub(rb"%..", lambda match: match[0].upper(), host.lower())


def remove_dot_segments(path):
    """Rule 7. The path begins with a slash; a dot segment at its end leaves one behind."""
    kept = []
    segments = path.split(b"/")[1:]
    for segment in segments:
        if segment == b"..":
            del kept[-1:]
        elif segment != b".":
            kept.append(segment)
    if segments[-1] in (b".", b".."):
        kept.append(b"")
    return b"/" + b"/".join(kept)


def url_parts(text):
    """Scheme, user info with its @, host, port with its colon, path, query with its question mark,
    each in normal form and perhaps empty; None: no URL."""
    text = text.strip(UP_TO_SPACE)  # rule 1
    text = text.split(b"#", 1)[0]  # rule 2
    parts = URL.fullmatch(text)
    if not parts:
        return None
    scheme, authority, path, query = parts.groups(b"")
    scheme = scheme.lower()  # rule 3
    user, at, rest = authority.rpartition(b"@")  # rule 4
    parts = HOST_AND_PORT.fullmatch(rest)
    if not parts:
        return None
    host, port = parts.groups(b"")
    if not host.startswith(b"["):
        host = percent(host)
    host = lower_host(host)
    port = port[:1] if port.strip(b"0") == b"" else port.lstrip(b"0")
    port = b"" if port in (b"", DEFAULT_PORTS.get(scheme)) else b":" + port
    path = remove_dot_segments(percent(path or b"/"))  # rules 5, 6, 7
    return scheme, percent(user) + at, host, port, path, percent(query)  # rule 8


def url(text):
    parts = url_parts(text)
    if parts is None:
        return None
    scheme, user, host, port, path, query = parts
    return scheme + b"://" + user + host + port + path + query


# --- Step 4: host/1 -----------------------------------------------------------------------------


def host(text):
    """Of a URL the host. Of what has no :// before its first /, ? or #: what stands before that
    byte, without user info and port, if it looks like a name."""
    text = text.strip(UP_TO_SPACE)
    before = re.match(rb"[^/?#]*", text)[0]
    if before.endswith(b":") and text.startswith(b"//", len(before)):
        parts = url_parts(text)
        return parts and parts[2]
    name = re.sub(rb":[0-9]*\Z", b"", before.rpartition(b"@")[2])
    return name.lower() if re.fullmatch(rb"[A-Za-z0-9_.-]+", name) else None


# --- Step 4: endpoint/1 -------------------------------------------------------------------------

MONTH_DAY = rb"(?:0[1-9]|1[0-2])%s(?:0[1-9]|[12][0-9]|3[01])"
HEX = rb"[0-9A-Fa-f]"
# In this order: the first that fits a whole segment.
MARKERS = [
    (re.compile(rb"[0-9]{4}-" + MONTH_DAY % b"-" + rb"|[0-9]{4}" + MONTH_DAY % b""), b"{d}"),
    (re.compile(rb"[0-9]+"), b"{0}"),
    (re.compile(HEX + rb"{8}(?:-" + HEX + rb"{4}){3}-" + HEX + rb"{12}"), b"{u}"),
    (re.compile(rb"(?=[A-Fa-f]*[0-9])" + HEX + rb"{16,}"), b"{h}"),
]
EXTENSION = re.compile(rb"(.+)(\.[A-Za-z0-9]+)", re.DOTALL)


def marked(segment):
    """A marker for what looks like a number, a date or an identifier; its extension stays."""
    match = EXTENSION.fullmatch(segment)
    name, extension = match.groups() if match else (segment, b"")
    for pattern, marker in MARKERS:
        if pattern.fullmatch(name):
            return marker + extension
    return segment


def endpoint(text):
    parts = url_parts(text)
    if parts is None:
        return None
    _, _, host_name, port, path, query = parts
    path = b"/".join(map(marked, path.split(b"/")))
    names = {part.split(b"=", 1)[0] for part in query[1:].split(b"&")} - {b""}
    return host_name + port + path + (b"?" + b"&".join(sorted(names)) if names else b"")


# --- All steps ----------------------------------------------------------------------------------

PROFILES = {"url": url, "host": host, "endpoint": endpoint}


def key_of(line, recipe):
    """The key of a line; None if it has none."""
    key = trim(line, recipe.separator) if recipe.trim else line
    if recipe.fields:
        key = fields(key, recipe.fields, recipe.separator)
        if key is None:
            return None
    if recipe.by:
        key = recipe.by(key) if len(key) <= PROFILE_BYTES_MAX else None
        if key is None:
            return None
    return key.lower() if recipe.fold else key


# --- Lines in and out ---------------------------------------------------------------------------


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--trim", action="store_true")
    parser.add_argument("-f", type=parse_fields, dest="fields")
    parser.add_argument("-t", type=parse_separator, dest="separator")
    parser.add_argument("--by", type=PROFILES.get)
    parser.add_argument("-i", action="store_true", dest="fold")
    parser.add_argument("-z", action="store_const", const=b"\0", default=b"\n", dest="delimiter")
    parser.add_argument("first", type=argparse.FileType("wb"))
    return parser.parse_args()


def main():
    recipe = parse_arguments()
    seen = {True: set(), False: set()}  # of lines without a key, and of keys
    lines = sys.stdin.buffer.read().split(recipe.delimiter)
    for line in lines if lines[-1] else lines[:-1]:
        key = key_of(line, recipe)
        itself = key is None
        if itself:
            key = line
        sys.stdout.buffer.write((b"none\t" if itself else b"key\t") + key + recipe.delimiter)
        if key not in seen[itself]:
            seen[itself].add(key)
            recipe.first.write(line + recipe.delimiter)


if __name__ == "__main__":
    main()
