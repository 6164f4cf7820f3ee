#!/usr/bin/env python3
"""Holds --without against PCRE2 and Python's re: random patterns of its grammar, and what is none.

    oracle_without.py PROGRAM PAIRS SEED [PATTERN VALUE]

Makes PAIRS pairs of patterns and values. PROGRAM is tests/key/oracle_without.c, built. What it leaves of
each value must be, byte for byte, what is left by PCRE2 (DOTALL, DOLLAR_ENDONLY, at each place NOTEMPTY),
and by Python's re of bytes (DOTALL, and no empty match). A third of the patterns have been damaged: these,
and the list OUTSIDE, must be refused if the grammar below, which is written from the rules alone, does not
have them; and those that it still has must be read by all three in the same way.

What the others have other rules for is written for them as they have it: `\\v` is any vertical blank in
PCRE2; `$` is also before a last newline in Python, which does not have (?<=^|X). PCRE2 is asked for
NO_START_OPTIMIZE, since 10.42 does not find `(?=a)b*a` in `a` otherwise: these are counted. Python ends any
repetition, counted ones too, at an iteration that took nothing: where a part that may match nothing is
repeated, PCRE2 alone judges, and the differences are counted.

With PATTERN and VALUE, says what each of them makes of these. Prints versions and counts. Exit: 0; 1 if
something differs, after the first few such pairs.
"""

import collections
import ctypes
import random
import re
import signal
import struct
import subprocess
import sys
import warnings

VALUES_PER_PATTERN, PATTERNS_AT_ONCE, SHOWN = 4, 500, 8
PATTERNS_BYTES = 1000
GAVE_UP = "gave up"

# --- PCRE2 --------------------------------------------------------------------------------------


class Pcre2:
    DOLLAR_ENDONLY, DOTALL, NEVER_UCP, NEVER_UTF = 0x10, 0x20, 0x800, 0x1000
    NO_START_OPTIMIZE = 0x10000
    NOTEMPTY, ERROR_NOMATCH = 4, -1

    def __init__(self):
        self.lib = lib = ctypes.CDLL("libpcre2-8.so.0")
        text, size, pointer = ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p
        for name, gives, *takes in [
            ("compile", pointer, text, size, ctypes.c_uint32, pointer, pointer, pointer),
            ("code_free", None, pointer),
            ("match", ctypes.c_int, pointer, text, size, size, ctypes.c_uint32, pointer, pointer),
            ("match_data_create", pointer, ctypes.c_uint32, pointer),
            ("match_context_create", pointer, pointer),
            ("set_match_limit", ctypes.c_int, pointer, ctypes.c_uint32),
            ("get_ovector_pointer", ctypes.POINTER(size), pointer),
            ("config", ctypes.c_int, ctypes.c_uint32, pointer),
        ]:
            function = getattr(lib, f"pcre2_{name}_8")
            function.restype, function.argtypes = gives, takes
            setattr(self, name, function)
        self.data = self.match_data_create(1, None)
        self.ends = self.get_ovector_pointer(self.data)
        self.context = self.match_context_create(None)
        self.set_match_limit(self.context, 200000)
        self.number, self.place = ctypes.c_int(), size()

    def version(self):
        buffer = ctypes.create_string_buffer(64)
        self.config(11, buffer)
        return buffer.value.decode()

    def new(self, pattern, without=0):
        """None: it is no pattern."""
        options = self.DOTALL | self.DOLLAR_ENDONLY | self.NEVER_UTF | self.NEVER_UCP | self.NO_START_OPTIMIZE
        options &= ~without
        return self.compile(
            pattern, len(pattern), options, ctypes.byref(self.number), ctypes.byref(self.place), None
        )

    def leave_out(self, code, value):
        left, at = [], 0
        while at <= len(value):
            got = self.match(code, value, len(value), at, self.NOTEMPTY, self.data, self.context)
            if got < 0:
                if got != self.ERROR_NOMATCH:
                    return GAVE_UP
                break
            left.append(value[at : self.ends[0]])
            at = self.ends[1]
        left.append(value[at:])
        return b"".join(left)

    def apply(self, pattern, values, without=0):
        code = self.new(pattern, without)
        if not code:
            return None
        try:
            return [value if isinstance(value, str) else self.leave_out(code, value) for value in values]
        finally:
            self.code_free(code)


