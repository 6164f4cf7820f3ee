#!/usr/bin/env python3
"""Holds rows of CSV, and their keys, against Python's own csv (strict), and against the rules.

    oracle_rows.py PROGRAM FILES SEED

Makes small files that are hard to read, of which half are valid by construction, and reads them in three
ways: the program's own way (PROGRAM is tests/key/oracle_rows.c, built), which gets each file in pieces of
random sizes; csv_rows below, which is Python's csv, where it follows the same rules; and our_rows below,
which is written from the rules alone. Compared, byte for byte, are the rows with their places and lines,
which of them are header lines, their keys, and the error, if any, with its line.

Python's csv is not asked about what it has other rules for, or none: a CR before data, a byte order mark,
blanks before a quote with a separator or newline behind it, and around quotes with --trim, -z. These are
counted. Of every FILES_PER_LONG files one is long, so that a second thread reads it.

Prints the counts. Exit: 0; 1 after the first difference, with the file, its options and what was said.
"""

import collections
import csv
import random
import re
import struct
import subprocess
import sys

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
FILES_PER_LONG, FILES_AT_ONCE, LONG_BYTES = 20000, 5000, 2500000
ANY = 0xFFFFFFFF

# What Options.flags says, as in oracle_rows.c.
TRIM, HEADER, NUL, FOLD, PIPE = 1, 2, 4, 8, 16

UNCLOSED = b"quoted field is not closed"
BYTES_FOLLOW = b"bytes follow the closing quote of a field"
BLANKS = b"blanks before a quote"
RETURNS = b"lines end with CR"
TOO_LONG = b"too long"
NO_COLUMN = b"no column"

# --- Options ------------------------------------------------------------------------------------

END = None

# LIST, and what it says: ranges of numbers; or names; or names that are left out.
NUMBERS = [
    (None, [(1, END)]),
    ("1", [(1, 1)]),
    ("1", [(1, 1)]),
    ("2", [(2, 2)]),
    ("3", [(3, 3)]),
    ("5", [(5, 5)]),
    ("1,2", [(1, 2)]),
    ("3,1", [(1, 1), (3, 3)]),
    ("2,4-5", [(2, 2), (4, 5)]),
    ("2-", [(2, END)]),
    ("-2", [(1, 2)]),
    ("!2", [(1, 1), (3, END)]),
    ("!1,3", [(2, 2), (4, END)]),
]
NAMES = [
    ("id", [b"id"], False),
    ("v", [b"v"], False),
    ("v,id,v", [b"v", b"id"], False),
    ('"last, first",id', [b"last, first", b"id"], False),
    ('"2019"', [b"2019"], False),
    ('id,"2019",v', [b"id", b"2019", b"v"], False),
    ('"a""b"', [b'a"b'], False),
    ("!v", [b"v"], True),
    ("!id,v", [b"id", b"v"], True),
    ('!"last, first"', [b"last, first"], True),
]
COLUMNS = [b"id", b"v", b"last, first", b"2019", b'a"b', b"x y"]

Options = collections.namedtuple("Options", "flags separator list ranges names without max_line")


def options_of(chance):
    flags = 0
    for flag, share in ((TRIM, 0.25), (HEADER, 0.35), (NUL, 0.08), (FOLD, 0.1), (PIPE, 0.5)):
        flags |= flag * (chance.random() < share)
    separator = chance.choice(b",,,,;\t| ")
    ranges, names, without = None, None, False
    if flags & HEADER and chance.random() < 0.6:
        text, names, without = chance.choice(NAMES)
    else:
        text, ranges = chance.choice(NUMBERS)
    max_line = chance.randrange(8, 60) if chance.random() < 0.03 else ANY
    return Options(flags, bytes([separator]), text, ranges, names, without, max_line)


# --- Files --------------------------------------------------------------------------------------

VALUES = [
    b"", b"", b"a", b"b", b"A", b"7", b"42", b" a", b"a ", b" ", b'"', b'5" disk', b'a"b', b'""', b"x,y", b"x;y", b",",
    b"\t", b"a\nb", b"\n", b"\n\n", b"a\r\nb", b"\r", b"a\r", b"b\xc3\xa9", b"\xff", b'"\n"', b'",\n', b"\v", b"one two",
]  # fmt: skip


