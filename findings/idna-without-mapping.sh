#!/usr/bin/env bash
# Subject: idna.ToASCII of golang.org/x/net v0.62.0 (Go), punycode 2.3.1 (npm)
# Question: do BÜCHER.de and bücher.de become the same name?
# One would guess: yes, xn--bcher-kva.de. ToASCII is what the standards call the whole step, which
#     first maps to small letters; so do node's own domainToASCII, Java's IDN and Python's codec.
# What happens: BÜCHER.de becomes xn--BCHER-2pa.de, which IDNA does not allow as a name. Both only
#     encode: capitals, or ü as u and a mark, keep their code points. To put the result in small
#     letters does not help: the capital Ü is in the digits after the hyphen.
# Why it matters: a list of hosts that was put through it has sites twice and names that do not
#     resolve. In Go idna.Lookup.ToASCII is what one meant.
set -euo pipefail

here=$(mktemp -d)
trap 'chmod -R u+w "$here"; rm -rf "$here"' EXIT
type go node npm >/dev/null 2>&1 || { echo "skipped: no go, node and npm here"; exit 77; }

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

cd "$here"
cat >hosts.go <<'GO'
package main

import (
	"fmt"
	"os"

	"golang.org/x/net/idna"
)

func main() {
	plain, err := idna.ToASCII(os.Args[1])
	lookup, err2 := idna.Lookup.ToASCII(os.Args[1])
	fmt.Println(plain, err, lookup, err2)
}
GO
go version
node --version
(go mod init hosts && go get golang.org/x/net/idna@v0.62.0 && go build -o hosts .) 2>log ||
    { cat log >&2; exit 1; }
npm install --silent --no-save punycode@2.3.1 >log 2>&1 || { cat log >&2; exit 1; }
cat >hosts.js <<'JS'
const [host] = process.argv.slice(2);
console.log(require("punycode/").toASCII(host), require("url").domainToASCII(host));
JS
small=xn--bcher-kva.de
shows "Go's ToASCII and Lookup, bücher.de" "$(./hosts bücher.de)" "$small <nil> $small <nil>"
shows "Go's ToASCII and Lookup, BÜCHER.de" "$(./hosts BÜCHER.de)" \
    "xn--BCHER-2pa.de <nil> $small <nil>"
shows "Go's ToASCII and Lookup, u and a mark" "$(./hosts $'bu\u0308cher.de')" \
    "xn--bucher-xyd.de <nil> $small <nil>"
shows "punycode and node's url, bücher.de" "$(node hosts.js bücher.de)" "$small $small"
shows "punycode and node's url, BÜCHER.de" "$(node hosts.js BÜCHER.de)" "xn--BCHER-2pa.de $small"