# --- Python -------------------------------------------------------------------------------------


class TooSlow(Exception):
    pass


def too_slow(*_):
    raise TooSlow


class Python:
    def __init__(self):
        warnings.simplefilter("ignore")
        signal.signal(signal.SIGALRM, too_slow)

    def apply(self, pattern, values):
        # The first group is all that follows the beginning of a match: then nothing was taken.
        try:
            compiled = re.compile(b"(?=(.*))(?:" + pattern + rb")(?!\1\Z)", re.DOTALL)
        except re.error:
            return None
        left = []
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        try:
            for value in values:
                left.append(value if isinstance(value, str) else self.leave_out(compiled, value))
            signal.setitimer(signal.ITIMER_REAL, 0)
        except TooSlow:
            left += [GAVE_UP] * (len(values) - len(left))
        return left

    @staticmethod
    def leave_out(compiled, value):
        left, at = [], 0
        while match := compiled.search(value, at):
            left.append(value[at : match.start()])
            at = match.end()
        return b"".join([*left, value[at:]])


# --- the grammar --------------------------------------------------------------------------------


class NotInGrammar(Exception):
    pass


DIGITS, LETTERS = b"0123456789", b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
HEX = DIGITS + b"abcdefABCDEF"


class Grammar:
    """Reads a pattern. `pcre` and `python`: how these write it. `idle`: it repeats what may match nothing."""

    def __init__(self, pattern):
        self.text, self.at, self.idle = pattern, 0, False
        self.pcre, self.python = bytearray(), bytearray()
        self.need(pattern)
        self.choice()
        self.need(self.at == len(pattern))

    def need(self, condition):
        if not condition:
            raise NotInGrammar

    def see(self, *texts):
        return next((t for t in texts if self.text.startswith(t, self.at)), None)

    def put(self, pcre, python=None):
        self.pcre += pcre
        self.python += pcre if python is None else python

    def take(self, text):
        self.need(self.see(text) is not None)
        self.at += len(text)

    def byte(self):
        self.need(self.at < len(self.text) and self.text[self.at] != 0)
        self.at += 1
        return self.text[self.at - 1]

    # Each of these says whether what it reads may match nothing.

    def choice(self):
        empty = self.chain()
        while self.see(b"|"):
            self.take(b"|")
            self.put(b"|")
            empty |= self.chain()
        return empty

    def chain(self):
        empty = True
        while self.at < len(self.text) and not self.see(b"|", b")"):
            empty &= self.part()
        return empty

    def part(self):
        for place in b"^", b"$", b"\\b", b"\\B":
            if self.see(place):
                self.take(place)
                self.put(place, rb"\Z" if place == b"$" else place)
                return self.unrepeated()
        for look in b"(?=", b"(?!", b"(?<=", b"(?<!":
            if self.see(look):
                self.look(look)
                return self.unrepeated()
        if self.see(b"("):
            start = self.see(b"(?:", b"(")
            self.take(start)
            self.put(start)
            empty = self.choice()
            self.take(b")")
            self.put(b")")
        else:
            self.put(*self.set())
            empty = False
        return self.repetition(empty)

    def unrepeated(self):
        self.need(not self.see(b"*", b"+", b"?", b"{"))
        return True

    def look(self, look):
        self.take(look)
        if look == b"(?<=" and self.see(b"^|"):
            self.take(b"^|")
            member = self.set()
            self.put(b"(?<=^|" + member[0] + b")", b"(?:^|(?<=" + member[1] + b"))")
        else:
            member = self.set()
            end = b"|$" if look == b"(?=" and self.see(b"|$") else b""
            self.take(end)
            self.put(look + member[0] + end + b")", look + member[1] + (end and rb"|\Z") + b")")
        self.take(b")")

    def repetition(self, empty):
        matched = re.compile(rb"([*+?]|\{([0-9]+)(,([0-9]*))?\})\??").match(self.text, self.at)
        if not matched:
            self.need(not self.see(b"{"))
            return empty
        _, least, several, most = matched.groups()
        if least:
            most = least if several is None else most or None
            self.need(int(least) <= 255 and int(most or 255) <= 255 and int(least) <= int(most or 255))
        self.at = matched.end()
        self.put(matched[0])
        self.need(not self.see(b"*", b"+", b"?", b"{"))
        self.idle |= empty
        return empty or matched[1] in (b"*", b"?") or (least is not None and int(least) == 0)

    def set(self):
        """A byte or class: as PCRE2 and as Python write it."""
        from_ = self.at
        byte = self.byte()
        if byte == ord("["):
            return self.brackets()
        if byte == ord("\\"):
            return self.escape(b"dwsDWS")[1:]
        self.need(byte not in b"*+?{]()|^$")
        return (self.text[from_ : self.at],) * 2

    def escape(self, classes):
        """The byte, or None for a class; and both ways."""
        from_, byte = self.at - 1, self.byte()
        if byte == ord("v"):
            return 11, rb"\x0b", rb"\v"
        if byte == ord("x"):
            digits = bytes([self.byte(), self.byte()])
            self.need(digits[0] in HEX and digits[1] in HEX)
            value = int(digits, 16)
        elif byte in b"tnrf":
            value = b"\t\n\r\f"[b"tnrf".index(byte)]
        elif byte in DIGITS + LETTERS:
            self.need(byte in classes)
            value = None
        else:
            value = byte
        return (value,) + (self.text[from_ : self.at],) * 2

    def brackets(self):
        from_ = self.at
        pcre, python = bytearray(b"["), bytearray(b"[")
        if self.see(b"^"):
            self.take(b"^")
            pcre += b"^"
            python += b"^"
        self.need(not self.see(b"]"))
        while not self.see(b"]"):
            first = self.member(pcre, python)
            if self.see(b"-") and not self.see(b"-]"):
                self.take(b"-")
                pcre += b"-"
                python += b"-"
                last = self.member(pcre, python)
                self.need(first is not None and last is not None and first <= last)
        members = self.text[from_ : self.at]
        self.need(len(members) == 1 or members[:1] != members[-1:] or members[:1] not in (b":", b".", b"="))
        self.take(b"]")
        return bytes(pcre) + b"]", bytes(python) + b"]"

    def member(self, pcre, python):
        self.need(not self.see(b"[:", b"[.", b"[="))
        from_, value = self.at, self.byte()
        ways = (self.text[from_ : self.at],) * 2
        if value == ord("\\"):
            value, *ways = self.escape(b"dws")
        pcre += ways[0]
        python += ways[1]
        return value


