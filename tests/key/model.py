#!/usr/bin/env python3
"""The reference for `unseen key`: what counts in a line, rule by rule, in the plainest way.

    model.py [--trim] [--csv | --jsonl] [--header] [-f LIST] [-t SEP] [--by PROFILE] [-i] [-z]
        [--without PATTERN]... FIRST [FILE...]

Prints what `unseen key --tag` prints, and to the file FIRST each line whose key no line before it had,
as `unseen` with the same recipe does (which wants the same header line in each FILE). It is asked for
recipes that are right. Nothing is shared with the C code: the two are written from the same rules, so
that a slip in one of them shows. Exit: 2 if the rest of a FILE was left; LEFT, its name and the
number of the line are then on stderr.

A key is made in six steps: the bytes of the line, or with --csv of the row, which may have several; blanks
at its ends; fields; profile; case; what is left out. Where a step finds nothing to take, or nothing but an empty value where one
was asked for, the line has no key: it is compared as a whole line, never equal to another line's key. `None`
says so here.
"""

import argparse
import functools
import ipaddress
import json
import os
import re
import sys

PROFILE_BYTES_MAX = 65536
TO_THE_END = None

# --- Step 2: blanks at the ends -----------------------------------------------------------------

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
BLANKS = b" \t\r\v\f"


def trim(line, separator):
    """Of a line, a field or a value. A separator is not trimmed: it may bound an empty field."""
    return line.strip(BLANKS.replace(separator or b"", b""))


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


def choose(found, recipe):
    """Those that are there, in the order of the line or of the names; None if the first is missing or empty.
    Of names, one that is missing is empty; of all but some, those beyond the header line's are last."""
    if recipe.names:
        chosen = [found[at] if at < len(found) else b"" for at in recipe.columns]
        if recipe.but and chosen:
            chosen += found[recipe.headed :]
    elif recipe.ranges[0][0] > len(found):
        return None
    else:
        chosen = [field for first, last in recipe.ranges for field in found[first - 1 : last]]
    return chosen if chosen and chosen[0] else None


def finish_each(chosen, recipe):
    """Steps 5 and 6 on each value, unless --by comes before them; None if they leave nothing of the first."""
    if chosen is None or recipe.by or not recipe.without:
        return chosen
    if is_too_long(chosen, recipe):
        return None
    chosen = [finish(value, recipe) for value in chosen]
    return chosen if chosen[0] else None


def split_fields(line, recipe):
    separator = recipe.separator
    found = line.split(separator) if separator else re.findall(rb"[^ \t]+", line)
    return [trim(field, separator) for field in found] if recipe.trim else found


def fields(line, recipe):
    chosen = finish_each(choose(split_fields(line, recipe), recipe), recipe)
    return chosen and (recipe.separator or b" ").join(chosen)


# --- Steps 1 to 3 with --csv --------------------------------------------------------------------


class Left(Exception):
    """The rest of an input is left, for an error in this line, or in the row that begins with it."""