class Files:
    """Random files for given options."""

    def __init__(self, chance):
        self.chance = chance

    def value(self):
        chance = self.chance
        value = chance.choice(VALUES)
        draw = chance.random()
        if draw < 0.1:
            return value + chance.choice(VALUES)
        return value + b"x" * chance.randrange(70) if draw < 0.13 else value

    def written(self, values, options):
        """A row with these values, as a writer may write it that quotes what must be in quotes."""
        chance, trim = self.chance, options.flags & TRIM
        special = re.compile(b'["\r\n\0' + re.escape(options.separator) + b"]")
        fields = []
        for value in values:
            if special.search(value) or chance.random() < 0.2:
                value = b'"' + value.replace(b'"', b'""') + b'"'
                if trim and chance.random() < 0.2:
                    blank = b" \t".replace(options.separator, b"")[:1]
                    value = chance.choice([blank + value, value + blank])
            fields.append(value)
        return options.separator.join(fields)

    def valid(self, options):
        chance = self.chance
        width = chance.choice((1, 2, 2, 3, 3, 4, 6))
        rows = [
            [self.value() for _ in range(width if chance.random() < 0.9 else chance.randrange(1, 8))]
            for _ in range(chance.choice((1, 1, 2, 3, 4, 6, 10, 30)))
        ]
        if options.names or options.flags & HEADER and chance.random() < 0.5:
            rows.insert(0, self.header(options))
            for _ in range(chance.choice((0, 0, 1, 2))):
                rows.insert(chance.randrange(1, len(rows) + 1), rows[0])
        delimiter = b"\0" if options.flags & NUL else b"\n"
        ending = chance.choice((b"", b"", b"\r", b"\r\r")) + delimiter
        pieces = []
        for row in rows:
            pieces.append(BYTE_ORDER_MARK if chance.random() < 0.03 else b"")
            pieces.append(self.written(row, options))
            pieces.append(ending if chance.random() < 0.9 else delimiter)
            if chance.random() < 0.06:
                pieces.append(ending)
        data = b"".join(pieces).replace(b"\0", delimiter)
        return data[: -len(delimiter)] if chance.random() < 0.3 else data

    def header(self, options):
        chance = self.chance
        names = chance.sample(COLUMNS, chance.randrange(1, len(COLUMNS) + 1))
        names += [name for name in options.names or [] if name not in names and chance.random() < 0.9]
        if chance.random() < 0.05:
            names.append(chance.choice(names))
        chance.shuffle(names)
        return names

    def changed(self, data):
        """One or two bytes of it are others, more or gone."""
        data = bytearray(data)
        for _ in range(self.chance.randrange(1, 3)):
            at = self.chance.randrange(len(data) + 1)
            data[at : at + self.chance.randrange(2)] = self.chance.choice(
                (b'"', b'"', b"\n", b"\r", b" ", b",", b"x", b"")
            )
        return bytes(data)

    def noise(self, options):
        chance = self.chance
        delimiter = b"\0" if options.flags & NUL else b"\n"
        weights = {b'"': 9, b'""': 2, b' "': 1, options.separator: 8, delimiter: 4, b"\n": 2, b"\r\n": 1, b"\r": 1, b" ": 1,
                   b"\t": 0.5, b"a": 6, b"b": 4, BYTE_ORDER_MARK: 0.4}  # fmt: skip
        data = b"".join(
            chance.choices(list(weights), list(weights.values()), k=chance.choice((2, 4, 7, 12, 20, 40, 90)))
        )
        if options.names and chance.random() < 0.9:
            data = self.written(self.header(options), options) + delimiter + data
        return data

    def small(self, options):
        draw = self.chance.random()
        if draw < 0.5:
            return self.valid(options)
        return self.changed(self.valid(options)) if draw < 0.75 else self.noise(options)

    def long(self, options):
        """Valid rows, and perhaps an error near the end."""
        first = self.written(self.header(options), options) + (b"\0" if options.flags & NUL else b"\n")
        delimiter = first[-1:]
        pieces, length = [first], 0
        while length < LONG_BYTES:
            piece = self.valid(options._replace(flags=options.flags & ~HEADER, names=None))
            pieces.append(piece if piece.endswith(delimiter) else piece + delimiter)
            length += len(piece)
        return b"".join(pieces + [self.small(options)] * (self.chance.random() < 0.5))


