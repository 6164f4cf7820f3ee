#!/usr/bin/env bats
# Scrapy crawls a site of this machine (scrapy_site.py) with man/examples/scrapy_unseen.py, beside Scrapy's
# own filter of duplicates.

load ../helper
load engines
load registry

version=2.19.0
ours=(-s DUPEFILTER_CLASS=scrapy_unseen.UnseenDupeFilter -s UNSEEN_FILTER=seen.bf)

teardown() {
    local pid
    for pid in $server "${crawls[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
}

# prepare: Scrapy, the recipe, a spider that follows all links, an empty filter, the site.
prepare() {
    need jq
    from_pip scrapy "scrapy==$version"
    export PYTHONPATH=$ENGINES/scrapy:$PWD PYTHONDONTWRITEBYTECODE=1
    tools_in_path
    recipe scrapy_unseen.py
    cat >spider.py <<'PYTHON'
import scrapy

class Site(scrapy.Spider):
    name = "site"
    custom_settings = {"CLOSESPIDER_PAGECOUNT": 2000, "TELNETCONSOLE_ENABLED": False}

    def __init__(self, at="/", **rest):
        super().__init__(**rest)
        self.start_urls = ["http://127.0.0.1:" + open("port").read().strip() + at]

    def parse(self, response):
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href)
        if response.url.endswith("/p/1"):
            for word in "one", "other", "one":
                yield scrapy.FormRequest(response.urljoin("/post"), formdata={"q": word})
PYTHON
    unseen create seen.bf
    echo 120 >pages
    python3 "$repository/tests/engines/scrapy_site.py" 3>&- &
    server=$!
    disown
    wait_until 60 test -s port
}

# crawl NAME [OPTION...]: to its end, as NAME; what Scrapy logs goes to log.NAME.
crawl() {
    crawling "$@"
    wait $!
}

# crawling NAME [OPTION...]: in the background.
crawling() {
    setsid env --default-signal=INT python3 -m scrapy runspider spider.py -s USER_AGENT="$1" \
        -s LOG_FILE="log.$1" "${@:2}" 3>&- &
    crawls+=($!)
}

# asked NAME...: the requests that were answered, sorted: METHOD PAGE STATUS.
asked() {
    local name
    for name; do sed -n "s/^$name //p" log; done | sort
}

# pages_of NAME...: each page once.
pages_of() { asked "$@" | sed 's/ [0-9]*$//' | sort -u; }

# twice NAME...: the pages that were delivered more than once.
twice() { asked "$@" | sed -n 's/ [23]..$//p' | uniq -d; }

# excepted: pages that Scrapy lets pass the filter: the start page, and what a retry is redirected to.
excepted() { printf 'GET %s\n' / /p/2; }

# whole_site: ./whole has all pages, as Scrapy's own filter finds them.
whole_site() {
    crawl reference
    pages_of reference >whole
    [[ $(wc -l <whole) -gt 350 ]]
}

# hold_at COUNT: once the site has answered so many requests, the others wait.
hold_at() {
    rm -f held
    echo "$1" >hold
}

# child PID: the unseen of that crawl.
child() { pgrep -P "$1" -x unseen; }

gone() { ! kill -0 "$1" 2>/dev/null; }

# row WHAT KILLED NAME...: one of the table; pages that NAME... never got are lost.
row() {
    lost=$(comm -13 <(pages_of "${@:3}") whole | wc -l)
    printf 'Scrapy %s\t%s\t%s\t%d\t%d\t%d\n' "$version" "$1" "$2" "$(pages_of "${@:3}" | wc -l)" "$lost" \
        "$(twice "${@:3}" | wc -l)" | tee -a "${ENGINES_TABLE:-/dev/null}"
}