def grammar_of(pattern):
    try:
        return Grammar(pattern)
    except NotInGrammar:
        return None


OUTSIDE = rb"""
\1 (a)\1 \g1 \g{1} \k<n> \K a\Kb (?i)a (?i:a) (?-i)a (?s). (?m)^ (?x)a (?U)a* (?^)a (?#c)a
[[:alpha:]] [[:^digit:]] [[:<:]]a [[.a.]] [[=a=]] [a[:b] [:alpha:] [.a.] [=a=] [..] [::] [=\]=] [.\.]
a++ a*+ a?+ a{2}+ a{2,}+ a{2,3}+ (a)++ [a]*+ .*+ (?:a)?+
a{,3} a{,} a{} a{ a{1 a{1, a{1,2 a{x} a{1,x} a{1,2,3} a{-1} { {2} {a} a|{2} ({2}) {,3} ] a] ]a [a]] (])
a{256} a{0,256} a{256,} a{999999999999999999999} a{2,1} a{1,0} a{255,254}
* + ? *a a|* (*) (+a) (|?) (?:*) (?:?) a** a+* a?* a{2}* a*{2} a+{2,} a?{0} a*?? a*?* a??? a+?+ a{2}?? a{2}{3}
^* ^+ ^? ^{2} $* $+ $? ${2} \b* \b+ \B? \b{2} (?=a)* (?!a)+ (?<=a)? (?<!a){2} (?=a)+?
(?=ab) (?=a|b) (?=a*) (?=) (?=$) (?=^) (?=^|a) (?=$|a) (?=a|$|b) (?=(a)) (?=a$) (?=\b) (?=(?=a)) (?=|$) (?=a|)
(?!ab) (?!a|b) (?!a|$) (?!$) (?!) (?!^) (?!\b) (?!a+)
(?<=ab) (?<=a|b) (?<=a|^) (?<=^) (?<=) (?<=^a) (?<=^|) (?<=^|ab) (?<=$) (?<=a?) (?<=a|$) (?<=^|a|b) (?<=\B)
(?<!ab) (?<!^|a) (?<!a|b) (?<!^) (?<!) (?<!a*)
\p{L} \pL \PL \P{Lu} \Qa\E \Q \E \X \R \N \N{U+41} \C \h \H \V \A \Z \z \G \a \e \cA \o{101} \0 \00 \012 \101 \8 \9
\x \x4 \xg0 \x4g \x{41} \x{ [\x] [\x4] [\1] [\0] [\b] [\B] [\D] [\W] [\S] [\h] [\V] [\R] [\N] [\X] [\A] [\pL]
[\Q] [\E] [\y]
\i \j \l \L \m \M \o \O \q \u0041 \U00000041 \y \Y \T \F \I \J _\g \k'n' \k{n} \g<1>
(?>a) (?>a+)b (?P<n>a) (?<n>a) (?'n'a) (?P=n) (?P>n) (?|a|b) (?1) (?R) (?&n) (?(1)a) (?(?=a)b|c) (?C) (?C1)
(?+1) (?-1) (?0)
(*ACCEPT) (*FAIL) (*F) (*COMMIT) (*UTF) (*ANYCRLF) (*pla:a) (*atomic:a) (*sr:a) (*NOTEMPTY)a
(?*a) (?<*a) (? (?: (?= (?! (?< (?<= (?<! (?P (?# ( (a ((a) ) a) (a)) (?:a (?=a (?=a|$ (?<=^|a (?=a| (?<=^|
[ [a [^ [^a [] [^] []a] [^]a] [a- [a-z [a\] [\] [\ \ a\ [[:
[b-a] [\d-x] [a-\d] [\w-\d] [a-\s] [\x41-\x40] [\x80-\x7f] [z--] [\d-\]] [--\d]
""".split() + [
    b"", b"a{1 }", b"a{ 1}", b"a{1, 2}", b"a{1 ,2}",
    b"a{ ,2}", b"a {2}{3}", b"(?= a)", b"(? :a)", b"a\\",
]

