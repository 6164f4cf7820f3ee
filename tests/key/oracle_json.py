#!/usr/bin/env python3
"""Holds keys of JSON lines, and which lines are no JSON, against Python's own json.

    oracle_json.py PROGRAM LINES SEED

PROGRAM is unseen. Python says whether a text is JSON, and what its members are; a scanner here, which takes
valid texts alone, says how an object or array was written. What a line may have around its text, how a key is
made of values, and what depth is too much, is said here once more. The model (model.py) is asked for forms of
--by alone.

Lines are those of generate.py, and changed ones, LINES_AT_ONCE of them in a file. Each is there twice: first
in order, then among others, at another place. Of each file the program is asked for keys once for each of
RECIPES, and how many lines were no JSON.

Python forgives nothing that the rules refuse, and takes what they take, but for these, which are not asked,
or are asked in another way:
- a byte order mark is an error: it is taken off here;
- a text has characters: bytes of 0x80 and above become characters of a private plane, and bytes again in the
  end. Lines with an escape of one of these are not asked;
- it has no limit of depth but its stack's: texts that nest deeper than the rules say are told here;
- numbers of more than 4,300 digits are an error when they become numbers: here they stay texts.

Prints the counts. Exit: 0; 1 after the first file with a difference: then with the shortest line of it that
differs, made as short as it can be.
"""

import collections
import json
import random
import re
import subprocess
import sys
import tempfile
from generate import Jsonl
from model import PROFILES

LINES_AT_ONCE = 10000
# Of each file, which must not look like one of UTF-16.
FIRST = b"{}"
NESTING_MAX = 1000
BLANKS = b" \t\n\r"
MARK = b"\xef\xbb\xbf"

# --- Texts and values ---------------------------------------------------------------------------