class Rows:
    """Where rows end, and what their values are. With -z a row is given by itself, without its end."""

    def __init__(self, separator, trims, newline_ends):
        self.separator, self.trims = separator, trims
        blanks = re.escape(BLANKS.replace(separator, b""))
        ends = re.escape(separator) + (b"\\n" if newline_ends else b"")
        around = b"[%s]*" % blanks if trims else b""
        # In quotes: up to a quote that is not doubled. Without: up to a separator or the end.
        self.quoted = re.compile(around + rb'"([^"]*(?:""[^"]*)*)"' + around)
        self.bare = re.compile(rb"[^%s]*" % ends)
        # A quote that may have been meant to open a field.
        self.doubtful = re.compile(rb'[%s]+"[^"%s]*([%s]|\Z)' % (blanks, ends, ends))
        # Two that are none all the same.
        self.pair = re.compile(rb'([%s]+)"[^"%s]*"' % (blanks, ends)) if not trims else None
        # In the first row, a CR outside quotes is at its end.
        self.followed = re.compile(rb"\r(?![\r\n]|\Z)") if newline_ends else None

    def take(self, text, at=0, first=False):
        """The values of the row that begins at `at`, and where it ends."""
        at += 3 * text.startswith(BYTE_ORDER_MARK, at)
        values = []
        while True:
            match = self.quoted.match(text, at)
            if match:
                value, outside = match[1].replace(b'""', b'"'), [(at, match.start(1)), (match.end(1), match.end())]
                end = match.end()
                if not self.trims:
                    end = re.compile(rb"\r*").match(text, end).end()
            else:
                if not self.trims and self.doubtful.match(text, at) or self.opens(text, at):
                    raise Left
                end = self.bare.match(text, at).end()
                pair = self.pair and self.pair.match(text, at)
                value, outside = text[at:end], [(at, pair.end(1)), (pair.end(), end)] if pair else [(at, end)]
            last = end == len(text) or self.followed is not None and text.startswith(b"\n", end)
            if first and self.followed and any(self.followed.search(text[a : b + 1]) for a, b in outside):
                raise Left
            if match and not last and (end > match.end() or not text.startswith(self.separator, end)):
                raise Left
            if last and not match:
                value = value.rstrip(b"\r")
            values.append(trim(value, self.separator) if self.trims else value)
            if last:
                return values, end
            at = end + 1

    def opens(self, text, at):
        """Whether a quote opens a field there that is not closed."""
        blanks = BLANKS.replace(self.separator, b"") if self.trims else b""
        while text[at : at + 1] and text[at] in blanks:
            at += 1
        return text.startswith(b'"', at)


rows_with = functools.cache(Rows)


def rows_of(recipe):
    return rows_with(recipe.separator or b",", recipe.trim, recipe.delimiter == b"\n")


def values_of(line, recipe):
    """Of a line or row by itself."""
    return rows_of(recipe).take(line)[0] if recipe.csv else split_fields(line, recipe)


def header_fields(line, recipe):
    """Of a line that may be a header line; one field without --csv and a separator."""
    if recipe.csv:
        return values_of(line, recipe)
    line = line.removeprefix(BYTE_ORDER_MARK).rstrip(b"\r")
    if recipe.separator:
        return split_fields(line, recipe)
    return [trim(line, None) if recipe.trim else line]


def find_columns(header, recipe):
    """Where the columns are whose names -f has; or all but these, in the order of their names."""
    columns = header_fields(header, recipe)
    names = recipe.names or []
    recipe.headed = len(columns)
    if any(columns.count(name) != 1 for name in names):
        raise Left(1)
    if recipe.but:
        return sorted((at for at, name in enumerate(columns) if name not in names), key=lambda at: (columns[at], at))
    return [columns.index(name) for name in names]


def csv_fields(line, recipe):
    chosen = finish_each(choose(values_of(line, recipe), recipe), recipe)
    if recipe.names:
        single = len(recipe.names) == 1 and not recipe.but
    else:
        single = recipe.ranges[0][0] == recipe.ranges[-1][1]
    if chosen is None or single:
        return chosen and chosen[0]
    separator = recipe.separator or b","
    special = (separator, b'"', b"\r", b"\n")
    return separator.join(
        b'"' + value.replace(b'"', b'""') + b'"' if any(s in value for s in special) else value
        for value in chosen
    )


# --- Steps 2 and 3, and 5 and 6 for strings, with --jsonl ---------------------------------------

# In what comes of a text, a string is a String, decoded; a number, true and false are bytes, as they
# are written; null is None; the rest a Container. Python's own json must find the same in it, or refuse it, too:
# it forgives nothing that the rules refuse, and takes what they take, but for a byte order mark, which is no part
# of the text here, and deep nesting.
NESTING_MAX = 1000
JSON_BLANKS = b" \t\n\r"
TOKEN = re.compile(
    rb"""[ \t\n\r]*(?P<token>
        "(?P<string>(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*)"
        |(?P<scalar>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|NaN|-?Infinity)
        |null|[][{},:])""",
    re.VERBOSE,
)
ESCAPE = re.compile(rb"\\u([Dd][89ABab]..)\\u([Dd][C-Fc-f]..)|\\u(....)|\\(.)")
ESCAPED = {bytes([letter]): bytes([code]) for letter, code in zip(b'"\\/bfnrt', b'"\\/\b\f\n\r\t')}


class String(bytes):
    """Decoded."""


