#!/usr/bin/env bash
# Subject: Scrapy 2.19.0 (PyPI)
# Question: a link answers 503 once, and then redirects to a page that was fetched before. Is that
#     page asked for again? And if an errback gives the failed request once more, is it sent?
# One would guess: neither. A retry has to pass the filter of duplicates, but the page that it leads
#     to, and the request that the spider gives, are judged as any other.
# What happens: both are sent. A retry has dont_filter set, and what is made from it inherits that:
#     the request after a redirection, failure.request and response.request.replace(). Nor does the
#     filter hear of them. Where the link does not fail on the way, it is as one would guess.
# Why it matters: "each page once" holds until the first 503, with every filter of duplicates that
#     Scrapy can have. What comes twice depends on how the server felt, and the filter puts no end
#     to the tries of an errback.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
python3 -m venv "$here/venv"
"$here/venv/bin/pip" --disable-pip-version-check -q install scrapy==2.19.0

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

cat >"$here/crawl.py" <<'PYTHON'
import collections, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import scrapy
from scrapy.crawler import CrawlerProcess

asked = collections.Counter()
fails = sys.argv[1] == "fails"        # does /moved answer 503 the first time?


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *arguments):
        pass

    def do_GET(self):
        asked[self.path] += 1
        moved = self.path == "/moved" and (not fails or asked[self.path] > 1)
        status = 302 if moved else 200 if self.path in ("/", "/page") else 503
        self.send_response(status)
        if moved:
            self.send_header("Location", "/page")
        self.send_header("Content-Length", "0")
        self.end_headers()


class Spider(scrapy.Spider):
    name = "spider"

    def parse(self, response):
        yield response.follow("/page", self.page)

    def page(self, response):         # /page is known from here on
        yield response.follow("/moved", self.end, errback=self.again)
        yield response.follow("/broken" if fails else "/page", self.end, errback=self.again)

    def end(self, response):
        pass

    def again(self, failure):         # once
        yield failure.request.replace(errback=self.end)


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
Spider.start_urls = [f"http://127.0.0.1:{server.server_port}/"]
process = CrawlerProcess(
    {"LOG_LEVEL": "CRITICAL", "RETRY_TIMES": 1, "TELNETCONSOLE_ENABLED": False}
)
process.crawl(Spider)
process.start()
print(" ".join(f"{path}={count}" for path, count in sorted(asked.items())))
PYTHON
"$here/venv/bin/pip" list 2>/dev/null | grep -i '^scrapy '
crawl() { "$here/venv/bin/python" "$here/crawl.py" "$1"; }
shows "/moved redirects to /page at once" "$(crawl works)" "/=1 /moved=1 /page=1"
# /broken: once, its retry, and the errback's.
shows "/moved answers 503 before, and /broken 503 for ever" "$(crawl fails)" \
    "/=1 /broken=3 /moved=2 /page=2"