# Odd, and taken.
INSIDE = rb"""
a| |a | () (?:) (|) a||b (a|)* (|a)+ }  a} a}{2} a{0} a{0,0} (a){0} a{255} a{1,255} a{0,} a{2}? a{2,}? a{0,1}?
(^)* (?:$)+ (?:\b)? (?:^|a){2} (?:(?=a)){3} (?:(?=a)b)* (?=.) (?=\d) (?=[ab]|$) (?=\n|$) (?<=^|\W) (?<=^|[^a])
(?!.) (?!\S) (?<!.) (?<!\x80)
[.] [:] [=] [:a] [a:] [.:=] [a.] [?&] [[] [a[] [^[] [^^] [a^] [-] [a-] [-a] [^-] [^-a] [--a] [+--] [a-c-e]
[a-c-] [\--a] [\]-a] [\[-a] [\\-a] [\-] [\^] [|] [(] [)*+?{}$] [\d-] [-\d] [\d\w\s] [^\d\w\s]
[\x00-\xff] [^\x00-\xff] [\x80-\xff] [!-\x2f] \x00 \x0a \v \f \t \_ \- \/ \{ \} \] \[ \( \) \< \> \: \' \" \` \~
\% \& \@ \! \, \; \= \# \^ \$ \. \* \+ \? \| \\
- , : = ! < > # & / ' " ` ~ % @ ; _ a-z a,b <=a =a !a
""".split() + [
    b" ", b"\n", b"\\\n", b"[\n]", b"\\ ", b"\x80", b"\\\x80", b"[\x80-\xff]",
     b"\xc3\xa9+", b"[\xc3\xa9]+", b"[ -~]", b"\x01", b"\x7f"]

# --- random patterns and values -----------------------------------------------------------------