class Container:
    """An object (a dict) or array (a list), and its tokens."""

    def __init__(self, items, tokens):
        self.items, self.tokens = items, tokens


def decode(string):
    """A surrogate without its other half becomes the three bytes of its number; bytes stay."""

    def character(match):
        high, low, unit, letter = match.groups()
        if letter:
            return ESCAPED[letter]
        code = int(unit, 16) if unit else 0x10000 + (int(high, 16) - 0xD800) * 0x400 + int(low, 16) - 0xDC00
        return chr(code).encode("utf-8", "surrogatepass")

    return String(ESCAPE.sub(character, string) if b"\\" in string else string)


def take_value(tokens, at, depth=0):
    """The value that begins with the token at `at`, and where it ends; LookupError without an end."""
    first = at
    match = tokens[at]
    if match["string"] is not None:
        return decode(match["string"]), at + 1
    if match["scalar"]:
        return match["scalar"], at + 1
    if match["token"] == b"null":
        return None, at + 1
    if match["token"] not in (b"{", b"[") or depth == NESTING_MAX:
        raise ValueError
    is_object = match["token"] == b"{"
    found, closing = ({}, b"}") if is_object else ([], b"]")
    at += 1
    if tokens[at]["token"] == closing:
        return Container(found, tokens[first : at + 1]), at + 1
    while True:
        if is_object:
            if tokens[at]["string"] is None or tokens[at + 1]["token"] != b":":
                raise ValueError
            name = decode(tokens[at]["string"])
            found[name], at = take_value(tokens, at + 2, depth + 1)
        else:
            value, at = take_value(tokens, at, depth + 1)
            found.append(value)
        if tokens[at]["token"] == closing:
            return Container(found, tokens[first : at + 1]), at + 1
        if tokens[at]["token"] != b",":
            raise ValueError
        at += 1


# For Python, which wants characters, U+F0080 to U+F00FF stand for the bytes from 0x80 on.
PRIVATE = "".join(chr(byte if byte < 0x80 else 0xF0000 + byte) for byte in range(256))
PRIVATE_ESCAPE = re.compile(rb"\\[uU][dD][bB]80\\[uU][dD][cC][89a-fA-F]")
PRIVATE_BYTES = re.compile(rb"\xf3\xb0([\x82\x83])(.)", re.DOTALL)
DECODER = json.JSONDecoder(parse_int=str.encode, parse_float=str.encode, parse_constant=str.encode)
IS_WRITTEN = {True: b"true", False: b"false"}


def nests_too_deep(text):
    depth = most = 0
    if text.count(b"[") + text.count(b"{") > NESTING_MAX:
        for bracket in re.findall(rb"[][{}]", re.sub(rb'"(?:[^"\\]|\\.)*"', b"", text)):
            depth += 1 if bracket in b"[{" else -1
            most = max(most, depth)
    return most > NESTING_MAX


def as_here(value):
    """What Python has found, as it is found here, but for the tokens."""
    if isinstance(value, str):
        return PRIVATE_BYTES.sub(
            lambda match: bytes([(match[1][0] & 3) << 6 | match[2][0] & 0x3F]), value.encode("utf-8", "surrogatepass")
        )
    if isinstance(value, dict):
        return {as_here(name): as_here(one) for name, one in value.items()}
    return [as_here(one) for one in value] if isinstance(value, list) else IS_WRITTEN.get(value, value)


def without_tokens(value):
    if not isinstance(value, Container):
        return value
    if isinstance(value.items, dict):
        return {name: without_tokens(one) for name, one in value.items.items()}
    return [without_tokens(one) for one in value.items]


def ask_python(text, ours):
    """Ours: the value of a text, or ValueError."""
    if nests_too_deep(text) or PRIVATE_ESCAPE.search(text):
        return
    try:
        theirs = as_here(DECODER.decode(text.decode("latin-1").translate(PRIVATE)))
    except json.JSONDecodeError:
        theirs = ValueError
    if theirs != (ours if ours is ValueError else without_tokens(ours)):
        sys.exit(f"Python's json differs: {text}")


