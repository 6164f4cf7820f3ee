#!/usr/bin/env python3
"""Holds rows of CSV, and their keys, against Python's own csv (strict), and against the model (model.py).

    oracle_rows.py PROGRAM FILES SEED

Makes small files that are hard to read, of which half are valid by construction, and reads them in three
ways: the program's own way (PROGRAM is tests/key/oracle_rows.c, built), which gets each file in pieces of
random sizes; csv_rows below, which is Python's csv, where it follows the same rules; and the model, which is
written from the rules alone. Compared, byte for byte, are the rows with their places and lines, which of them
are header lines, their keys, and the line of the error, if any. (For its reason: test_rows.c.)

Python's csv is not asked about what it has other rules for, or none: a CR before data, a byte order mark,
blanks beside a quote, -z. These are counted. Of every FILES_PER_LONG files one is long, so that a second thread
reads it.

Prints the counts. Exit: 0; 1 after the first difference, with the file, its options and what was said.
"""

import argparse
import collections
import csv
import itertools
import model
import random
import re
import struct
import subprocess
import sys
from model import BYTE_ORDER_MARK

FILES_PER_LONG, FILES_AT_ONCE, LONG_BYTES = 20000, 5000, 1200000
ANY = 0xFFFFFFFF

# What Options.flags says, as in oracle_rows.c.
TRIM, HEADER, NUL, FOLD, PIPE = 1, 2, 4, 8, 16

# --- Options ------------------------------------------------------------------------------------

NUMBERS = ["1-", "1", "1", "2", "3", "5", "1,2", "3,1", "2,4-5", "2-", "-2", "!2", "!1,3"]
NAMES = ["id", "v", "v,id,v", '"last, first",id', '"2019"', 'id,"2019",v', '"a""b"', "!v", "!id,v", '!"last, first"']
COLUMNS = [b"id", b"v", b"last, first", b"2019", b'a"b', b"x y"]

Options = collections.namedtuple("Options", "flags separator list names max_line")


def options_of(chance):
    flags = 0
    for flag, share in ((TRIM, 0.25), (HEADER, 0.35), (NUL, 0.08), (FOLD, 0.1), (PIPE, 0.5)):
        flags |= flag * (chance.random() < share)
    separator = chance.choice(b",,,,;\t| ")
    named = flags & HEADER and chance.random() < 0.6
    text = chance.choice(NAMES if named else NUMBERS)
    names = [name.encode() for name, _ in model.split_list(text.removeprefix("!"))] if named else []
    max_line = chance.randrange(8, 60) if chance.random() < 0.03 else ANY
    return Options(flags, bytes([separator]), text, names, max_line)


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
        names += [name for name in options.names if name not in names and chance.random() < 0.9]
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
            piece = self.valid(options._replace(flags=options.flags & ~HEADER, names=[]))
            pieces.append(piece if piece.endswith(delimiter) else piece + delimiter)
            length += len(piece)
        return b"".join(pieces + [self.small(options)] * (self.chance.random() < 0.5))


# --- The rules ----------------------------------------------------------------------------------

# A row: its place, `end` after its delimiter if it has one; its line, counted from 1; its values.
Row = collections.namedtuple("Row", "start end line values")


def recipe_of(options):
    """As the model has it."""
    flags = options.flags
    recipe = argparse.Namespace(csv=True, jsonl=False, by=None, without=[], separator=options.separator)
    recipe.trim, recipe.fold, recipe.header = bool(flags & TRIM), bool(flags & FOLD), bool(flags & HEADER)
    recipe.delimiter = b"\0" if flags & NUL else b"\n"
    recipe.list = options.list
    return model.set_list(recipe)


def our_rows(data, recipe):
    """By the model: all rows, and the line in which one begins that is none, or None."""
    rules, found, at, line = model.rows_of(recipe), [], 0, 1
    ends = itertools.chain(re.finditer(b"\0", data), [None]) if recipe.delimiter == b"\0" else None
    while at < len(data):
        limit = next(ends) if ends else None
        try:
            values, end = rules.take(data[: limit.start()] if limit else data, at, not found)
        except model.Left:
            return found, line
        found.append(Row(at, end + 1, line, values))
        line += data.count(recipe.delimiter, at, min(end + 1, len(data)))
        at = end + 1
    return found, None


def unlike(data, recipe):
    """What Python's csv has other rules for, or may have."""
    blanks = b"[%s]" % re.escape(model.BLANKS.replace(b"\r", b"").replace(recipe.separator, b""))
    ends = b"[%s\n]" % re.escape(recipe.separator)
    if recipe.delimiter == b"\0":
        return "-z"
    if BYTE_ORDER_MARK in data:
        return "byte order mark"
    outside = re.sub(rb'(?<!(?!%s).)"(?:[^"]|"")*"(?=\r*%s|\r*\Z)' % (ends, ends), b"", data, flags=re.DOTALL)
    if re.search(blanks + b'"|"' + blanks, data) if recipe.trim else re.search(blanks + b'"', outside):
        return "blanks beside a quote"
    if re.search(rb"\r(?!\r*(?:\n|\Z))", outside):
        return "CR before data"
    return None


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


# --- What the program should say ----------------------------------------------------------------


def said(data, options, recipe, rows, error):
    """As oracle_rows.c writes it."""
    lines = []
    header = None
    for number, row in enumerate(rows):
        if row.end - row.start - 1 > options.max_line:
            rows, error = rows[:number], row.line
            break
    if recipe.header and rows:
        header, rows = rows[0], rows[1:]
        try:
            recipe.columns = model.find_columns(data[: header.end - 1], recipe)
        except model.Left:
            return b"error 1\n"
        lines.append(b"header %d %d\n" % header[:2])
    for row in rows:
        if header and row.values == header.values:
            lines.append(b"again %d %d\n" % row[:2])
            continue
        line = data[row.start : row.end - 1]
        key = model.key_of(line, recipe)
        kind, key = (b"none", line) if key is None else (b"key", key)
        lines.append(b"row %d %d %d %s %d %s\n" % (*row[:3], kind, len(key), key))
    if error:
        lines.append(b"error %d\n" % error)
    return b"".join(lines)


# --- The program --------------------------------------------------------------------------------

FRAME = struct.Struct("<IIIIHBB")


def framed(data, options, chance, is_long):
    """As oracle_rows.c reads it."""
    text = options.list.encode()
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
        recipe = recipe_of(options)
        rows, error = our_rows(data, recipe)
        self.counts["valid" if error is None else "with an error"] += 1
        why = unlike(data, recipe)
        if why:
            self.unlike[why] += 1
        else:
            self.counts["asked of csv"] += 1
            theirs, line = csv_rows(data, options)
            if theirs != rows or line != error:
                differ(
                    data,
                    options,
                    f"Python's csv: {theirs}, error in line {line}",
                    f"the model: {rows}, error in line {error}",
                )
        return said(data, options, recipe, rows, error)


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
            if answer != wanted:
                differ(data, options, *first_difference(answer, wanted))
    counts = ", ".join(f"{count} {what}" for what, count in comparison.counts.items())
    print(f"{done} files agree: {counts}")
    print(
        "not asked of csv:",
        ", ".join(f"{count} for {what}" for what, count in comparison.unlike.most_common()),
    )


if __name__ == "__main__":
    main()
