#!/usr/bin/env python3
"""Holds `--by url` and `--by host` against browsers' parsers: node's URL, ada and others, and Python's Punycode.

    oracle_url.py PROGRAM URLS SEED [PARSER...]

PROGRAM is unseen. A PARSER reads URLs, a NUL after each, and prints the href of each, or nothing, and a NUL (such as
Rust's url crate). An href is taken apart; what url/2 does on purpose is done to its parts (a fragment but a route is
dropped, escapes are in upper case or decoded, what RFC 3986 does not allow is escaped, an empty path is a slash).
Then it must be the key, but for the rows below; the key of the href and of the key must be the key; no two
of the hrefs with one key may differ.

| class | url/2 | browsers | why |
|---|---|---|---|
| no :// and host | no URL | http:/a is http://a/ | a key needs an authority |
| port above 65535 | as written | refused | nobody asks for it; still a key |
| bytes no host may have | become %HH | refused | likewise |
| host: not UTF-8, or long | bytes become %HH | refused | likewise |
| host: a number at its end | as written | refused if no IPv4 | likewise |
| host: refused by IDNA | Punycode, unjudged | refused | tables of Unicode change |
| host: mapped by IDNA | no mapping | mapped | tables of Unicode change |
| host: IPv4 as written | 0x7f.1 | 127.0.0.1 | RFC 3986 has names there |
| host: label too long for Punycode | %HH | longer Punycode | 63 bytes are a label's most |
| user info as written | u@x@h, u;=@h | u%40x@h, u%3B%3D@h | RFC 3986; merges nothing |
| port and backslash | no URL | Rust alone takes foo://a:80\\x | a port is digits |
| dots kept by node 20 | removed | node 20 keeps //.AL/../ (ada 4 and Rust do not) | its bug |

Prints counts and defects. Exit: 0; 1 if there are defects.
"""

import collections
import json
import random
import re
import subprocess
import sys
import tempfile
import unicodedata

try:
    import ada_url
except ImportError:
    ada_url = None
try:
    import idna
except ImportError:
    idna = None

LINES_AT_ONCE = 20000

# --- URLs ---------------------------------------------------------------------------------------

SPECIAL = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21}
SCHEMES = ["http"] * 8 + ["https"] * 5 + ["ws", "wss", "ftp", "HTTP", "Https", "gopher", "foo", "A+b.c-9", "httpx"]
ATOMS = [chr(c) for c in range(0x20, 0x80)] + "a b c A Z 0 7 . .. / // ? # % %% %4 %41 %7e %2e %2E %2f %2F".split() + (
    "%5C %5b %25 %2525 %25%34%31 %3a %40 %00 %20 %7F %c3%a9 %C3%A9 %c3 %zz &a=1 ;x=y /./ /../ /%2e/ /.%2E/ \\ \\.. '"
    " é ü É Å Ω ß ς 中 日本 ａ １ 。 Ａ\u0308 İ ı \u00ad \u200d \u200b \u0301 \u0627 \u05d0 \U0001f600 \ufdd0 \u0378 \U00010400 \u1e9e \u2100"
).split() + ["\t", "\r", "\n", "\x01", "\x1f", "\x7f", "\x80", "\xa0", "\ufeff", "\ufffd", "\U0010ffff", ""]
HOSTS = (
    "a example.com EXAMPLE.com. a.b.c bücher.example b%C3%BCcher.example b%c3%bccher xn--bcher-kva.example XN--BCHER-KVA xn-- xn--a"
    " xn--a-0 xn--zn7c.com 中国.cn ελλάς faß.de 日本語。jp ｅxample ÉCOLE.fr a_b a..b . .. a. 1.2.3.4 1.2.3.4. 0x7f.1 0x7F.1 0x 1.0x"
    " 4294967295 4294967296 1.2.3.256 09 a.09 1.2.3.4.5 %31.2 %30x7f.1 １.2 [::1] [2001:DB8::1] [2001:DB8:0:0:1:0:0:1] [0:0:0:1::]"
    " [::ffff:1.2.3.4] [::1.2.3.04] [1:2:3:4:5:6:7::] [::2:3:4:5:6:7:8] [1::2::3] [:::] [fe80::1%25eth0] [v1.x] [::1 ::1] [::12345]"
    " [::1]x %5B::1%5D a[b a%2fb a%00b a%zz x%25 a%41 a%c3 a%ff%fe \u05d0a.b a\u0301.b ü\u0308 a-.b -a.b ab--c.d localhost _x.y a~b"
    " a!$&'()*+,;=b a\"b a`{}b a<b a>b a|b a^b a\x7fb"
).split(" ") + ["", "x" * 64 + ".b", "é" * 40 + ".b", "éa" * 30, "a b"]
PORTS = ["", ":", ":80", ":443", ":21", ":0", ":00", ":000080", ":8080", ":65535", ":65536", ":99999999999", ":a", ":8%30", ":1:2", ":8\t0"]
USERS = "@ :@ u@ u:@ u::@ ::@ u:p@ u:p:q@ u@x@ u%40x@ u;=@ %75@ u:%3a@ u[]@ :p@ é@ u'@ u^|`{}@ u%@ u%4%41@ @@ u:@x:@ u\\@".split()
COMMON = "abcdefghijklmnopqrstuvwxyz0123456789-"
RANGES = [(0x80, 0x250), (0x370, 0x530), (0x590, 0x700), (0x900, 0xE80), (0x3040, 0x3100), (0x4E00, 0x9FA6), (0x80, 0xD800), (0xE000, 0x110000)]