def json_text(text):
    """The value of a whole text. ValueError: it is none."""
    text = text.rstrip(JSON_BLANKS)
    tokens = list(iter(TOKEN.scanner(text).match, None))
    try:
        value, end = take_value(tokens, 0)
    except (ValueError, LookupError):
        value, end = None, -1
    if end < len(tokens) or tokens[-1].end() < len(text):
        ask_python(text, ValueError)
        raise ValueError
    ask_python(text, value)
    return value


def json_value(line):
    """ValueError if the line is no JSON: no text with a comma behind it or not, even without a bracket
    at one end."""
    text = line.removeprefix(BYTE_ORDER_MARK).strip(JSON_BLANKS)
    tries = [text] + [text[1:]] * text.startswith(b"[") + [text[:-1]] * text.endswith(b"]")
    for text in tries:
        try:
            return json_text(text.rstrip(JSON_BLANKS).removesuffix(b","))
        except ValueError:
            pass
    raise ValueError


def member(value, item):
    """What an item of LIST stands for: a name, or the steps of a JSON Pointer. None: nothing."""
    steps = [item]
    if item.startswith(b"/"):
        steps = [step.replace(b"~1", b"/").replace(b"~0", b"~") for step in item[1:].split(b"/")]
    for step in steps:
        found = value.items if isinstance(value, Container) else None
        if isinstance(found, dict):
            value = found.get(step)
        elif found and item.startswith(b"/") and re.fullmatch(b"0|[1-9][0-9]*", step):
            value = found[int(step)] if int(step) < len(found) else None
        else:
            return None
    return value


SHORT = {b'"': b'\\"', b"\\": b"\\\\", b"\b": b"\\b", b"\f": b"\\f", b"\n": b"\\n", b"\r": b"\\r", b"\t": b"\\t"}


def shortest(string):
    """With what must be escaped, and nothing else."""
    return b'"' + re.sub(rb'["\\\x00-\x1f]', lambda m: SHORT.get(m[0], b"\\u%04x" % ord(m[0])), string) + b'"'


def jsonl_members(line, recipe):
    try:
        text = json_value(line)
    except ValueError:
        return None
    contents = []
    for item in recipe.items:
        value = member(text, item)
        if isinstance(value, String):
            value = trim(value, None) if recipe.trim else value
            if recipe.by:
                return value
            if is_too_long([value], recipe):
                return None
            value = finish(value, recipe)
            if value == b"" and not contents:
                return None
            contents.append(shortest(value))
        elif value is None or recipe.by:
            contents.append(b"")
        elif isinstance(value, Container):
            contents.append(b"".join(match["token"] for match in value.tokens))
        else:
            contents.append(value)
    return b",".join(contents) if contents[0] else None


# --- Step 4: url/2 ------------------------------------------------------------------------------

UP_TO_SPACE = bytes(range(0x21))
UNRESERVED = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
HEX_DIGITS = b"0123456789abcdefABCDEF"
IN_HOSTS = UNRESERVED + b"!$&'()*+,;="
DEFAULT_PORTS = {b"http": b"80", b"https": b"443", b"ws": b"80", b"wss": b"443", b"ftp": b"21"}
SPECIAL = re.compile(rb"(?:https?|wss?|ftp):", re.IGNORECASE)

# Scheme, authority, path, query with its question mark.
URL = re.compile(rb"([A-Za-z][A-Za-z0-9+.-]*)://([^/?]*)([^?]*)(\?.*)?", re.DOTALL)
# An address in brackets, or what holds neither bracket nor colon; a port may follow.
HOST_AND_PORT = re.compile(rb"(\[[^][]*\]|[^][:]+)(?::([0-9]*))?")
ESCAPED_BYTE = re.compile(rb"%([0-9A-Fa-f]{2})")
# An escape, a lone % with the digit behind it, or a byte.
PERCENT = re.compile(rb"%([0-9A-Fa-f]{2})|(%[0-9A-Fa-f]?)|(.)", re.DOTALL)
ILLEGAL = bytes(range(0x21)) + bytes(range(0x7F, 0x100)) + b'"<>\\^{|}`'
LABEL_BYTES_MAX = 63


def encoded(byte):
    return b"%%%02X" % byte


