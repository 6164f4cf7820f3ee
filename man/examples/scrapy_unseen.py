# A duplicates filter for Scrapy (2.14 or later) that keeps about 30 bits a page, in a file.
# Scrapy's own keeps 760 in memory, and with a JOBDIR 176 more in requests.seen.
#
#     unseen create seen.bf                                    once
#     scrapy crawl SPIDER -s UNSEEN_FILTER=seen.bf \
#         -s DUPEFILTER_CLASS=scrapy_unseen.UnseenDupeFilter   with this file beside scrapy.cfg
#
# Later crawls, and others at the same time, ask for no page that the filter knows, except for what
# Scrapy always asks for: start pages, from which new pages are found, and what a retry leads to.
# The key is Scrapy's fingerprint: method, URL and body. For a filter of URLs that other programs
# use, make it with --by url, and write request.url for self.fingerprinter.fingerprint(...).hex().
#
# A page is remembered before it is fetched. So kill -9 loses what waited, even with a JOBDIR, and
# what only that leads to (100 and 195 of 389 pages), and later crawls do not try again what failed.
# Instead, let pages wait in the queue of a filter: "unseen pop -m 100 todo.bf -x CMD", where CMD
# crawls the lines it reads and pushes their links; if it is killed, they wait again. Ctrl-C loses
# nothing if there is a JOBDIR.
#
# If unseen ends, the crawl is closed, as if killed: see its finish_reason, as Scrapy exits with 0.
# Do not leave out start_new_session: Ctrl-C would end unseen before Scrapy has queued all links.
import subprocess
from scrapy.dupefilters import RFPDupeFilter
from scrapy.utils.defer import deferred_from_coro

class UnseenDupeFilter(RFPDupeFilter):
    @classmethod
    def from_crawler(cls, crawler):
        self = cls(debug=crawler.settings.getbool("DUPEFILTER_DEBUG"),
                   fingerprinter=crawler.request_fingerprinter)
        self.crawler = crawler
        return self

    def open(self):
        name = self.crawler.settings.get("UNSEEN_FILTER", "seen.bf")
        self.unseen = subprocess.Popen(["unseen", "--tag", "--header", name], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, start_new_session=True)
        self.ask("request")                  # a header line: is there a filter?

    def ask(self, line):
        self.unseen.stdin.write(line.encode() + b"\n")
        self.unseen.stdin.flush()
        answer = self.unseen.stdout.readline().decode()
        if not answer.endswith(line + "\n"):
            raise EOFError("unseen has ended")
        return answer

    def request_seen(self, request):
        try:
            return self.ask(self.fingerprinter.fingerprint(request).hex()).startswith("seen")
        except (OSError, EOFError):
            deferred_from_coro(self.crawler.engine.close_spider_async(reason="unseen has ended"))
            raise

    def close(self, reason):
        self.unseen.communicate()