# --- The rules ----------------------------------------------------------------------------------

# A row: its place, `end` after its delimiter if it has one; its line, counted from 1; its values.
Row = collections.namedtuple("Row", "start end line values")

QUOTED = re.compile(rb'"([^"]*(?:""[^"]*)*)"(?!")')


class Wrong(Exception):
    """Why a row is none."""


class Reader:
    """Rows by the rules, one byte after the other."""

    def __init__(self, data, options):
        self.data, self.options = data, options
        self.trims = bool(options.flags & TRIM)
        self.delimiter = b"\0" if options.flags & NUL else b"\n"
        self.separator = options.separator
        self.blank = b" \t\r\v\f".replace(self.separator, b"")
        # What Python's csv has other rules for.
        self.unlike = collections.Counter()
        if options.flags & NUL:
            self.unlike["-z"] += 1

    def rows(self):
        """All of them, and the error: None, or the reason, where its row begins, and that line."""
        found, at, line = [], 0, 1
        while at < len(self.data):
            limit = len(self.data)
            if self.options.flags & NUL:
                limit = self.data.find(b"\0", at)
                limit = limit if limit >= 0 else len(self.data)
            try:
                # With -z a CR ends no line.
                end, values = self.row(at, limit, not found and not self.options.flags & NUL)
            except Wrong as wrong:
                return found, (wrong.args[0], at, line)
            found.append(Row(at, end + 1, line, values))
            line += self.data.count(self.delimiter, at, min(end + 1, len(self.data)))
            at = end + 1
        return found, None

    def ends(self, at, limit):
        return at == limit or self.data[at : at + 1] == self.delimiter

    def row(self, at, limit, first):
        """Where the row ends that begins there, and its values."""
        values = []
        if self.data.startswith(BYTE_ORDER_MARK, at) and at + 3 <= limit:
            self.unlike["byte order mark"] += 1
            at += 3
        while True:
            opening, plain = at, at
            while opening < limit and self.data[opening] in self.blank:
                opening += 1
            quoted = self.data[opening : opening + 1] == b'"' and opening < limit
            if quoted and first and b"\r" in self.data[at:opening]:
                raise Wrong(RETURNS)
            if quoted and opening > at and not self.trims:
                quoted, plain = False, self.doubtful(opening, limit)
            if quoted:
                self.unlike["blanks around quotes"] += opening > at
                value, at = self.quoted(opening, limit, first)
            else:
                value, at = self.bare(at, plain, limit, first)
            values.append(value.strip(self.blank) if self.trims else value)
            if self.ends(at, limit):
                return at, values
            at += 1

    def doubtful(self, opening, limit):
        """A quote after blanks, which opens no field. Returns the place after the next one."""
        at = opening + 1
        while not self.ends(at, limit) and self.data[at : at + 1] not in (b'"', self.separator):
            at += 1
        if self.data[at : at + 1] != b'"' or at == limit:
            self.unlike["blanks before a quote"] += 1
            raise Wrong(BLANKS)
        return at + 1

    def quoted(self, at, limit, first):
        match = QUOTED.match(self.data, at, limit)
        if not match:
            raise Wrong(UNCLOSED)
        after = match.end()
        passed = self.blank if self.trims else b"\r"
        at = after
        while at < limit and self.data[at] in passed:
            at += 1
        between = self.data[after:at]
        if between.strip(b"\r"):
            self.unlike["blanks around quotes"] += 1
        if b"\r" in (between.rstrip(b"\r") if self.ends(at, limit) else between):
            self.unlike["CR before data"] += 1
            if first:
                raise Wrong(RETURNS)
        parted = self.data[at : at + 1] == self.separator and (self.trims or not between)
        if not parted and not self.ends(at, limit):
            raise Wrong(BYTES_FOLLOW)
        return match[1].replace(b'""', b'"'), at

    def bare(self, at, plain, limit, first):
        """A field without quotes. Up to `plain` it has two that may have been meant to be some: a CR between
        them ends no line."""
        end = at
        while not self.ends(end, limit) and self.data[end : end + 1] != self.separator:
            end += 1
        value = self.data[at:end]
        if self.ends(end, limit):
            value = value.rstrip(b"\r")
        self.unlike["CR before data"] += b"\r" in value
        if first and b"\r" in value[plain - at :]:
            raise Wrong(RETURNS)
        return value, end