def percent(text, more=b"[]"):
    """Rule 6, in one pass from left to right: what comes out of it is not looked at again."""
    made, lone = [], False
    for match in PERCENT.finditer(text):
        escape, percents, plain = match.groups()
        byte = int(escape, 16) if escape else ord(plain or b" ")
        if percents:
            made.append(percents)
        elif escape:
            completes = lone and byte in HEX_DIGITS
            made.append(bytes([byte]) if byte in UNRESERVED and not completes else encoded(byte))
        else:
            made.append(encoded(byte) if byte in ILLEGAL or byte in more else plain)
        lone = bool(percents)
    return b"".join(made)


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


def address(text):
    """IPv6 as RFC 5952 has it, all in hex; None: no address."""
    try:
        packed = None if b"%" in text else ipaddress.IPv6Address(text.decode("ascii")).packed
    except ValueError:
        packed = None
    if packed is None:
        return None
    groups = ["%x" % int.from_bytes(packed[at : at + 2], "big") for at in range(0, 16, 2)]
    runs = [(length, -at) for at in range(8) for length in range(2, 9 - at) if groups[at : at + length] == ["0"] * length]
    if runs:
        length, at = max(runs)
        return (":".join(groups[:-at]) + "::" + ":".join(groups[-at + length :])).encode()
    return ":".join(groups).encode()


def decoded_host(name):
    return ESCAPED_BYTE.sub(lambda match: bytes([int(match[1], 16)]), name).lower()


def label(text):
    """In Punycode, if it has bytes beyond ASCII, is UTF-8, and is then no longer than a label may be."""
    try:
        characters = text.decode("utf-8")
    except UnicodeDecodeError:
        return text
    if text.isascii() or len(characters) > LABEL_BYTES_MAX:
        return text
    made = b"xn--" + characters.encode("punycode")
    return made if len(made) <= LABEL_BYTES_MAX else text


def host_name(name):
    """What rule 4 makes of a host; None: no URL."""
    if name.startswith(b"["):
        name = address(name[1:-1])
        return name and b"[" + name + b"]"
    name = b".".join(map(label, decoded_host(name).split(b".")))
    return b"".join(bytes([byte]) if byte in IN_HOSTS else encoded(byte) for byte in name)


def cleaned(text):
    """Rule 1."""
    text = text.strip(UP_TO_SPACE).translate(None, b"\t\r\n")
    if SPECIAL.match(text):
        end = re.search(rb"[?#]|\Z", text).start()
        text = text[:end].replace(b"\\", b"/") + text[end:]
    return text


def url_parts(text):
    """Scheme, user info with its @, host, port with its colon, path, query with its question mark, route, each
    in normal form and perhaps empty; None: no URL."""
    text, sign, fragment = cleaned(text).partition(b"#")  # rules 1, 2
    route = sign + fragment if fragment[:1] in (b"!", b"/") else b""
    parts = URL.fullmatch(text)
    if not parts:
        return None
    scheme, authority, path, query = parts.groups(b"")
    scheme = scheme.lower()  # rule 3
    user, _, rest = authority.rpartition(b"@")  # rule 4
    if user.find(b":") == len(user) - 1:
        user = user.removesuffix(b":")
    parts = HOST_AND_PORT.fullmatch(rest)
    name = parts and host_name(parts[1])
    if name is None:
        return None
    port = parts[2] or b""
    port = port[:1] if port.strip(b"0") == b"" else port.lstrip(b"0")
    port = b"" if port in (b"", DEFAULT_PORTS.get(scheme)) else b":" + port
    path = remove_dot_segments(percent(path or b"/"))  # rules 5, 6, 7
    query = percent(query, b"[]'" if scheme in DEFAULT_PORTS else b"[]")  # rule 8
    return scheme, percent(user) + b"@" if user else b"", name, port, path, query, percent(route, b"")


def url(text):
    parts = url_parts(text)
    return parts and parts[0] + b"://" + b"".join(parts[1:])


# --- Step 4: host/2 -----------------------------------------------------------------------------

NO_HOSTS = (b"http", b"https", b"ftp", b"ws", b"wss", b"mailto", b"tel", b"data", b"javascript")


