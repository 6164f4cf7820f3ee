# A site of linked pages, a web server for it, and the crawler of the manual; load it behind
# helper.bash.

# shellcheck shell=bash
# shellcheck disable=SC2016 # what is looked for in scripts is meant for those
# shellcheck disable=SC2154 # UNSEEN is set by helper.bash

the_manual=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd -P)/man/unseen.1

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
        skip "this python3 has no web server"
}

# fetch PAGE: by the shell alone, so that ten thousand of them do not take an hour.
fetch() {
    exec {socket}<>"/dev/tcp/127.0.0.1/$port" || return 1
    printf 'GET /%s HTTP/1.0\r\n\r\n' "$1" >&"$socket"
    sed '1,/^\r*$/d' <&"$socket"
}

# the_crawler: out of the manual, as it stands there, but for where pages come from, how deep it goes, and
# its first page. Makes ./visit and ./crawler, which has the workers.
the_crawler() {
    awk '
        /^\.Bd -literal/ { text = ""; inside = 1; next }
        /^\.Ed/ { if (text ~ /cat >visit/) print text; inside = 0 }
        inside { text = text $0 "\n" }' "$the_manual" |
        sed -e 's/\\e/\\/g' >"$BATS_TEST_TMPDIR/example"
    sed -n "/^cat >visit/,/^END/p" "$BATS_TEST_TMPDIR/example" | sed '1d;$d' |
        sed -e 's/$(cat "$page")/$(fetch "$page")/' -e 's/-lt 2/-lt "$deepest"/' >visit
    [[ $(grep -c -e 'fetch "$page"' -e '"$deepest"' visit) -eq 2 ]] || { cat visit; return 1; }
    sed -n '/^echo one/,/^wait/p' "$BATS_TEST_TMPDIR/example" | sed -e 's/echo one/echo 0/' \
        -e 's/-x sh visit/-x bash visit/' -e 's/done &/done \& echo $! >>workers/' >crawler
    [[ $(grep -c -e 'echo 0' -e 'bash visit' -e '^wait' crawler) -eq 3 ]] || { cat crawler; return 1; }
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