ALPHABETS = [b"ab"] * 6 + [b"abc"] * 4 + [
    b"a", b"a1_ ", b"a\n\r ", b"a.-b", b"a\x80\xff\xe9", b"ab\x00", b"a\x0b\x0c\x1c\x85\xa0\t ",
    b"aA-]", b"/?&=u", b"x[]\\^",
]
SPECIAL = b"\\.[]{}()*+?|^$"


def literal(r, byte, special=SPECIAL):
    dice = r.random()
    if byte == 0 or dice < 0.1:
        return b"\\x%02x" % byte if r.random() < 0.7 else b"\\x%02X" % byte
    if byte in b"\t\n\r\f\v" and dice < 0.6:
        return b"\\" + b"tnrfv"[b"\t\n\r\f\v".index(byte) :][:1]
    if byte in special or (dice < 0.2 and byte not in LETTERS + DIGITS):
        return b"\\" + bytes([byte])
    return bytes([byte])


def brackets(r, alphabet):
    text = b"[" + (b"^" if r.random() < 0.3 else b"")
    members = []
    for _ in range(r.choice((1, 1, 2, 2, 3, 4))):
        dice = r.random()
        if dice < 0.6:
            members.append(literal(r, r.choice(alphabet), b"\\]^-["))
        elif dice < 0.8:
            first, last = sorted((r.choice(alphabet), r.randrange(256) if r.random() < 0.2 else r.choice(alphabet)))
            members.append(literal(r, first, b"\\]^-[") + b"-" + literal(r, last, b"\\]^-["))
        else:
            members.append(r.choice((rb"\d", rb"\w", rb"\s")))
    if r.random() < 0.1:
        members.insert(r.choice((0, len(members))), b"-")
    return text + b"".join(members) + b"]"


def one_byte(r, alphabet):
    dice = r.random()
    if dice < 0.6:
        return literal(r, r.choice(alphabet))
    if dice < 0.78:
        return brackets(r, alphabet)
    return b"." if dice < 0.9 else r.choice((rb"\d", rb"\w", rb"\s", rb"\D", rb"\W", rb"\S"))


def place(r, alphabet):
    dice = r.random()
    if dice < 0.4:
        return r.choice((b"^", b"$", rb"\b", rb"\B"))
    member = one_byte(r, alphabet)
    look = r.choice((b"(?=%s)", b"(?!%s)", b"(?<=%s)", b"(?<!%s)", b"(?=%s|$)", b"(?<=^|%s)"))
    return look.replace(b"%s", member)


def repetition(r):
    dice = r.random()
    if dice < 0.55:
        text = r.choice((b"*", b"+", b"?"))
    else:
        least = r.choice((0, 0, 1, 1, 2, 2, 3, 5))
        most = least + r.choice((0, 1, 1, 2, 3))
        text = r.choice((b"{%d}" % least, b"{%d,}" % least, b"{%d,%d}" % (least, most), b"{%d,%d}" % (least, most)))
    return text + (b"?" if r.random() < 0.4 else b"")


def chain(r, alphabet, depth):
    parts = []
    for _ in range(r.choice((1, 1, 2, 2, 2, 3, 3, 4))):
        dice = r.random()
        if dice < 0.1:
            parts.append(place(r, alphabet))
            continue
        if dice < 0.4 and depth > 0:
            part = (b"(?:" if r.random() < 0.6 else b"(") + choice(r, alphabet, depth - 1) + b")"
        else:
            part = one_byte(r, alphabet)
        if r.random() < 0.4:
            part += repetition(r)
        parts.append(part)
    return b"".join(parts)


def choice(r, alphabet, depth):
    branches = []
    for _ in range(r.choice((1, 1, 1, 2, 2, 3))):
        branches.append(b"" if r.random() < 0.12 else chain(r, alphabet, depth))
    return b"|".join(branches)


SNIPPETS = [bytes([c]) for c in b"()[]{}*+?|^$\\.:=!<>-,0129abdDwWsSBbxKQEpvnR#&~'\"_ \n\x80\xff"] + rb"""
(?: (?= (?! (?<= (?<! |$ ^| ?? *? {2} {,2} {1,} {2,1} [^ [: :] \b \B
\d \x4 \x41 [a-c] \s- -\d () | (| |) {0} {0,0}? [.] [-] \- \] }{ (?> (?<n>
""".split()