def host(text):
    """Of a URL the host. Of what has no :// before its first /, ? or #: what stands before that
    byte, without user info and port, if it looks like a name."""
    text = cleaned(text)
    before = re.match(rb"[^/?#]*", text)[0]
    if before.endswith(b":") and text.startswith(b"//", len(before)):
        parts = url_parts(text)
        name = parts and parts[2]
    else:
        name = before.rpartition(b"@")[2]
        parts = re.fullmatch(rb"(\[[^][]*\]|[^][:]+)(?::([0-9]{0,5}))?", name)
        if not parts or parts[2] is not None and parts[1].lower() in NO_HOSTS:
            return None
        name = parts[1]
        if not name.startswith(b"[") and not re.fullmatch(rb"[a-z0-9_.\x80-\xff-]+", decoded_host(name)):
            return None
        name = host_name(name)
    return name.removesuffix(b".") or None if name else None


# --- Step 4: endpoint/2 -------------------------------------------------------------------------

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
    _, _, name, port, path, query, _ = parts
    path = b"/".join(map(marked, path.split(b"/")))
    names = {part.split(b"=", 1)[0] for part in query[1:].split(b"&")} - {b""}
    return name + port + path + (b"?" + b"&".join(sorted(names)) if names else b"")


# --- Step 6: without/1 --------------------------------------------------------------------------

WITHOUT_BYTES_MAX = 65536


def pattern(text, folds):
    """Python's own re, for what it reads as the rules have it: no part that may match nothing is repeated, and there
    is no (?<=^|X). (oracle_without.py asks PCRE2 of these.) The first group is all that follows the beginning of a
    match: a match takes a byte at least."""
    text = re.sub(rb"(?<!\\)\$", rb"\\Z", text)
    return re.compile(b"(?=(.*))(?:" + text + rb")(?!\1\Z)", re.DOTALL | (re.IGNORECASE if folds else 0))


def leave_out(compiled, value):
    kept, at = [], 0
    while match := compiled.search(value, at):
        kept.append(value[at : match.start()])
        at = match.end()
    return b"".join(kept) + value[at:]


def finish(value, recipe):
    """Steps 5 and 6."""
    value = value.lower() if recipe.fold else value
    for each in recipe.without:
        value = leave_out(each, value)
    return value


def is_too_long(values, recipe):
    return bool(recipe.without) and any(len(value) > WITHOUT_BYTES_MAX for value in values)


# --- All steps ----------------------------------------------------------------------------------

PROFILES = {"url": url, "host": host, "endpoint": endpoint}


def key_of(line, recipe):
    """The key of a line; None if it has none."""
    if recipe.jsonl:
        key = jsonl_members(line, recipe)
    elif recipe.csv:
        key = csv_fields(line, recipe)
    else:
        key = trim(line.removeprefix(BYTE_ORDER_MARK), recipe.separator) if recipe.trim else line
        if recipe.ranges or recipe.names:
            key = fields(key, recipe)
    if recipe.by and key is not None:
        key = recipe.by(key) if len(key) <= PROFILE_BYTES_MAX else None
    if key is not None and (recipe.by or not (recipe.jsonl or recipe.csv or recipe.ranges or recipe.names)):
        key = None if is_too_long([key], recipe) else finish(key, recipe)
    if recipe.fold and key is not None and not (recipe.jsonl or recipe.without):
        key = key.lower()  # what joins values, too; with patterns, each value was it before
    if key == b"" and (recipe.csv or recipe.jsonl or recipe.ranges or recipe.names):
        return None
    return key


# --- Lines in and out ---------------------------------------------------------------------------


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--trim", action="store_true")
    parser.add_argument("--csv", action="store_true")
    parser.add_argument("--jsonl", action="store_true")
    parser.add_argument("--header", action="store_true")
    parser.add_argument("-f", dest="list")
    parser.add_argument("-t", type=parse_separator, dest="separator")
    parser.add_argument("--by", type=PROFILES.get)
    parser.add_argument("-i", action="store_true", dest="fold")
    parser.add_argument("--without", action="append", default=[], type=os.fsencode)
    parser.add_argument("-z", action="store_const", const=b"\0", default=b"\n", dest="delimiter")
    parser.add_argument("first", type=argparse.FileType("wb"))
    parser.add_argument("files", nargs="*", metavar="FILE")
    recipe = set_list(parser.parse_args())
    recipe.without = [pattern(text, recipe.fold) for text in recipe.without]
    return recipe


