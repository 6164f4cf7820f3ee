#!/usr/bin/env python3
"""The reference for `unseen key`: what counts in a line, rule by rule, in the plainest way.

    model.py [--trim] [-f LIST] [-t SEP] [--by PROFILE] [-i] [-z] [--tag | --unique] [FILE...]

Prints what `unseen key` prints. With --unique it prints each line whose key no line before it had,
as `unseen` with the same recipe does. Nothing is shared with the C code: the two are written from
the same rules, so that a slip in one of them shows.

A key is made in five steps: the bytes of the line; blanks at its ends; fields; profile; case. Where
a step finds nothing to take, the line counts as itself: its bytes as they came, never equal to
another line's key. `None` says so here.
"""

import argparse
import re
import sys

PROFILE_BYTES_MAX = 65536
RANGES_MAX = 16
FIELD_MAX = 65535
TO_THE_END = None

# --- Step 2: blanks at the ends -----------------------------------------------------------------


def trim(line, separator):
    """A separator is not trimmed: it may bound an empty field."""
    return line.strip(b" \t\r\v\f".replace(separator or b"", b""))


# --- Step 3: fields -----------------------------------------------------------------------------


def parse_range(text):
    """`2`, `2-4`, `3-`, `-2`, as (first, last)."""
    match = re.fullmatch("([0-9]+)?(-)?([0-9]+)?", text)
    if not match or not (match[1] or match[3]):
        raise ValueError("no range: " + repr(text))
    first = int(match[1] or 1)
    last = int(match[3]) if match[3] else TO_THE_END if match[2] else first
    if not 1 <= first <= FIELD_MAX or last is not None and not first <= last <= FIELD_MAX:
        raise ValueError("out of order, or of range: " + repr(text))
    return first, last


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
    if len(ranges) > RANGES_MAX:
        raise ValueError("too many ranges")
    return ranges


def parse_separator(text):
    """One byte, or one of the escapes."""
    escapes = {b"\\t": b"\t", b"\\0": b"\0", b"\\\\": b"\\"}
    text = text.encode("utf-8", "surrogateescape")
    if text in escapes:
        return escapes[text]
    if re.fullmatch(rb"\\x[0-9A-Fa-f]{2}", text):
        return bytes.fromhex(text[2:].decode())
    if len(text) != 1 or text == b"\\":
        raise ValueError("no separator: " + repr(text))
    return text


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

PROFILES = {"line": None, "url": url, "host": host, "endpoint": endpoint}


def parse_profile(text):
    name, slash, version = text.partition("/")
    if name not in PROFILES or slash and (name == "line" or version != "1"):
        raise ValueError("no profile: " + repr(text))
    return PROFILES[name]


def key_of(line, recipe):
    """The key of a line; None if it counts as itself."""
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


def lines_of(file, delimiter):
    """Its lines without their delimiter; the last one may lack it."""
    if delimiter == b"\n":
        for line in file:
            yield line[:-1] if line.endswith(b"\n") else line
        return
    rest = []
    while chunk := file.read(1 << 20):
        first, *others = chunk.split(delimiter)
        rest.append(first)
        for other in others:
            yield b"".join(rest)
            rest = [other]
    if any(rest):
        yield b"".join(rest)


def print_keys(lines, recipe, delimiter, tag):
    write = sys.stdout.buffer.write
    for line in lines:
        key = key_of(line, recipe)
        if tag:
            write(b"none\t" if key is None else b"key\t")
        write((line if key is None else key) + delimiter)


def print_first_occurrences(lines, recipe, delimiter):
    write = sys.stdout.buffer.write
    seen = {True: set(), False: set()}  # of lines that count as themselves, and of keys
    for line in lines:
        key = key_of(line, recipe)
        known = seen[key is None]
        if key is None:
            key = line
        if key not in known:
            known.add(key)
            write(line + delimiter)


def parse_arguments():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--trim", action="store_true")
    parser.add_argument("-f", "--fields", type=parse_fields)
    parser.add_argument("-t", "--separator", type=parse_separator)
    parser.add_argument("--by", type=parse_profile)
    parser.add_argument("-i", "--ignore-case", action="store_true", dest="fold")
    parser.add_argument("-z", "--null", action="store_const", const=b"\0", default=b"\n")
    parser.add_argument("--tag", action="store_true")
    parser.add_argument("--unique", action="store_true")
    parser.add_argument("files", nargs="*", default=["-"])
    return parser.parse_args()


def main():
    recipe = parse_arguments()

    def lines():
        for name in recipe.files:
            if name == "-":
                yield from lines_of(sys.stdin.buffer, recipe.null)
            else:
                with open(name, "rb") as file:
                    yield from lines_of(file, recipe.null)

    if recipe.unique:
        print_first_occurrences(lines(), recipe, recipe.null)
    else:
        print_keys(lines(), recipe, recipe.null, recipe.tag)


if __name__ == "__main__":
    main()