class Urls:
    def __init__(self, chance):
        self.chance, self.last = chance, "http://a/"

    def atoms(self, most):
        return "".join(self.chance.choices(ATOMS, k=self.chance.randrange(most + 1)))

    def label(self):
        low, high = self.chance.choice(RANGES)
        count = self.chance.choice([1, 2, 3, 5, 8, 13, 20, 30, 62])
        share = self.chance.random()
        return "".join(
            chr(self.chance.randrange(low, high)) if self.chance.random() < share else self.chance.choice(COMMON)
            for _ in range(count)
        )  # fmt: skip

    def host(self):
        kind = self.chance.random() * 1.5 - 0.5
        if kind < 0:
            return self.chance.choice(["a", "A.b", "www.Example.com", "xn--bcher-kva.example", "b\u00fccher.example"])
        if kind < 0.6:
            return self.chance.choice(HOSTS)
        if kind < 0.8:
            return ".".join(self.label() for _ in range(self.chance.choice([1, 1, 2, 3])))
        if kind < 0.85:
            return "[" + "".join(self.chance.choices(["::", ":", "0", "1", "ab", "1.2.3.4", "0:"], k=self.chance.randrange(12))) + "]"
        if kind < 0.9:
            return ".".join(self.chance.choices(["0", "1", "255", "256", "0xff", "077", "08", "0x", "a", ""], k=self.chance.randrange(1, 6)))
        return self.chance.choice(HOSTS) + self.atoms(2)

    def made(self):
        pick, often = self.chance.choice, self.chance.random
        url = pick(SCHEMES) + (pick(["://"] * 30 + [":", ":/", ":///", ":\\\\", ":/\\", "", "//", ":\t//"]))
        url += pick(USERS) if often() < 0.15 else ""
        url += self.host() + (pick(PORTS) if often() < 0.3 else "")
        url += "/" + self.atoms(6) if often() < 0.8 else pick(["", "\\x", "/..", "?", "#", "/%2e%2E"])
        url += "?" + self.atoms(5) if often() < 0.4 else ""
        url += pick(["#", "#/", "#!", "#!/"]) + self.atoms(4) if often() < 0.3 else ""
        return url if often() < 0.95 else pick([" ", "\x01\x1f", "\t", "\x7f", "\xa0", "\ufeff"]) + url + pick([" ", "\r", "\x02"])

    def changed(self, url):
        at = self.chance.randrange(len(url) + 1)
        return url[:at] + pick_atom(self.chance) + url[at + self.chance.randrange(3) :]

    def next(self):
        """A new one, or the last one with a small change: two that might be taken for one."""
        self.last = self.changed(self.last) if self.chance.random() < 0.5 and len(self.last) < 300 else self.made()
        return self.last


