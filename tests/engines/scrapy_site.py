"""A site of linked pages on 127.0.0.1, for scrapy.bats: python3 scrapy_site.py

The port is in ./port once it answers. ./pages says how many pages /p/N there are. Each answer is a
line of ./log: USER-AGENT METHOD PAGE STATUS, where PAGE is the same for all spellings of a URL.
While there is a file ./hold, with a number in it, a user agent gets so many answers; ./held is made
when a request has to wait. Pages /p/N wait until as many user agents have asked for one as
./clients says.
"""
import os, socket, threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

lock = threading.Condition()
answers = Counter()
agents = set()
failed = set()


def number(name):
    try:
        with open(name) as file:
            return int(file.read())
    except FileNotFoundError:
        return None


def links(n, count, port):
    """The links of page n, each in one of several spellings."""
    site = f"127.0.0.1:{port}"
    for i, to in enumerate((2 * n + 1, 2 * n + 2, n * 7 + 3, n + 1, n + 17)):
        spelt = ("/p/{0}", "/p/{0}#part", "../p/./{0}", "http://{1}/p/{0}#{0}", "HTTP://{1}/p/{0}?",
                 "/r/{0}", "/p/{0}", "/q?n={0}&a=1", "/q?a=1&n={0}")[(n + i) % 9]
        yield spelt.format(to % count, site)


class Handler(BaseHTTPRequestHandler):
    wbufsize = -1                       # one packet, and no wait for its acknowledgement

    def log_message(self, *arguments):
        pass

    def answer(self, body=""):
        url = urlsplit(self.path)
        page = url.path
        if url.query:
            page += "?" + "&".join("=".join(pair) for pair in sorted(parse_qsl(url.query)))
        agent = self.headers["User-Agent"]
        with lock:
            if page.startswith("/p/"):
                agents.add(agent)
                lock.notify_all()
                lock.wait_for(lambda: len(agents) >= (number("clients") or 0))
            while answers[agent] >= (number("hold") or 1000000):
                open("held", "w").close()
                lock.wait(0.05)
            if self.left():
                return
            answers[agent] += 1
            status, headers, text = self.page(page, agent)
            with open("log", "a") as file:
                print(agent, self.command, page + body, status, file=file)
        data = text.encode()
        self.send_response(status)
        for header in headers:
            self.send_header(*header)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def left(self):
        """Is the client gone?"""
        try:
            return not self.connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except ConnectionError:
            return True

    def page(self, page, agent):
        """Status, headers and text of a page."""
        count = number("pages")
        port = self.server.server_port
        name, _, rest = page[1:].partition("/")
        hrefs = []
        if page == "/":
            hrefs = ["/p/0", "/p/1", f"/p/{count - 1}", "/wall", "/f/1", "/fr/2", "/d/1", "/d/2"]
        elif name in ("f", "fr") and (agent, page) not in failed:
            failed.add((agent, page))
            return 503, [], ""
        elif name in ("r", "fr"):
            return 302, [("Location", f"/p/{rest}")], ""
        elif name == "d":
            return 500, [], ""
        elif name == "wall" and "Cookie" not in self.headers:
            return 302, [("Set-Cookie", "seen=1"), ("Location", "/wall")], ""
        elif name == "s":
            hrefs = links(int(rest), count, port)
        elif name == "p":
            hrefs = [*links(int(rest), count, port), f"/leaf/{rest}"]
            if rest == "40":
                hrefs.append("/")
        anchors = ('<a href="{}">x</a>'.format(href.replace("&", "&amp;")) for href in hrefs)
        return 200, [], "<html>" + "".join(anchors)

    do_GET = answer

    def do_POST(self):
        self.answer("+" + self.rfile.read(int(self.headers["Content-Length"])).decode())


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
with open("port.new", "w") as file:
    print(server.server_port, file=file)
os.rename("port.new", "port")
server.serve_forever()