def damaged(r, pattern):
    pattern = bytearray(pattern)
    for _ in range(r.choice((1, 1, 1, 2, 3))):
        at = r.randrange(len(pattern) + 1)
        dice = r.random()
        if dice < 0.45:
            pattern[at:at] = r.choice(SNIPPETS)
        elif dice < 0.7:
            del pattern[at : at + r.choice((1, 1, 2, 3))]
        elif dice < 0.85:
            pattern[at : at + 1] = r.choice(SNIPPETS)
        else:
            end = min(len(pattern), at + r.randrange(1, 6))
            to = r.randrange(len(pattern) + 1)
            pattern[to:to] = pattern[at:end]
    return bytes(pattern).replace(b"\0", b"")[:PATTERNS_BYTES]


def random_value(r, alphabet):
    length = r.choice((0, 1, 2, 3, 4, 5, 6, 8, 10, 14, 20))
    value = bytearray()
    while len(value) < length:
        dice = r.random()
        if dice < 0.85:
            value.append(r.choice(alphabet))
        elif dice < 0.95:
            value += bytes([r.choice(alphabet)]) * r.randrange(1, 5)
        else:
            value.append(r.choice(b"ab1_ \n\x00\x80\xff-") if dice < 0.99 else r.randrange(256))
    return bytes(value)


class Task(collections.namedtuple("Task", "patterns values")):
    def frame(self):
        text = b"".join(p + b"\0" for p in self.patterns)
        return struct.pack("<HH", len(text), len(self.values)) + text + b"".join(
            struct.pack("<I", len(v)) + v for v in self.values
        )


def random_task(r):
    alphabet = r.choice(ALPHABETS)
    patterns = []
    for _ in range(r.choice((1, 1, 1, 1, 1, 1, 1, 2, 2, 3))):
        pattern = b""
        while not pattern or len(pattern) > 250:
            pattern = choice(r, alphabet, r.choice((0, 1, 1, 2, 2, 3, 4)))
            if r.random() < 0.35:
                pattern = damaged(r, pattern)
        patterns.append(pattern)
    return Task(patterns, [random_value(r, alphabet) for _ in range(VALUES_PER_PATTERN)])


LONG = rb"a.{30}b a[ab]{20}c (a|b)?a(a|bb){12}[^b] b{3,9}?(?=a|$)|a.{9}a (?<=^|a)b.{40}\\b".split()


def long_task(r):
    """Of which each value makes more states than are kept."""
    lengths = (r.randrange(30000, 65537) for _ in range(VALUES_PER_PATTERN))
    return Task([r.choice(LONG)], [bytes(r.choices(b"aaaabbbbc ", k=length)) for length in lengths])


# --- ours ---------------------------------------------------------------------------------------


class Ours:
    """Answers: what is left of each value; or (n, place, reason) of the nth pattern."""

    def __init__(self, program):
        self.program, self.process = program, None

    @staticmethod
    def read(answers, at, task):
        count = answers[at]
        if count:
            place, length = struct.unpack_from("<HH", answers, at + 1)
            return (count, place, answers[at + 5 : at + 5 + length].decode()), at + 5 + length
        left, at = [], at + 1
        for _ in task.values:
            (length,) = struct.unpack_from("<I", answers, at)
            left.append(bytes(answers[at + 4 : at + 4 + length]))
            at += 4 + length
        return left, at

    def ask(self, tasks):
        done = subprocess.run([self.program], input=b"".join(t.frame() for t in tasks), stdout=subprocess.PIPE)
        if done.returncode != 0 and len(tasks) > 1:
            return [answer for task in tasks for answer in self.ask([task])]
        if done.returncode != 0:
            return [f"exit {done.returncode}"]
        answers, at = [], 0
        for task in tasks:
            answer, at = self.read(done.stdout, at, task)
            answers.append(answer)
        if at != len(done.stdout):
            raise ValueError("more answers than tasks")
        return answers


# --- judging ------------------------------------------------------------------------------------