def pick_atom(chance):
    return chance.choice(ATOMS)


# --- What is expected ---------------------------------------------------------------------------

UNRESERVED = re.compile(rb"[A-Za-z0-9._~-]")
ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})")
ILLEGAL = re.compile(rb'[\x00-\x20\x7f-\xff"<>\\^`{|}\[\]]')
PARTS = re.compile(
    rb"([a-z][a-z0-9+.-]*)://(?:([^@/?#]*)@)?(\[[^]]*\]|[^:/?#]*)(?::([0-9]+))?(/[^?#]*)?(\?[^#]*)?(#.*)?", re.DOTALL
)  # fmt: skip
KEY_PARTS = re.compile(PARTS.pattern.replace(rb"[^@/?#]*)@", rb"[^/?#]*)@"), re.DOTALL)
Parts = collections.namedtuple("Parts", "scheme user host port path query route")


def escaped(match):
    return b"%%%02X" % match[0][0]


def unescaped(match):
    """Of an escape: what it stands for, if that is unreserved and no digit of a % before it."""
    byte = bytes([int(match[1], 16)])
    before = match.string[max(0, match.start() - 2) : match.start()]
    digit = re.fullmatch(rb"[0-9A-Fa-f]", byte) and re.search(rb"%[0-9A-Fa-f]?\Z", before)
    return byte if UNRESERVED.fullmatch(byte) and not digit else match[0].upper()


def text_as_ours(text, keep=rb"[^\x00-\xff]"):
    return ILLEGAL.sub(lambda match: match[0] if re.match(keep, match[0]) else escaped(match), ESCAPE.sub(unescaped, text))


def label_as_ours(label):
    if label.isascii():
        return label
    try:
        made = b"xn--" + label.decode().encode("punycode")
    except UnicodeDecodeError:
        return label
    return made if len(made) <= 63 else label


def host_as_ours(host):
    if host[:1] == b"[":
        return host
    host = ESCAPE.sub(lambda match: bytes([int(match[1], 16)]), host).lower()
    return re.sub(rb"[^A-Za-z0-9._~!$&'()*+,;=-]", escaped, b".".join(map(label_as_ours, host.split(b"."))))


def parts_as_ours(href):
    """What the rules that are ours on purpose make of a browser's href."""
    parts = PARTS.fullmatch(href)
    if not parts or not parts[3]:
        return None
    scheme, user, host, port, path, query, route = parts.groups(b"")
    route = text_as_ours(route, rb"[][]") if route[1:2] in (b"!", b"/") else b""
    return Parts(scheme, text_as_ours(user), host_as_ours(host), port, text_as_ours(path or b"/"), text_as_ours(query), route)


# --- Differences --------------------------------------------------------------------------------


def cleaned(line):
    text = line.strip(bytes(range(0x21)).decode()).translate({9: None, 10: None, 13: None})
    return re.sub(r"^[^?#]*", lambda match: match[0].replace("\\", "/"), text) if is_special(text) else text


def is_special(text):
    return text.partition(":")[0].lower() in SPECIAL and ":" in text


def ends_in_number(host):
    last = host.removesuffix(b".").rpartition(b".")[2]
    return re.fullmatch(rb"[0-9]+|0x[0-9a-f]*", last) is not None


def characters(host):
    """The labels of a key's host that are Punycode."""
    for label in host.split(b"."):
        if label.startswith(b"xn--"):
            try:
                yield label[4:].decode("ascii").encode().decode("punycode")
            except (UnicodeError, ValueError):
                yield None


def is_changed_by_idna(label):
    """Whether a mapping changes it, or a rule of IDNA refuses it."""
    if label is None or label.isascii() or unicodedata.normalize("NFKC", label).lower() != label:
        return True
    try:
        return idna is None or idna.uts46_remap(label, False, False) != label or not idna.alabel(label)
    except (idna.IDNAError, UnicodeError):
        return True


