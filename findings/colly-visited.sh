#!/usr/bin/env bash
# Subject: colly 2.3.0 (Go), which visits each URL once unless told otherwise
# Question: is /page#top fetched after /page? Is a URL fetched whose server could not be reached the
#     first time?
# One would guess: no, since the fragment is never sent; and yes, since nothing was visited.
# What happens: the other way round. URLs are compared with their fragments, so a page is fetched
#     once for each anchor by which it is linked. And a URL counts as visited before it is fetched,
#     so after a refused connection the next try is an error, "already visited".
# Why it matters: what is marked as seen before it was done is lost when doing it fails. A crawler
#     that visits the URL again later gets nothing.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
export GOMODCACHE=$here/modules GOFLAGS='-modcacherw -mod=mod'

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

cd "$here"
cat >go.mod <<'GO'
module visited

go 1.24
GO
cat >main.go <<'GO'
package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/gocolly/colly/v2"
)

func main() {
	fetched := 0
	count := func(http.ResponseWriter, *http.Request) { fetched++ }
	server := httptest.NewServer(http.HandlerFunc(count))
	collector := colly.NewCollector()
	for _, page := range []string{"/page", "/page", "/page#top", "/page#end"} {
		collector.Visit(server.URL + page)
	}
	fmt.Println("fetched", fetched, "times")
	server.Close()
	first := collector.Visit(server.URL + "/other")
	second := collector.Visit(server.URL + "/other")
	_, again := second.(*colly.AlreadyVisitedError)
	fmt.Println("first try failed:", first != nil, "second try already visited:", again)
}
GO
go get github.com/gocolly/colly/v2@v2.3.0 2>/dev/null
go version
go list -m github.com/gocolly/colly/v2
go build -o visited .
shows "/page, /page, /page#top, /page#end" "$(./visited | sed -n 1p)" "fetched 3 times"
shows "twice a server that is gone" "$(./visited | sed -n 2p)" \
    "first try failed: true second try already visited: true"
