#!/usr/bin/env python3
"""Records of CSV and JSON lines that make life hard for whoever takes keys of them.

    generate.py csv [-t SEP] [-z] [--trim] RECORDS SEED
                                                 good ones; the first may serve as a header line
    generate.py broken [-t SEP] [-z] [--trim] FILES SEED DIRECTORY
                                                 small files there: 0, 1 ...; most have an error
    generate.py jsonl [-z] LINES SEED            JSON lines, of which many are not valid

The same bytes for the same arguments. Good records are put together by the rules for writing them, not
read by a parser. Every other line is one of the last few, written in another way, or changed a little:
what counts of two lines is often the same though the lines are not.
"""

import argparse
import os
import random
import re
from model import BYTE_ORDER_MARK, PROFILE_BYTES_MAX, parse_separator

RECENT = 32
LONG_ONE_IN = 2000

URLS = [b"http://A/%7e", b"http://a/~", b"HTTP://a:80/~#x", b" http://a/~\x01", b"a.example/x", b"http://a/7?b=1&a"]


# --- CSV ----------------------------------------------------------------------------------------

VALUES = URLS + URLS + [
    b"", b"", b" ", b"a", b"A", b"a", b" a", b"a\t", b"\va\f", b"b", b"1", b"01", b'"', b'""', b'5" disk', b'a"b', b',"',
    b",", b"x,y", b"x;y", b";", b"\t", b"a\r", b"\r", b"a\rb", b"\r\r", b"\0", b"a\0b", b"\xc3\xa9", b"\xff", b"\xef\xbb",
    BYTE_ORDER_MARK, BYTE_ORDER_MARK + b"a", b"'a'", b"a=b", b"\\", b'\\"', b"id", b"-1", b"a\nb", b"\n", b'"\n"', b' "a" b',
]  # fmt: skip
HEADERS = [b"name", b"id", b"x y", b"", b"Name", b" ID", b"a,b", b'q"', b"caf\xc3\xa9"]