# Bytes as characters: U+F0080 to U+F00FF stand for 0x80 to 0xff.
PRIVATE = "".join(chr(byte if byte < 0x80 else 0xF0000 + byte) for byte in range(256))
PRIVATE_ESCAPE = re.compile(rb"\\[uU][dD][bB]80\\[uU][dD][cC][89a-fA-F]")
PRIVATE_BYTES = re.compile(rb"\xf3\xb0([\x82\x83])(.)", re.DOTALL)
STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[][{}:,]|[^][{}:," \t\n\r]+', re.DOTALL)


def characters(line):
    return line.decode("latin-1").translate(PRIVATE) if not line.isascii() else line.decode()


def as_bytes(text):
    if text.isascii():
        return text.encode()
    encoded = text.encode("utf-8", "surrogatepass")
    return PRIVATE_BYTES.sub(lambda m: bytes([(m[1][0] & 3) << 6 | m[2][0] & 0x3F]), encoded)


def last_of_each(pairs):
    return {as_bytes(name): value for name, value in pairs}


# A number is bytes; strings are str.
DECODER = json.JSONDecoder(
    object_pairs_hook=last_of_each, parse_int=str.encode, parse_float=str.encode, parse_constant=str.encode
)


def is_too_deep(text):
    depth = most = 0
    if text.count("[") + text.count("{") > NESTING_MAX:
        for bracket in re.findall(r"[][{}]", STRING.sub("", text)):
            depth += 1 if bracket in "[{" else -1
            most = max(most, depth)
    return most > NESTING_MAX


def tries(line):
    """What may be the text of a line. A comma behind it is no part of any text."""
    text = (line[3:] if line[:3] == MARK else line).strip(BLANKS)
    yield text[:-1] if text[-1:] == b"," else text
    if text[:1] == b"[":
        yield text[1:-1] if text[1:][-1:] == b"," else text[1:]
    if text[-1:] == b"]":
        text = text[:-1].rstrip(BLANKS)
        yield text[:-1] if text[-1:] == b"," else text


class Judged:
    """A line, its text and value. `kind` is json, no json or idle."""

    def __init__(self, line, counts):
        self.line, self.kind, self.tokens = line, "no json", None
        if (line[3:] if line[:3] == MARK else line).strip(BLANKS) in (b"", b"[", b"]"):
            self.kind = "idle"
            return
        for number, text in enumerate(tries(line)):
            text = characters(text)
            if is_too_deep(text):
                counts["too deep"] += 1
                continue
            try:
                self.value, self.text, self.kind = DECODER.decode(text), text, "json"
                counts["without a bracket"] += number > 0
                return
            except json.JSONDecodeError:
                pass

    def written(self, value, steps):
        """How the object or array at the end of these steps is written, but for blanks."""
        self.tokens = self.tokens or TOKEN.findall(self.text)
        at = 0
        for step in steps:
            at = find_member(self.tokens, at, step)
        written = "".join(self.tokens[at : value_end(self.tokens, at)])
        if DECODER.decode(written) != value:
            sys.exit(f"the scanner is wrong: {self.line}: {written}")
        return as_bytes(written)


def value_end(tokens, at):
    depth = 0
    while True:
        depth += (tokens[at] in "[{") - (tokens[at] in "]}")
        at += 1
        if depth == 0:
            return at


def find_member(tokens, at, step):
    """Where the value of the last member of that name begins."""
    is_object, number, found = tokens[at] == "{", 0, None
    at += 1
    while tokens[at] not in "]}":
        name = b"%d" % number
        if is_object:
            name, at = as_bytes(json.loads(tokens[at])), at + 2
        if name == step:
            found = at
        at = value_end(tokens, at)
        at += tokens[at] == ","
        number += 1
    return found


# --- Keys ---------------------------------------------------------------------------------------

# For each item whether it is a pointer, and its steps.
Recipe = collections.namedtuple("Recipe", "options items trim fold by")


def recipe(options, *items):
    words = options.split()
    by = PROFILES[words[words.index("--by") + 1]] if "--by" in words else None
    return Recipe(options.split(" "), items, "--trim" in words, "-i" in words, by)


ID = (False, [b"id"])
RECIPES = [
    recipe("-f id", ID),
    recipe("-f id,v", ID, (False, [b"v"])),
    recipe("-f /meta/id,v --trim", (True, [b"meta", b"id"]), (False, [b"v"])),
    recipe("-f v,/tags/0,url -i", (False, [b"v"]), (True, [b"tags", b"0"]), (False, [b"url"])),
    recipe("-f id,id,/id --trim -i", ID, (True, [b"id"])),
    recipe('-f id,id":"a', ID, (False, [b'id":"a'])),
    recipe("-f /0/id", (True, [b"0", b"id"])),
    recipe("-f meta", (False, [b"meta"])),
    recipe("-f url --by url", (False, [b"url"])),
    recipe("-f url --trim -i --by host", (False, [b"url"])),
    recipe("-f id --by endpoint", ID),
    recipe("-f /x~1y,/~0", (True, [b"x/y"]), (True, [b"~"])),
    recipe('-f "/a,b",~,0', (True, [b"a,b"]), (False, [b"~"]), (False, [b"0"])),
    recipe("-f /,/meta/,//", (True, [b""]), (True, [b"meta", b""]), (True, [b"", b""])),
    recipe("-f caf\xe9,/tags/1/id", (False, ["caf\xe9".encode()]), (True, [b"tags", b"1", b"id"])),
    recipe("-f \U0001f600", (False, ["\U0001f600".encode()])),
]  # fmt: skip


def member(value, pointer, steps):
    """None if it is not there, or null."""
    for step in steps:
        if isinstance(value, dict):
            value = value.get(step)
        elif pointer and isinstance(value, list) and (step == b"0" or re.fullmatch(b"[1-9][0-9]*", step)):
            value = value[int(step)] if int(step) < len(value) else None
        else:
            return None
    return value


LETTERS = {8: b"\\b", 9: b"\\t", 10: b"\\n", 12: b"\\f", 13: b"\\r", 0x22: b'\\"', 0x5C: b"\\\\"}
ESCAPES = [LETTERS.get(byte, b"\\u%04x" % byte if byte < 0x20 else bytes([byte])) for byte in range(256)]
SPECIAL = re.compile(rb'["\\\x00-\x1f]')


def key_of(judged, wanted):
    """None if it has none."""
    if judged.kind != "json":
        return None
    parts = []
    for pointer, steps in wanted.items:
        value = member(judged.value, pointer, steps)
        if isinstance(value, str):
            value = as_bytes(value)
            value = value.strip(b" \t\r\v\f") if wanted.trim else value
            if wanted.by:
                value = wanted.by(value) if 0 < len(value) <= 65536 else None
                return value.lower() if value and wanted.fold else value
            if value == b"" and not parts:
                return None
            value = value.lower() if wanted.fold else value
            value = b'"%s"' % SPECIAL.sub(lambda match: ESCAPES[match[0][0]], value)
        elif value is None:
            value = b""
        elif isinstance(value, bool):
            value = b"true" if value else b"false"
        elif isinstance(value, (dict, list)) and not wanted.by:
            value = judged.written(value, steps)
        parts.append(value)
        if parts[0] == b"" or wanted.by:
            return None
    return b",".join(parts)


# --- The program --------------------------------------------------------------------------------


class Program:
    def __init__(self, name, file):
        self.name, self.file = name, file

    def write(self, lines):
        self.file.seek(0)
        self.file.truncate()
        self.file.write(b"".join(line + b"\n" for line in lines))
        self.file.flush()

    def ask(self, *words):
        self.file.seek(0)
        result = subprocess.run([self.name, *words], stdin=self.file, capture_output=True, check=False)
        if result.returncode > 1:
            sys.exit(f"{words}: status {result.returncode}: {result.stderr.decode()}")
        return result

    def tags(self, wanted):
        return self.ask("key", "--tag", "--jsonl", *wanted.options).stdout

    def counts(self, wanted):
        """What --summary says of lines without a key."""
        said = self.ask("--summary", "--json", "--jsonl", *wanted.options).stderr
        return [json.loads(said.splitlines()[-1])[name] for name in COUNTS]


COUNTS = ("without_key", "without_key_first", "not_json", "not_json_first")


def count_and_first(lines):
    """Of a truth for each line."""
    return [sum(lines), lines.index(True) + 1 if True in lines else None]


def line_wanted(judged, wanted):
    key = key_of(judged, wanted)
    return b"none\t" + judged.line if key is None else b"key\t" + key


def differing(program, lines, wanted):
    """Those of these lines that the program has another key of, each with what it said, and ours."""
    lines = [FIRST, *lines]
    program.write(lines)
    got = program.tags(wanted).split(b"\n")[:-1]
    ours = [line_wanted(Judged(line, collections.Counter()), wanted) for line in lines]
    if len(got) != len(lines):
        sys.exit(f"{wanted.options}: {len(lines)} lines, {len(got)} keys")
    return [each for each in zip(lines, got, ours) if each[1] != each[2]]


def tell(program, lines, wanted):
    found = differing(program, lines, wanted)
    if not found:
        sys.exit(f"{wanted.options}: differs, but not again, or not by lines")
    print(f"differ: {wanted.options}: {len(found)} lines of {len(lines)}")
    while found:
        line, got, ours = min(found, key=lambda each: len(each[0]))
        pieces = range(1, 1 + len(line) // 2) if len(line) < 300 else (1, 64, len(line) // 4, len(line) // 2)
        shorter = {line[:at] + line[at + n :] for n in pieces for at in range(0, len(line) - n + 1, max(1, n // 8))}
        found = differing(program, [each for each in shorter if not PRIVATE_ESCAPE.search(each)][:200000], wanted)
    sys.exit(f"line: {line}\nprogram: {got}\nwanted: {ours}")


def judge(program, lines, chance, counts):
    judged = [Judged(line, counts) for line in [FIRST, *lines]]
    fillers = [Judged(b"x" * chance.randrange(70), collections.Counter()) for _ in range(len(lines) // 4)]
    again = judged + fillers
    chance.shuffle(again)
    judged += again
    texts = [each.line for each in judged]
    program.write(texts)
    for wanted in RECIPES:
        ours = [line_wanted(each, wanted) for each in judged]
        if program.tags(wanted) != b"".join(line + b"\n" for line in ours):
            tell(program, texts, wanted)
        keyless = [line[:1] == b"n" and each.kind != "idle" for line, each in zip(ours, judged)]
        kinds = count_and_first(keyless) + count_and_first([each.kind == "no json" for each in judged])
        if program.counts(wanted) != kinds:
            sys.exit(f"{wanted.options}: {COUNTS} are {program.counts(wanted)}, not {kinds}")
        counts["keys"] += sum(line[:1] == b"k" for line in ours[: len(lines)])
    for each in judged[: len(lines)]:
        counts[each.kind] += 1


def main():
    name, count, chance = sys.argv[1], int(sys.argv[2]), random.Random(sys.argv[3])
    sys.setrecursionlimit(20 * NESTING_MAX)
    makes, counts = Jsonl(chance, b"\n"), collections.Counter()
    done = 0
    with tempfile.NamedTemporaryFile() as file:
        program = Program(name, file)
        while done < count:
            lines = []
            while len(lines) < min(LINES_AT_ONCE, count - done):
                line = makes.next()
                for each in [line] + [makes.changed(line) for _ in range(2)] + [makes.changed(makes.changed(line))]:
                    if PRIVATE_ESCAPE.search(each):
                        counts["not asked for an escape of the private plane"] += 1
                    else:
                        lines.append(each)
            judge(program, lines, chance, counts)
            done += len(lines)
    print(f"{done} lines agree, for each of {len(RECIPES)} recipes:", ", ".join(f"{n} {what}" for what, n in counts.items()))


if __name__ == "__main__":
    main()