class Judge:
    def __init__(self, program):
        self.ours, self.pcre, self.python = Ours(program), Pcre2(), Python()
        self.counts = collections.Counter()

    def judge(self, task, answer):
        """What is wrong with an answer, or None: a word, and what was wanted of which value."""
        counts = self.counts
        read = [grammar_of(p) for p in task.patterns]
        counts["patterns"] += len(read)
        if isinstance(answer, str):
            return "crash", answer
        if isinstance(answer, tuple):
            number, _, reason = answer
            if not all(read[: number - 1]):
                return "taken, and outside of the grammar", answer
            if reason == "too large":
                counts["patterns too large"] += 1
                return None
            if read[number - 1]:
                return "refused, and in the grammar", answer
            counts["patterns refused"] += 1
            if self.pcre.apply(task.patterns[number - 1], []) is not None:
                counts["patterns refused that PCRE2 takes"] += 1
            return None
        if not all(read):
            return "taken, and outside of the grammar", task.patterns[read.index(None)]
        return self.judge_values(task, answer, read, counts)

    def judge_values(self, task, answer, read, counts):
        by_pcre, by_python = task.values, task.values
        for grammar in read:
            by_pcre = by_pcre and self.pcre.apply(bytes(grammar.pcre), by_pcre)
            by_python = by_python and self.python.apply(bytes(grammar.python), by_python)
        if by_pcre is None or by_python is None:
            return "taken, and refused by " + ("PCRE2" if by_pcre is None else "Python"), None
        if len(read) == 1 and b"(?=" in read[0].pcre:
            hasty = self.pcre.apply(bytes(read[0].pcre), task.values, self.pcre.NO_START_OPTIMIZE)
            counts["PCRE2's start optimization misses a match"] += hasty != by_pcre
        idle = any(grammar.idle for grammar in read)
        for value, left, pcre, python in zip(task.values, answer, by_pcre, by_python):
            counts["pairs"] += 1
            counts["pairs of which something is left out"] += left != value
            if pcre == GAVE_UP:
                counts["PCRE2 gave up"] += 1
            elif left != pcre:
                return "PCRE2 differs", (value, left, pcre)
            if python == GAVE_UP:
                counts["Python gave up"] += 1
            elif left != python and not idle:
                return "Python differs", (value, left, python)
            elif left != python:
                counts["Python differs, where iterations take nothing"] += 1
                if pcre == GAVE_UP:
                    counts["... and PCRE2 gave up"] += 1
        return None


def show(task, wrong):
    print(f"{wrong[0]}: patterns {task.patterns}", end="")
    if wrong[0].endswith("differs"):
        print(f", value {wrong[1][0]}: ours {wrong[1][1]}, theirs {wrong[1][2]}", flush=True)
    else:
        print(f": {wrong[1]}", flush=True)


def run(judge, pairs, seed):
    r = random.Random(seed)
    wrong = 0
    fixed = [Task([p], [b"", b"ab\n}", random_value(r, b"ab")]) for p in OUTSIDE + INSIDE]
    for pattern in OUTSIDE:
        if grammar_of(pattern) is not None:
            raise ValueError(f"{pattern} is in the grammar")
    for pattern in INSIDE:
        if grammar_of(pattern) is None:
            raise ValueError(f"{pattern} is outside of the grammar")
    tasks = [t for t in fixed if t.patterns != [b""]]
    while True:
        for task, answer in zip(tasks, judge.ours.ask(tasks)):
            fault = judge.judge(task, answer)
            if fault:
                wrong += 1
                show(task, fault)
                if wrong == SHOWN:
                    return wrong
        if judge.counts["pairs"] >= pairs:
            return wrong
        tasks = [long_task(r)] + [random_task(r) for _ in range(PATTERNS_AT_ONCE)]


def main():
    judge = Judge(sys.argv[1])
    print(f"PCRE2 {judge.pcre.version()}; Python {sys.version.split()[0]}", flush=True)
    if len(sys.argv) > 4:
        patterns, value = [p.encode("latin-1") for p in sys.argv[4:-1]], sys.argv[-1].encode("latin-1")
        answer = judge.ours.ask([Task(patterns, [value])])[0]
        print("ours ", answer)
        print("wrong", judge.judge(Task(patterns, [value]), answer))
        return 0
    wrong = run(judge, int(sys.argv[2]), int(sys.argv[3]))
    for what, count in judge.counts.items():
        print(f"{count:9d}  {what}")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