class Csv:
    def __init__(self, chance, separator, delimiter, trims=False):
        self.chance, self.separator, self.delimiter = chance, separator, delimiter
        # Not to be written without quotes; with blanks in front, where these count, a quote may be.
        ends = re.escape(separator + delimiter)
        blanks = b" \t\r\v\f".replace(separator, b"")
        blanks = b"[%s]*" % blanks if trims else b'(?!([%s]+"[^"%s]*"))[%s]*' % (blanks, ends, blanks)
        self.quoted = re.compile(b'[%s]|%s"' % (ends, blanks) + rb"|.*\r\Z", re.DOTALL)
        self.special = re.compile(b"[%s]" % ends)
        self.recent = []

    def value(self):
        value = self.chance.choice(VALUES)
        draw = self.chance.random()
        if draw < 0.1:
            value += self.chance.choice(VALUES)
        elif draw < 0.2:
            value = (value + b"x" * self.chance.randrange(80))[::-1] + value
        return value.replace(b"\0", b"\n") if self.delimiter == b"\0" else value

    def written(self, values):
        """One of the records that have these values; CRs may be at its end."""
        fields = []
        for value in values:
            bare = value.removeprefix(BYTE_ORDER_MARK) if not fields else value
            if self.special.search(value) or self.quoted.match(bare) or self.chance.random() < 0.3:
                value = b'"' + value.replace(b'"', b'""') + b'"'
            fields.append(value)
        record = self.separator.join(fields)
        draw = self.chance.random()
        return (BYTE_ORDER_MARK if draw < 0.1 else b"") + record + b"\r" * (draw % 0.1 < 0.03) * (1 + (draw % 0.01 < 0.003))

    def next(self):
        chance = self.chance
        if self.recent and chance.random() < 0.5:
            values = list(chance.choice(self.recent))
            at = chance.randrange(len(values))
            draw = chance.random()
            if draw < 0.3:
                values[at] = self.value()
            elif draw < 0.5:
                values[at] = chance.choice([b" ", b"\t", b"\v", self.separator]) + values[at] + b" "
            elif draw < 0.7:
                values[at] = values[at].swapcase()
            elif draw < 0.8:
                del values[at + 1 :]
        else:
            values = [self.value() for _ in range(chance.choice((1, 2, 3, 3, 4, 5, 20)))]
        if chance.random() * LONG_ONE_IN < 1:
            values[0] = chance.choice([b"http://a/", b'"', b"x,"]) * (PROFILE_BYTES_MAX // 8)
        elif len(values[0]) < 1000:
            self.recent = self.recent[1 - RECENT :] + [values]
        return self.written(values)

    def maybe_broken(self):
        if self.chance.random() < 0.3:
            return self.next()
        pieces = [b'"', b'"', b'""', b"a", self.separator, self.separator, b"\r", b" ", BYTE_ORDER_MARK, b"\n"]
        return b"".join(self.chance.choices(pieces, k=self.chance.randrange(8)))


# --- JSON ---------------------------------------------------------------------------------------

# A byte that is no UTF-8 is a surrogate here, as os.fsdecode has it; in a line it may be that byte, or
# the escape of a lone surrogate.
NAMES = ["id", "id", "id", "url", "meta", "tags", "v", "v", "", "x/y", "~", "ID", "caf\xe9", "0", "\U0001f600", "a,b", 'id":"a']
STRINGS = [url.decode() for url in URLS] + [
    "", "a", "A", " a ", "\ta\n", "\r", "\f\b", "a\nb", "\"", "\\", "/", "\0", "\x01\x1f", "\x7f", "\x80\x9f", "\xe9\xc9",
    "\u2028", "\ufeff", "\uffff", "\U0001f600", "\U0010ffff", "x" * 40, "true", "1", "\\u0041", "\\\"", "{[,:]} ",
    "\ud83d", "\ud83d\ud83d", "\ude00\ud83d", "\ud83d\udcb0", "caf\udce9", "\udced\udca0\udcbd", "\udcff",
]  # fmt: skip
NUMBERS = """0 -0 1 1.0 10e-1 1E+2 1e2 1E5 -0.0e-00 12345678901234567890 0.1 1e400 9007199254740993 NaN Infinity
    -Infinity""".split()
# Bytes that are changed or put in, and what may stand at the ends of a line.
PIECES = [bytes([byte]) for byte in b'"""\\\\{}[]::,,0-e.tu xN\r\x01\x1f\x80\xe9\xff'] + [
    b"\\u", b"\\ud83d", b"\\ude00", b"NaN", b"-Infinity", b"null", b'""', b'"id":', b"[]", b"{}", b"\\" * 7, b"\\" * 64,
]  # fmt: skip
FRONTS = [BYTE_ORDER_MARK, b"[", b"[", b"[ ", b" ", b"\t", BYTE_ORDER_MARK + b" [", b"[" + BYTE_ORDER_MARK, b"[[", b",", b"]"]
BACKS = [b",", b",", b", ", b"]", b"]", b" ]\r", b"\r", b"\r", b" ", b",]", b"],", b",,", b"]]", b"[", b"\r,\t", BYTE_ORDER_MARK]
WHOLE = [b"", b"[", b"]", b"[]", b"[,", b"],", b",", b" \r", BYTE_ORDER_MARK, BYTE_ORDER_MARK + b"[ ", b"[[", b'[""', b"NaN", b'"id",']
# Lines have about these lengths, more often than others.
LENGTHS = (64, 64, 128, 192, 4096)


def texts(name):
    """Those of a table of vectors."""
    escape = re.compile(rb"\\x([0-9a-f]{2})|\\\\|^\(empty\)")
    with open(os.path.join(os.path.dirname(__file__), "vectors", name), "rb") as table:
        rows = [row.rstrip(b"\n").split(b" ", 1)[1] for row in table if not row.startswith(b"#")]
    return [escape.sub(lambda m: bytes.fromhex(m[1].decode()) if m[1] else m[0][:1].strip(b"("), row) for row in rows]


VALID, INVALID = texts("jsonl_valid"), texts("jsonl_invalid")
SHORT = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
PLAIN = re.compile(r'[^"\\/\x00-\x1f\ud800-\udfff]*')


class Jsonl:
    def __init__(self, chance, delimiter):
        self.chance = chance
        self.blanks = ["", "", "", "", " ", "\t ", "\r"] + ([] if delimiter == b"\n" else ["\n"])
        self.recent = []

    def tree(self, depth=0):
        """A value as names, items and scalars; a scalar is (kind, text)."""
        chance = self.chance
        draw = chance.random()
        if draw < 0.4:
            text = chance.choice(STRINGS)
            if draw < 0.04:
                text = chance.choice(("x", "\\", "\\\"", "[", "\udcff")) * chance.randrange(80) + text
            return ("string", text)
        if draw < 0.6 or depth > 3:
            return ("scalar", chance.choice(NUMBERS))
        if draw < 0.7:
            return ("scalar", chance.choice(("true", "false", "null", "null")))
        if draw < 0.85:
            return [self.tree(depth + 1) for _ in range(chance.randrange(3))]
        return self.object(depth + 1)

    def object(self, depth):
        names = self.chance.choices(NAMES, k=self.chance.randrange(4))
        return {"members": [(name, self.tree(depth)) for name in names]}

    def string(self, text):
        if self.chance.random() < 0.5 and PLAIN.fullmatch(text):
            return '"' + text + '"'
        written = []
        for character in text:
            draw = self.chance.random()
            code = ord(character)
            half = 0xD800 <= code < 0xE000
            if draw < 0.2 or code < 0x20 and character not in SHORT or half and not 0xDC80 <= code < 0xDD00:
                units = [code] if code < 0x10000 else [0xD7C0 + (code >> 10), 0xDC00 + code % 0x400]
                form = "\\u%04x" if draw % 0.02 < 0.01 else "\\u%04X"
                written += [form % unit for unit in units]
            elif character in SHORT and (character != "/" or draw < 0.5):
                written.append(SHORT[character])
            else:
                written.append(character)
        return '"' + "".join(written) + '"'

    def blank(self):
        return self.chance.choice(self.blanks) if self.spaced else ""

    def text(self, tree):
        if isinstance(tree, tuple):
            return self.string(tree[1]) if tree[0] == "string" else tree[1]
        if isinstance(tree, list):
            opening, parts, closing = "[", [self.text(item) for item in tree], "]"
        else:
            opening, closing = "{", "}"
            parts = [
                self.string(name) + self.blank() + ":" + self.blank() + self.text(value)
                for name, value in tree["members"]
            ]
        return opening + (",".join(self.blank() + part + self.blank() for part in parts) or self.blank()) + closing

    def deep(self):
        """Nesting about as deep as it may be; sometimes with what is wanted behind or in it."""
        chance = self.chance
        depth = chance.choice((60, 63, 64, 65, 998, 999, 999, 1000, 1001, 30000))
        opening, closing = chance.choice((("[", "]"), ('{"a":', "}"), ("[ ", "]")))
        nest = opening * depth + chance.choice(("1", '"]"', "[]" if opening != '{"a":' else "1")) + closing * depth
        return chance.choice(('{"id":1,"x":%s}', '{"x":%s,"id":2}', "%s", '{"id":%s}', "[%s", "%s]")) % nest

    def next(self):
        chance = self.chance
        self.spaced = chance.random() < 0.3
        draw = chance.random()
        if draw * LONG_ONE_IN < 4:
            return self.deep().encode()
        if draw * LONG_ONE_IN < 5:
            text = b"http://a/" + b"\\u0041" * 9 + b"x" * (PROFILE_BYTES_MAX - 18 + chance.randrange(-1, 2))
            return b'{"url":"%s","id":"%s"}' % (text, text)
        if self.recent and draw < 0.4:
            tree = chance.choice(self.recent)
            members = list(tree["members"])
            if chance.random() < 0.3:
                members.insert(chance.randrange(len(members) + 1), (chance.choice(NAMES), self.tree(2)))
            chance.shuffle(members)
            tree = {"members": members[-6:]}
        else:
            tree = self.object(0)
            # The members that recipes ask for are there more often than not.
            url = chance.choice(STRINGS[: len(URLS)] * 3 + STRINGS)
            tree["members"] += [("id", self.tree(3)), ("url", ("string", url))][: chance.choice((0, 1, 2, 2))]
            if chance.random() < 0.5:
                tree["members"] += [("meta", {"members": [("id", self.tree(3))]}), ("tags", [self.tree(3)])]
            chance.shuffle(tree["members"])
        self.recent = self.recent[1 - RECENT :] + [tree]
        if draw > 0.05:
            line = self.text(tree)
        else:
            line = self.text(self.tree() if draw < 0.02 else [tree, self.tree()])
        if self.spaced:
            line = self.blank() + line + self.blank()
        return self.padded(line.encode("utf-8", "surrogateescape"))

    def padded(self, line):
        """Perhaps with a member in front, so that it has about some length, or is a bit longer."""
        draw = self.chance.random()
        if draw > 0.25 or not line.startswith(b"{") or line.startswith(b"{}"):
            return line
        more = self.chance.randrange(70)
        if draw > 0.05:
            more = self.chance.choice(LENGTHS) + self.chance.randrange(-3, 4) - len(line) - len('"":"",')
        return b'{"%s":"%s",' % (b"x" * (more % 2), b"x" * max(0, more - more % 2)) + line[1:]

    def changed(self, line):
        """Cut, or with something put in or taken out; or with a text of the tables, or at its ends."""
        chance = self.chance
        draw = chance.random()
        if draw < 0.3:
            text = chance.choice(INVALID if draw < 0.2 else VALID)
            if draw % 0.01 < 0.005:
                return b'{"id":1,"x":' + text + b"}"
            parts = line.split(b":")
            at = chance.randrange(len(parts))
            parts[at] = chance.choice((text, text + b"," + parts[at], b'{"id":' + text + b"}", b"[" + text + b"]"))
            return b":".join(parts)
        if draw < 0.6:
            ends = chance.randrange(1, 4)
            return chance.choice(FRONTS) * (ends & 1) + line + chance.choice(BACKS) * (ends >> 1)
        if draw < 0.62:
            return chance.choice(WHOLE)
        if draw < 0.67:
            return line + chance.choice((b"", b" ", b",")) + line
        at = chance.randrange(len(line) + 1)
        if draw < 0.75:
            return line[:at]
        if draw < 0.8:
            return line[:at] + line[at + 1 :]
        return line[:at] + chance.choice(PIECES) + line[at + chance.randrange(2) :]

    def maybe_changed(self):
        line = self.next()
        return line if self.chance.random() < 0.5 else self.changed(line)


# --- Files --------------------------------------------------------------------------------------


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=("csv", "broken", "jsonl"))
    parser.add_argument("-t", type=parse_separator, dest="separator", default=b",")
    parser.add_argument("-z", action="store_const", const=b"\0", default=b"\n", dest="delimiter")
    parser.add_argument("--trim", action="store_true")
    parser.add_argument("count", type=int)
    parser.add_argument("seed")
    parser.add_argument("directory", nargs="?")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    end = arguments.delimiter
    chance = random.Random(arguments.seed)
    if arguments.kind == "jsonl":
        lines = Jsonl(chance, end)
    else:
        lines = Csv(chance, arguments.separator, end, arguments.trim)
    if arguments.kind == "broken":
        for number in range(arguments.count):
            with open(f"{arguments.directory}/{number}", "wb") as file:
                columns = chance.sample(HEADERS, chance.choice((9, 9, 9, 8, 7)))
                columns = [name + b" " * (chance.random() < 0.1) for name in columns]
                columns += [b"id"] * (chance.random() < 0.1)
                file.write(lines.written(columns) + end + lines.next() + end + lines.maybe_broken() + end + lines.next())
        return
    # With a buffer, whatever PYTHONUNBUFFERED says.
    with open(1, "wb", closefd=False) as output:
        if arguments.kind == "csv":
            output.write(lines.written(HEADERS) + end)
        if arguments.kind == "csv":
            output.writelines(lines.next() + end for _ in range(arguments.count))
            return
        # Half of them once more, beside others and at other places.
        made = [lines.maybe_changed() + end for _ in range(arguments.count - arguments.count // 3)]
        output.writelines(made + chance.sample(made, arguments.count // 3))


if __name__ == "__main__":
    main()
