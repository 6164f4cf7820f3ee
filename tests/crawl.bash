# A site of linked pages, a web server for it, and a crawler of four workers; load it after helper.bash.

# shellcheck shell=bash
# shellcheck disable=SC2016 # what is looked for in scripts is meant for those
# shellcheck disable=SC2154 # UNSEEN is set by helper.bash

# site PAGES: in ./site, pages 0 to PAGES-1. Page n links to 2n+1 and 2n+2, so that all are reached, and
# to three more, so that most links lead to what is known.
site() {
    mkdir site
    awk -v pages="$1" 'BEGIN {
        for (n = 0; n < pages; n++) {
            file = "site/" n
            printf "<html><h1>%d</h1>\n", n >file
            for (i = 1; i <= 5; i++) {
                to = i <= 2 ? 2 * n + i : (n * 7919 + i * 104729) % pages
                if (to < pages)
                    printf "<a href=\"%d\">%d</a> ", to, to >file
            }
            print "</html>" >file
            close(file)
        }
    }'
}

# serve: a web server for ./site; sets `server`, its process, and `port`. Each page that it gives out is
# a line in ./served.
serve() {
    cat >"$BATS_TEST_TMPDIR/server.py" <<'END'
import http.server, sys
class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments): pass
    def do_GET(self):
        served.write(self.path[1:] + "\n")
        served.flush()
        super().do_GET()
class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 64
served = open("served", "a")
handler = lambda *a: Handler(*a, directory="site")
server = Server(("127.0.0.1", 0), handler)
with open("port.new", "w") as file: file.write("%d\n" % server.server_port)
import os
os.rename("port.new", "port")
server.serve_forever()
END
    : >served
    rm -f port
    python3 "$BATS_TEST_TMPDIR/server.py" >"$BATS_TEST_TMPDIR/server.log" 2>&1 3>&- &
    # shellcheck disable=SC2034 # for who uses this, to end it
    server=$!
    filled port || { cat "$BATS_TEST_TMPDIR/server.log"; return 1; }
    port=$(cat port)
}

need_server() {
    need python3
    python3 -c 'import http.server; http.server.ThreadingHTTPServer' 2>/dev/null ||
        skip "this python3 has no web server (its whole standard library has: not a python3-minimal)"
}

# fetch PAGE: by the shell alone, so that ten thousand of them do not take an hour.
fetch() {
    exec {socket}<>"/dev/tcp/127.0.0.1/$port" || return 1
    printf 'GET /%s HTTP/1.0\r\n\r\n' "$1" >&"$socket"
    sed '1,/^\r*$/d' <&"$socket"
}

# the_crawler: makes ./visit, which fetches the page of one line, "DEPTH PAGE", and pushes its links; and
# ./crawler, which has the workers. A page is known, whatever its depth, once it is in the queue.
the_crawler() {
    cat >visit <<'END'
read -r depth page
html=$(fetch "$page") || exit 1
echo "$page" >>fetched
[ "$depth" -lt "$deepest" ] || exit 0
printf '%s\n' "$html" | grep -o 'href="[^"]*"' | cut -d '"' -f 2 |
    unseen known.bf -x sh -c 'sed "s/^/$0 /" | unseen push todo.bf' $((depth + 1))
END
    cat >crawler <<'END'
echo 0 | unseen --create known.bf -x sh -c 'sed "s/^/0 /" | unseen push --create todo.bf'
for worker in 1 2 3 4; do
    while unseen pop todo.bf --until-done -x bash visit || [ $? -eq 3 ]; do :; done & echo $! >>workers
done
wait
END
}

# crawl DEEPEST: all of the site that is not deeper; the program is in PATH as `unseen`.
crawl() {
    mkdir -p "$BATS_TEST_TMPDIR/bin"
    ln -sf "$UNSEEN" "$BATS_TEST_TMPDIR/bin/unseen"
    export -f fetch
    rm -rf known.bf* todo.bf* fetched workers
    : >served
    deepest=$1 port=$port PATH=$BATS_TEST_TMPDIR/bin:$PATH bash crawler 2>>crawl.err 3>&-
}