def refusal(key, special):
    """Why a browser refuses what has this key."""
    if int(key.port or b"0") > 65535:
        return "port above 65535"
    if re.search(rb"%[0-7]", key.host):
        return "bytes no host may have"
    if special and re.search(rb"%[89A-F]", key.host):
        return "host: not UTF-8, or long"
    if special and ends_in_number(key.host):
        return "host: a number at its end"
    if special and any(map(is_changed_by_idna, characters(key.host))):
        return "host: refused by IDNA"
    if special and any(unicodedata.bidirectional(c) in ("R", "AL", "AN") for label in characters(key.host) for c in label):
        return "host: refused by IDNA"  # labels beside one from right to left
    return "DEFECT: refused"


def host_difference(ours, theirs):
    if re.fullmatch(rb"[0-9]+(\.[0-9]+){3}", theirs) and ends_in_number(ours):
        return "host: IPv4 as written"
    if re.search(rb"%[89A-F]", ours) and max(map(len, theirs.split(b"."))) > 63:
        return "host: label too long for Punycode"
    if any(map(is_changed_by_idna, characters(ours))) or re.search(rb"%[89A-F]", ours):
        return "host: mapped by IDNA"
    return "DEFECT: host"


def difference(line, key, href):
    """The class of what a key and an href have not in common; None: they agree."""
    text = cleaned(line)
    special = is_special(text)
    if key is None and href is None:
        return "both: no URL"
    if key is None:
        if not special and re.match(r"[^/?#]*://[^/?#]*:[0-9]*\\", text):
            return "port and backslash"
        return "no :// and host" if not re.match(r"[^:/?#]+://[^/?#]", text) else "DEFECT: no key"
    if href is None:
        return refusal(key, special)
    theirs = parts_as_ours(href)
    if theirs is None:
        return "DEFECT: href without a host"
    if ours_but_host(key) != ours_but_host(theirs):
        every = [ESCAPE.sub(lambda match: bytes([int(match[1], 16)]), each.user) for each in (key, theirs)]
        if every[0] != every[1] or ours_but_host(key._replace(user=b"")) != ours_but_host(theirs._replace(user=b"")):
            return "dots kept by node 20" if re.search(rb"/\.[^?#]*/\.\.", theirs.path) else "DEFECT: parts"
        return "user info as written" if key.host == theirs.host else host_difference(key.host, theirs.host)
    return None if key.host == theirs.host else host_difference(key.host, theirs.host)


def ours_but_host(parts):
    return parts._replace(host=b"")


# --- Programs -----------------------------------------------------------------------------------

NODE = """const lines = JSON.parse(require("fs").readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(lines.map(line => { try { return new URL(line).href } catch { return null } })))"""


def run(words, data):
    return subprocess.run(words, input=data, capture_output=True, check=True).stdout


def keys_of(program, form, lines):
    """None for a line that has none."""
    with tempfile.TemporaryFile() as file:
        file.write(b"".join(line + b"\0" for line in lines))
        file.seek(0)
        words = [program, "key", "-z", "--tag", "--by", form]
        said = subprocess.run(words, stdin=file, capture_output=True, check=False)
    if said.returncode > 1 or said.stdout.count(b"\0") != len(lines):
        sys.exit(f"{words}: status {said.returncode}: {said.stderr.decode()}")
    return [each[4:] if each[:4] == b"key\t" else None for each in said.stdout.split(b"\0")[:-1]]


def node(lines):
    return json.loads(run(["node", "-e", NODE], json.dumps(lines).encode()))


def ada(lines):
    def href(line):
        try:
            return ada_url.URL(line).href
        except ValueError:
            return None

    return [href(line) for line in lines]


def other(program):
    def ask(lines):
        said = run([program], b"".join(line.encode() + b"\0" for line in lines)).decode().split("\0")[:-1]
        return [each or None for each in said]

    return ask


