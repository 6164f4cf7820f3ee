#!/usr/bin/env bash
# Subject: Scrapy 2.19.0 with w3lib 2.5.0, and furl 2.1.4 (PyPI)
# Question: do http://straße.de/ and http://strasse.de/ count as two pages?
# One would guess: yes. They are two names, and may have two owners: .de takes ß since 2010, and
#     browsers, node, requests, httpx and yarl ask xn--strae-oqa.de for the first one.
# What happens: they are one, and strasse.de is asked for both. Host names go through Python's codec
#     "idna", which is the IDNA of 2003: ß is ss, the final sigma ς of Greek is σ, and the joiners
#     that Persian and Indic names need are left out. Scrapy rewrites the URL when the request is
#     made, so that logs and items have the other name, too.
# Why it matters: of two sites one is never seen, and what is kept under its name is the other's. To
#     write the hosts as xn-- before they are added keeps them apart in Scrapy; furl raises an error.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
python3 -m venv "$here/venv"
"$here/venv/bin/pip" --disable-pip-version-check -q install \
    scrapy==2.19.0 w3lib==2.5.0 furl==2.1.4 idna==3.20

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

cat >"$here/hosts.py" <<'PYTHON'
import sys
from urllib.parse import urlsplit

import furl
import idna
from scrapy import Request
from scrapy.dupefilters import RFPDupeFilter

url, other = sys.argv[1:]
duplicates = RFPDupeFilter()
duplicates.request_seen(Request(other))
print("IDNA 2008", idna.encode(urlsplit(url).hostname, uts46=True).decode())
print("Scrapy", Request(url).url, "seen" if duplicates.request_seen(Request(url)) else "new")
try:
    print("furl", furl.furl(url).url)
except UnicodeError:
    print("furl takes it for no name")
PYTHON
"$here/venv/bin/pip" list 2>/dev/null | grep -iE '^(scrapy|w3lib|furl|idna) '
python3 --version

# hosts URL OTHER: what is made of URL after OTHER was seen, on one line.
hosts() { "$here/venv/bin/python" "$here/hosts.py" "$@" 2>/dev/null | paste -sd, -; }
shows "straße.de after strasse.de" "$(hosts http://straße.de/ http://strasse.de/)" \
    "IDNA 2008 xn--strae-oqa.de,Scrapy http://strasse.de/ seen,furl http://strasse.de/"
shows "βόλος.gr after βόλοσ.gr" "$(hosts http://βόλος.gr/ http://βόλοσ.gr/)" \
    "IDNA 2008 xn--nxasmm1c.gr,Scrapy http://xn--nxasmq6b.gr/ seen,furl http://xn--nxasmq6b.gr/"
shows "the xn-- form of straße.de after strasse.de" \
    "$(hosts http://xn--strae-oqa.de/ http://strasse.de/)" \
    "IDNA 2008 xn--strae-oqa.de,Scrapy http://xn--strae-oqa.de/ new,furl takes it for no name"