def split_list(text):
    """The items of LIST, each with whether it is in quotes, as CSV has them."""
    items = re.findall(r'(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))', text)
    return [(quoted.replace('""', '"'), True) if quoted else (plain, False) for quoted, plain in items]


def set_list(recipe):
    """LIST as numbers, names of columns or items of --jsonl; equal ones count once."""
    recipe.ranges = recipe.names = recipe.items = None
    text = recipe.list or ("1-" if recipe.csv else "")
    recipe.but = text.startswith("!") and not recipe.jsonl
    items = split_list(text.removeprefix("!") if recipe.but else text)
    once = list(dict.fromkeys(item for item, _ in items))
    if recipe.jsonl:
        recipe.items = [os.fsencode(item) for item in once]
    elif not all(re.fullmatch("[0-9-]*", item) and not quoted for item, quoted in items):
        recipe.names = [os.fsencode(name) for name in once]
        recipe.header = True
    elif text:
        recipe.ranges = parse_fields(text.removeprefix("!"))
        if recipe.but:
            recipe.ranges = all_but(recipe.ranges)
    return recipe


def all_but(ranges):
    left, at = [], 1
    for first, last in ranges:
        if at < first:
            left.append((at, first - 1))
        if last is TO_THE_END:
            return left
        at = last + 1
    return left + [(at, TO_THE_END)]


class Output:
    """Keys to stdout, lines to FIRST, after one header line."""

    def __init__(self, recipe):
        self.recipe = recipe
        # With a buffer, whatever PYTHONUNBUFFERED says.
        self.keys = open(1, "wb", closefd=False)
        self.seen = {True: set(), False: set()}  # of lines without a key, and of keys

    def write(self, key, line, header):
        end = self.recipe.delimiter
        itself = key is None
        if itself:
            key = line
        self.keys.write((b"none\t" if itself else b"key\t") + (key if itself else self.shown(key)) + end)
        if key not in self.seen[itself]:
            if header is not None and not self.seen[True] and not self.seen[False]:
                self.recipe.first.write(header + end)
            self.seen[itself].add(key)
            self.recipe.first.write(line + end)

    def shown(self, key):
        """A key is a line."""
        if b"\r" in key or b"\n" in key:
            key = b'"' + key.replace(b'"', b'""') + b'"'
        return key if self.recipe.delimiter == b"\0" else key.replace(b"\n", b"\\n")


def split(data, recipe):
    """The lines or rows of an input, each with the number of its first line. Raises Left for a row that is none."""
    if not recipe.csv or recipe.delimiter == b"\0":
        lines = data.split(recipe.delimiter)
        for number, line in enumerate(lines if lines[-1] else lines[:-1], 1):
            if recipe.csv:
                try:
                    rows_of(recipe).take(line)
                except Left:
                    raise Left(number) from None
            yield number, line
        return
    at, number, rows = 0, 1, rows_of(recipe)
    while at < len(data):
        try:
            _, end = rows.take(data, at, at == 0)
        except Left:
            raise Left(number) from None
        yield number, data[at:end]
        number += data.count(b"\n", at, end + 1)
        at = end + 1


def take_input(name, data, recipe, output):
    """Returns whether it was taken to its end."""
    header = None
    try:
        for number, line in split(data, recipe):
            if recipe.header and number == 1:
                header = line
                recipe.columns = find_columns(line, recipe)
            elif header is None or header_fields(line, recipe) != header_fields(header, recipe):
                output.write(key_of(line, recipe), line, header)
        return True
    except Left as left:
        print("LEFT", name, *left.args, file=sys.stderr)
        return False


def main():
    sys.setrecursionlimit(20 * NESTING_MAX)
    recipe = parse_arguments()
    output = Output(recipe)
    whole = True
    for name in recipe.files or ["-"]:
        with sys.stdin.buffer if name == "-" else open(name, "rb") as file:
            data = file.read()
        whole = take_input(name, data, recipe, output) and whole
    return 0 if whole else 2


if __name__ == "__main__":
    sys.exit(main())
