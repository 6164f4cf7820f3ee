#!/usr/bin/env bash
# Subject: golang.org/x/net/publicsuffix v0.62.0 (Go), psl 2.1.247 (crates.io), and psl 0.21.2, the
#     command of libpsl (Debian 12)
# Question: what is the registered domain of WWW.EXAMPLE.CO.UK?
# One would guess: EXAMPLE.CO.UK, or example.co.uk. Names of hosts have no case, and PyPI's and
#     npm's packages for the same list (tldextract, publicsuffixlist, psl, tldts) answer so.
# What happens: CO.UK, without an error. The three look labels up as they are written, and what the
#     list does not have falls to its rule for unknown names: the last label is the suffix. In Go
#     that is so with Unicode, too: www.食狮.公司.cn gives 公司.cn, which is a suffix itself.
# Why it matters: Go's net/url gives the host as the link has it. Who counts, keeps or drops lines
#     by site finds all sites of co.uk that were written in capitals to be a single one.
set -euo pipefail

here=$(mktemp -d)
trap 'chmod -R u+w "$here"; rm -rf "$here"' EXIT
type go cargo >/dev/null 2>&1 || { echo "skipped: no go and cargo here"; exit 77; }

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

mkdir "$here/go" "$here/rust" "$here/rust/src"
cat >"$here/go/site.go" <<'GO'
package main

import (
	"fmt"
	"net/url"
	"os"

	"golang.org/x/net/publicsuffix"
)

func main() {
	link, _ := url.Parse(os.Args[1])
	site, err := publicsuffix.EffectiveTLDPlusOne(link.Hostname())
	fmt.Println(site, err)
}
GO
cat >"$here/rust/Cargo.toml" <<'TOML'
[package]
name = "site"
version = "0.1.0"
edition = "2021"

[dependencies]
psl = "=2.1.247"
TOML
cat >"$here/rust/src/main.rs" <<'RUST'
fn main() {
    println!("{:?}", psl::domain_str(&std::env::args().nth(1).unwrap()));
}
RUST
go version
cargo --version
(cd "$here/go" && go mod init site && go get golang.org/x/net@v0.62.0) 2>"$here/log" ||
    { cat "$here/log" >&2; exit 1; }
(cd "$here/go" && go build -o "$here/in-go" .)
(cd "$here/rust" && CARGO_TARGET_DIR=$here/target cargo build -q)
(cd "$here" && apt-get download -qq psl=0.21.2-1 libpsl5=0.21.2-1 2>/dev/null &&
    dpkg -x psl_*.deb . && dpkg -x libpsl5_*.deb .) ||
    { echo "skipped: no psl 0.21.2-1 from Debian here"; exit 77; }
# debian HOST
debian() { LD_LIBRARY_PATH=$(echo "$here"/usr/lib/*-linux-gnu*) "$here/usr/bin/psl" \
    --print-reg-domain "$1"; }

rust=$here/target/debug/site
shows "Go, small letters" "$("$here/in-go" http://www.example.co.uk/)" 'example.co.uk <nil>'
shows "Go, capitals" "$("$here/in-go" http://WWW.EXAMPLE.CO.UK/)" 'CO.UK <nil>'
shows "Go, another site" "$("$here/in-go" http://Shop.Other.CO.UK/)" 'CO.UK <nil>'
shows "Go, Punycode" "$("$here/in-go" http://www.xn--85x722f.xn--55qx5d.cn/)" \
    'xn--85x722f.xn--55qx5d.cn <nil>'
shows "Go, Unicode" "$("$here/in-go" http://www.食狮.公司.cn/)" '公司.cn <nil>'
shows "Rust, small letters" "$("$rust" www.example.co.uk)" 'Some("example.co.uk")'
shows "Rust, capitals" "$("$rust" WWW.EXAMPLE.CO.UK)" 'Some("CO.UK")'
shows "Rust, Unicode" "$("$rust" www.食狮.公司.cn)" 'Some("食狮.公司.cn")'
shows "libpsl, small letters" "$(debian www.example.co.uk)" 'www.example.co.uk: example.co.uk'
shows "libpsl, capitals" "$(debian WWW.EXAMPLE.CO.UK)" 'WWW.EXAMPLE.CO.UK: CO.UK'