def our_rows(data, options):
    reader = Reader(data, options)
    rows, error = reader.rows()
    return rows, error, +reader.unlike


def csv_rows(data, options):
    """What Python's csv says, and the line of the row that is in error, or None."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", data.decode("latin-1"))
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    blank = b" \t\r\v\f".replace(options.separator, b"")
    reader = csv.reader(lines, strict=True, delimiter=options.separator.decode())
    rows, line = [], 0
    try:
        for values in reader:
            values = [value.encode("latin-1") for value in values or [""]]
            if options.flags & TRIM:
                values = [value.strip(blank) for value in values]
            end = starts[reader.line_num]
            end += not data.endswith(b"\n", 0, end)
            rows.append(Row(starts[line], end, line + 1, values))
            line = reader.line_num
    except csv.Error:
        return rows, line + 1
    return rows, None


# --- Keys ---------------------------------------------------------------------------------------


def joined(values, separator):
    special = re.compile(b'["\r\n' + re.escape(separator) + b"]")
    return separator.join(b'"' + v.replace(b'"', b'""') + b'"' if special.search(v) else v for v in values)


class Keys:
    """For the rows of one file. header: the values of its header line, if it has one."""

    def __init__(self, options, header):
        self.options, self.columns, self.no_column = options, None, False
        names = options.names
        if names and header is not None:
            self.no_column = any(header.count(name) != 1 for name in names)
            if options.without:
                self.headed = len(header)
                numbers = sorted(range(len(header)), key=lambda at: header[at])
                self.columns = [at for at in numbers if header[at] not in options.names]
            elif not self.no_column:
                self.columns = [header.index(name) for name in names]

    def of(self, values):
        """The key; None: the row has none."""
        if self.columns is not None:
            chosen = [values[at] if at < len(values) else b"" for at in self.columns]
            # What has no name is not one of those that are left out.
            if self.options.without and chosen:
                chosen += values[self.headed :]
            single = len(self.options.names) == 1 and not self.options.without
        else:
            ranges = self.options.ranges
            if ranges[0][0] > len(values):
                return None
            chosen = [value for first, last in ranges for value in values[first - 1 : last]]
            single = ranges[0][0] == ranges[-1][1]
        if not chosen or not chosen[0]:
            return None
        key = chosen[0] if single else joined(chosen, self.options.separator)
        return key.lower() if self.options.flags & FOLD else key


# --- What the program should say ----------------------------------------------------------------


def said(data, options, rows, error):
    """As oracle_rows.c writes it."""
    lines = []
    header = None
    if options.max_line != ANY:
        for number, row in enumerate(rows):
            if row.end - row.start - 1 > options.max_line:
                rows, error = rows[:number], (TOO_LONG, row.start, row.line)
                break
    if options.flags & HEADER and rows:
        header, rows = rows[0], rows[1:]
    keys = Keys(options, header and header.values)
    if keys.no_column:
        return b"error 1 %s\n" % NO_COLUMN
    if header:
        lines.append(b"header %d %d\n" % header[:2])
    for row in rows:
        if header and row.values == header.values:
            lines.append(b"again %d %d\n" % row[:2])
            continue
        key = keys.of(row.values)
        kind = b"none" if key is None else b"key"
        key = data[row.start : row.end - 1] if key is None else key
        lines.append(b"row %d %d %d %s %d %s\n" % (*row[:3], kind, len(key), key))
    if error:
        lines.append(b"error %d %s\n" % (error[2], error[0]))
    return b"".join(lines)


def or_too_long(wanted, options):
    """The same, where a row that is none may be told as too long, too."""
    if options.max_line == ANY:
        return wanted
    return re.sub(rb"^(error \d+) .*\n\Z", rb"\1 " + TOO_LONG + b"\n", wanted, flags=re.MULTILINE)


# --- The program --------------------------------------------------------------------------------

FRAME = struct.Struct("<IIIIHBB")


def framed(data, options, chance, is_long):
    """As oracle_rows.c reads it."""
    text = (options.list or "").encode()
    buffer = 1 << 18 if is_long else chance.choice((1, 2, 7, 16, 64, 65, 100, 256, 4096, 65536))
    seed = 0 if chance.random() < 0.2 else chance.getrandbits(32)
    return (
        FRAME.pack(len(data), buffer, seed, options.max_line, len(text), options.flags, options.separator[0])
        + text
        + data
    )


def answers(program, frames):
    result = subprocess.run([program], input=b"".join(frames), stdout=subprocess.PIPE, check=False)
    if result.returncode != 0:
        sys.exit(f"{program}: status {result.returncode}")
    at = 0
    while at < len(result.stdout):
        (length,) = struct.unpack_from("<I", result.stdout, at)
        yield result.stdout[at + 4 : at + 4 + length]
        at += 4 + length


class Comparison:
    def __init__(self):
        self.counts = collections.Counter()
        self.unlike = collections.Counter()

    def wanted(self, data, options):
        """What both oracles say, in the words of the program."""
        rows, error, unlike = our_rows(data, options)
        self.counts["valid" if error is None else "with an error"] += 1
        if unlike:
            self.unlike[next(iter(unlike))] += 1
        else:
            self.counts["asked of csv"] += 1
            theirs, line = csv_rows(data, options)
            if theirs != rows or line != (error and error[2]):
                differ(
                    data,
                    options,
                    f"Python's csv: {theirs}, error in line {line}",
                    f"the rules: {rows}, {error}",
                )
        return said(data, options, rows, error)


def differ(data, options, *texts):
    print("differ:", data if len(data) < 5000 else f"{len(data)} bytes", options, *texts, sep="\n")
    sys.exit(1)


def first_difference(got, wanted):
    got, wanted = got.split(b"\n"), wanted.split(b"\n")
    at = next(
        (i for i, pair in enumerate(zip(got, wanted)) if pair[0] != pair[1]), min(len(got), len(wanted))
    )
    return f"program: ... {got[at : at + 3]}", f"wanted: ... {wanted[at : at + 3]}"


def main():
    program, files, chance = sys.argv[1], int(sys.argv[2]), random.Random(sys.argv[3])
    makes, comparison = Files(chance), Comparison()
    done = 0
    while done < files:
        cases, frames = [], []
        for number in range(done, min(done + FILES_AT_ONCE, files)):
            options = options_of(chance)
            is_long = number % FILES_PER_LONG == 1
            data = makes.long(options) if is_long else makes.small(options)
            cases.append((data, options))
            frames.append(framed(data, options, chance, is_long))
        done += len(cases)
        got = list(answers(program, frames))
        for (data, options), answer in zip(cases, got, strict=True):
            wanted = comparison.wanted(data, options)
            comparison.counts["rows"] += (b"\n" + wanted).count(b"\nrow ")
            if answer not in (wanted, or_too_long(wanted, options)):
                differ(data, options, *first_difference(answer, wanted))
    counts = ", ".join(f"{count} {what}" for what, count in comparison.counts.items())
    print(f"{done} files agree: {counts}")
    print(
        "not asked of csv:",
        ", ".join(f"{count} for {what}" for what, count in comparison.unlike.most_common()),
    )


if __name__ == "__main__":
    main()
