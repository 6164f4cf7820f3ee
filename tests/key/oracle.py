#!/usr/bin/env python3
"""Holds the model against Python's own csv (strict) and json, where these follow the same rules.

    oracle.py csv|jsonl COUNT SEED

Not asked: csv of empty records, a CR, a byte order mark, blanks before a quote or a newline at the end, as it
has rules of its own for them; json of nesting, of which it has no limit. What json forgives, the checks here do not: surrogates by
themselves, NaN. Prints how many records were compared and how many of them are valid. Exit: 1
after the first difference.
"""

import csv
import json
import random
import re
import sys
from generate import Csv, Jsonl
from model import NESTING_MAX, Left, Rows, json_value


def by_csv(record):
    try:
        return next(csv.reader([record.decode("latin-1")], strict=True))
    except csv.Error:
        return None


def by_model_csv(record):
    try:
        values, end = Rows(b",", False, True).take(record)
    except Left:
        return None
    return [value.decode("latin-1") for value in values] if end == len(record) else None


def refuse(name):
    raise ValueError(name)


def as_model(value):
    """In the types of the model; what is in an object is by then. A UnicodeEncodeError, too, is a
    ValueError."""
    if isinstance(value, list):
        return [as_model(item) for item in value]
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if isinstance(value, str):
        value.encode()
    return value


def last_of_each(pairs):
    return dict((as_model(name), as_model(value)) for name, value in pairs)


def by_json(line):
    try:
        hooks = {"object_pairs_hook": last_of_each, "parse_constant": refuse}
        return [as_model(json.loads(line.decode(), parse_int=str.encode, parse_float=str.encode, **hooks))]
    except ValueError:
        return None


def by_model_json(line):
    try:
        return [json_value(line)]
    except ValueError:
        return None


def records(kind, count, chance):
    if kind == "jsonl":
        lines = Jsonl(chance, b"\n")
        while count > 0:
            line = lines.next()
            if line.count(b"[") + line.count(b"{") <= NESTING_MAX:
                yield line
                count -= 1
        return
    lines = Csv(chance, b",", b"\n")
    while count > 0:
        record = lines.maybe_broken() if count % 2 else lines.next()
        if record and not re.search(rb'\r|^\xef\xbb\xbf|[ \t\v\f]"|\n\Z', record):
            yield record
            count -= 1


def main():
    kind, count, seed = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    sys.setrecursionlimit(4 * NESTING_MAX)
    theirs, ours = (by_json, by_model_json) if kind == "jsonl" else (by_csv, by_model_csv)
    valid = 0
    for record in records(kind, count, random.Random(seed)):
        wanted = theirs(record)
        if ours(record) != wanted:
            print("differ:", record, "Python:", wanted, "model:", ours(record))
            return 1
        valid += wanted is not None
    print(f"{kind}: {count} records, {valid} are valid")
    return 0


if __name__ == "__main__":
    sys.exit(main())