@test "scrapy: asks for what Scrapy's own filter asks for, in two runs, and for no page twice" {
    prepare
    crawl own.1 -s JOBDIR=job
    crawl ours.1 "${ours[@]}"
    same <(asked ours.1) <(asked own.1)
    [[ $(pages_of ours.1 | grep -c ' /p/') -eq 120 && $(pages_of ours.1 | grep -c ' /leaf/') -eq 120 ]]
    # Scrapy's rule: neither a start page nor what a retry leads to is judged, or marked.
    same <(twice ours.1) <(excepted)
    # Other bodies are other requests; a failure is asked for again, and a redirection is followed.
    same <(asked ours.1 | grep -E ' /(post|fr?/|d/1|wall)') /dev/stdin <<'END'
GET /d/1 500
GET /d/1 500
GET /d/1 500
GET /f/1 200
GET /f/1 503
GET /fr/2 302
GET /fr/2 503
GET /wall 302
POST /post+q=one 200
POST /post+q=other 200
END
    # All is known, pages that failed too: only the start page is asked for.
    crawl ours.2 "${ours[@]}"
    same <(asked ours.2) <(echo 'GET / 200')
    # New pages are found from the start page, and from new pages.
    echo 130 >pages
    crawl own.3 -s JOBDIR=job
    crawl ours.3 "${ours[@]}"
    same <(asked ours.3) <(asked own.3)
    asked ours.3 | grep -q ' /p/129 200'
    same <(twice ours.1 ours.2 ours.3) <(excepted)
}

@test "scrapy: two crawls on one filter ask for no page twice, and miss none" {
    prepare
    whole_site
    # Neither gets a page before the other has asked for one. Their start pages have not the same links.
    echo 2 >clients
    crawling one "${ours[@]}"
    crawling two "${ours[@]}" -a at=/s/60
    wait "${crawls[-2]}"
    wait "${crawls[-1]}"
    same <(twice one two) <(excepted)
    row 'one filter, two crawls' - one two
    [[ $lost -eq 0 && $(pages_of one | grep -c ' /p/') -gt 0 && $(pages_of two | grep -c ' /p/') -gt 0 ]]
}

@test "scrapy: kill -9 loses what was marked and waited; Ctrl-C with a job directory loses nothing" {
    prepare
    whole_site
    local job filter marked
    for job in '' job; do
        unseen create --force seen.bf
        hold_at 100
        crawling "killed$job" "${ours[@]}" ${job:+-s JOBDIR=$job}
        wait_until 60 test -e held
        filter=$(child $!)
        kill -9 $!
        wait_until 60 gone "$filter"
        rm hold
        marked=$(unseen stats --json seen.bf | jq .lines)
        crawl "again$job" "${ours[@]}" ${job:+-s JOBDIR=$job}
        same <(asked "again$job") <(echo 'GET / 200')
        row "duplicates filter${job:+, JOBDIR}" 'the crawl' "killed$job"
        echo "$marked marked"
        [[ $lost -gt 0 && $marked -gt 100 ]]
    done

    unseen create --force seen.bf
    hold_at 100
    crawling stopped "${ours[@]}" -s JOBDIR=job.stopped
    wait_until 60 test -e held
    kill -INT -- -$!
    wait_until 60 grep -q 'Received SIGINT' log.stopped
    rm hold
    wait $!
    grep -q "'finish_reason': 'shutdown'" log.stopped
    [[ $(pages_of stopped | wc -l) -lt 150 ]]
    crawl stopped "${ours[@]}" -s JOBDIR=job.stopped
    row 'duplicates filter, JOBDIR' 'Ctrl-C' stopped
    [[ $lost -eq 0 ]]
    same <(twice stopped) <(excepted)
}

@test "scrapy: without an answer of unseen the crawl is closed: no page is taken for new" {
    prepare
    whole_site
    hold_at 100
    crawling orphan "${ours[@]}"
    wait_until 60 test -e held
    kill -9 "$(child $!)"
    rm hold
    # Scrapy's exit status says nothing of it.
    wait $!
    grep -q "'finish_reason': 'unseen has ended'" log.orphan
    grep -Eq '^(BrokenPipeError|EOFError: unseen has ended)' log.orphan
    run ! grep -vxf <(excepted) <(twice orphan)
    # What was on its way is answered, and little more.
    [[ $(asked orphan | wc -l) -lt 200 ]]
    # No filter, no crawl.
    rm seen.bf
    exits 1 crawl nothing "${ours[@]}"
    grep -q 'seen.bf: No such file' "$err"
    exits 1 crawl nothing -s DUPEFILTER_CLASS=scrapy_unseen.UnseenDupeFilter
    [[ -z $(asked nothing) ]]
}