class Judge:
    def __init__(self, program, parsers):
        self.program, self.parsers = program, parsers
        self.counts = {name: collections.Counter() for name in parsers}
        self.pages = {name: {} for name in parsers}
        self.examples, self.defects = {}, collections.Counter()

    def tell(self, kind, *what):
        self.examples.setdefault(kind, what)
        if kind.startswith("DEFECT"):
            self.defects[kind] += 1
            if self.defects[kind] <= 5:
                print(kind, *what, flush=True)

    def judge(self, lines):
        texts = [line.encode() for line in lines]
        keys = keys_of(self.program, "url", texts)
        parts = [key and Parts(*KEY_PARTS.fullmatch(key).groups(b"")) for key in keys]
        self.judge_keys([each for each in zip(texts, keys, parts) if each[1]])
        for name, parser in self.parsers.items():
            hrefs = [href and href.encode() for href in parser(lines)]
            again = iter(keys_of(self.program, "url", [href for href in hrefs if href]))
            for line, key, part, href in zip(lines, keys, parts, hrefs):
                key_of_href = href and next(again)
                kind = difference(line, part, href)
                if kind is None and key_of_href != key:
                    kind = "DEFECT: key of the href"
                if key and href and not (kind or "").startswith("DEFECT"):
                    page = parts_as_ours(href)
                    if self.pages[name].setdefault(key, page) != page:
                        self.tell("DEFECT: two pages as one", name, line, key, page, self.pages[name][key])
                kind = kind or ("agree" if is_special(cleaned(line)) else "agree, not special")
                self.counts[name][kind] += 1
                self.tell(kind, name, line, key, href)

    def judge_keys(self, found):
        """The key of a key, and the host of both."""
        keys = [key for _, key, _ in found]
        hosts = keys_of(self.program, "host", [line for line, _, _ in found])
        for each, again, host, same in zip(found, keys_of(self.program, "url", keys), hosts, keys_of(self.program, "host", keys)):
            if again != each[1]:
                self.tell("DEFECT: twice is not once", *each, again)
            if not host == same == (each[2].host.removesuffix(b".") or None):
                self.tell("DEFECT: another host", *each, host, same)


def judge_labels(judge, urls, count):
    labels = [label for label in (urls.label().lower() for _ in range(count)) if not re.search(r"[\x80-\xa0]|[.\ufffd]", label)]
    keys = keys_of(judge.program, "url", [f"https://{label}/".encode() for label in labels])
    hosts = keys_of(judge.program, "host", [f"{label}.:80".encode() for label in labels])
    said = collections.Counter()
    for label, key, host in zip(labels, keys, hosts):
        wanted = host_as_ours(label.encode())
        if key != b"https://" + wanted + b"/" or host != wanted:
            judge.tell("DEFECT: Punycode", label, key, host, wanted)
        said["labels"] += 1
        if idna and not label.isascii() and len(wanted) < 64:
            try:
                if idna.alabel(label) != wanted:
                    judge.tell("DEFECT: not as idna", label, wanted)
                said["of these, idna has the same of"] += 1
            except (idna.IDNAError, UnicodeError):
                said["and refuses"] += 1
    return said


def main():
    program, count, urls = sys.argv[1], int(sys.argv[2]), Urls(random.Random(sys.argv[3]))
    parsers = {"node": node, "ada": ada} | {name: other(name) for name in sys.argv[4:]}
    try:
        node([])
    except (OSError, subprocess.CalledProcessError):
        print("not asked: node is not installed")
        del parsers["node"]
    if not ada_url:
        print("not asked: ada_url is not installed")
        del parsers["ada"]
    if not idna:
        print("not asked: idna is not installed")
    judge = Judge(program, parsers)
    said = judge_labels(judge, urls, count // 3)
    done = 0
    while done < count:
        lines = [urls.next() for _ in range(min(LINES_AT_ONCE, count - done))]
        judge.judge(lines)
        noisy = [bytes(c ^ 0x80 or 1 if urls.chance.random() < 0.03 else c for c in line.encode()) for line in lines[::10]]
        keys = keys_of(program, "url", noisy)
        judge.judge_keys([(line, key, Parts(*KEY_PARTS.fullmatch(key).groups(b""))) for line, key in zip(noisy, keys) if key])
        done += len(lines)
    print(", ".join(f"{n} {what}" for what, n in said.items()))
    for name, counts in judge.counts.items():
        print(f"{name}: {done} URLs, {len(judge.pages[name])} keys")
        for kind, n in counts.most_common():
            print(f"  {n:8} {kind}")
    if "-v" in sys.argv:
        print(judge.examples)
    sys.exit(1 if judge.defects else 0)


if __name__ == "__main__":
    main()