@test "scrapy: a filter of URLs, as other programs have it: what they printed is not asked for" {
    prepare
    whole_site
    sed -i 's/self\.fingerprinter\.fingerprint(request)\.hex()/request.url/' scrapy_unseen.py
    unseen create --force --by url seen.bf
    echo "HTTP://127.0.0.1:$(<port)/p/1#top" | unseen add seen.bf
    crawl urls "${ours[@]}"
    pages_of urls >got
    # With page 1 goes what no other page leads to.
    comm -3 got whole | same /dev/stdin <(printf '\t%s\n' 'GET /leaf/1' 'GET /p/1' 'GET /r/18' 'POST /post+q='{one,other})
    # Scrapy sorts the parameters of a query; --by url leaves them as they are.
    same <(twice urls | grep -v '/q?') <(excepted)
}

@test "scrapy: 100,000 URLs: bits in the filter, in requests.seen, and in memory" {
    prepare
    unseen create --force -n 100000 seen.bf
    cat >measure.py <<'PYTHON'
import os, sys, time
from scrapy import Request
from scrapy.dupefilters import RFPDupeFilter
from scrapy.utils.test import get_crawler
from scrapy_unseen import UnseenDupeFilter

count = 100000

def fill(kind, settings):
    """The filter, and microseconds a request."""
    dupefilter = kind.from_crawler(get_crawler(settings_dict=settings))
    dupefilter.open()
    begin = time.perf_counter()
    for wanted in False, True:
        for number in range(count):
            assert dupefilter.request_seen(Request(f"http://a.example/{number}")) == wanted
    spent = time.perf_counter() - begin
    dupefilter.close("finished")
    return dupefilter, round(spent * 1e6 / count / 2)

os.mkdir("job")
own, own_time = fill(RFPDupeFilter, {"JOBDIR": "job"})
ours, ours_time = fill(UnseenDupeFilter, {"UNSEEN_FILTER": "seen.bf"})
kept = [sum(map(sys.getsizeof, filter_._fingerprints), sys.getsizeof(filter_._fingerprints)) for filter_ in (own, ours)]
memory, none, file, bits = [round(size * 8 / count) for size in
                            kept + [os.stat(name).st_size for name in ("job/requests.seen", "seen.bf")]]
print(f"bits a URL: {memory} in memory and {file} in requests.seen; {none} and {bits} in seen.bf")
print(f"microseconds a request: {own_time}, and {ours_time} with unseen")
sys.exit(not (memory > 700 and file == 176 and none == 0 and bits < 40))
PYTHON
    python3 measure.py | tee -a "${ENGINES_TABLE:-/dev/null}"
    [[ ${PIPESTATUS[0]} -eq 0 ]]
}

@test "scrapy: pages that wait in the queue of unseen instead survive a kill -9" {
    prepare
    whole_site
    cat >spider.py <<'PYTHON'
import subprocess, sys, scrapy

class Pages(scrapy.Spider):
    name = "pages"
    start_urls = sys.stdin.read().split()

    def parse(self, response):
        links = [response.urljoin(href) for href in response.css("a::attr(href)").getall()]
        subprocess.run(["unseen", "push", "todo.bf"], input="\n".join(links), text=True, check=True)
PYTHON
    unseen create todo.bf
    printf 'http://127.0.0.1:%d/' "$(<port)" | unseen push todo.bf
    pops() {
        "$UNSEEN" pop -m 100 todo.bf -x python3 -m scrapy runspider spider.py -s USER_AGENT=queue -s LOG_FILE=log.queue
    }
    while [[ $(unseen stats --json todo.bf | jq .waiting) -lt 60 ]]; do pops; done
    hold_at $(($(asked queue | wc -l) + 20))
    pops 3>&- &
    wait_until 60 test -e held
    kill -9 "$(pgrep -f "^[^ ]*python.* runspider spider.py .*=queue")"
    rm hold
    exits 3 wait $!
    while pops; do :; done
    exits 1 unseen pop todo.bf
    sed -i '/^POST /d' whole             # no queue has these
    row 'pop -x, push' 'the crawl' queue
    [[ $lost -eq 0 ]]
}
