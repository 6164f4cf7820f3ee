#!/usr/bin/env bash
# Subject: serde_json 1.0.154 (crates.io), with its default features
# Question: a line of JSON is read into a Value and written again, as filters in Rust do. What
#     becomes of its numbers, and what if a second such program follows?
# One would guess: 1.10 becomes 1.1; a double that was written in its shortest form stays, since
#     the reader is exact and the writer prints the shortest form, too.
# What happens: the reader is off by one in the last bit for one in nine doubles between 0 and 1,
#     and another number is written. Around 1e-8 one in ten changes again in the second pass, and
#     some alternate for ever between two forms. The feature float_roundtrip makes it exact, and
#     any crate of the program may turn it on for all.
# Why it matters: measurements, scores and coordinates are such doubles. A line that has passed one
#     program is another one than the line that has not, or that has passed two. So what was seen
#     before a step was put in is new after it.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
type cargo python3 >/dev/null 2>&1 || { echo "skipped: no cargo and python3 here"; exit 77; }

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

cd "$here"
mkdir src
cat >src/main.rs <<'RUST'
use std::io::BufRead;

fn pass(line: &str) -> String {
    serde_json::from_str::<serde_json::Value>(line).unwrap().to_string()
}

// Prints its argument after one pass. Without one, counts the lines that the first pass changes,
// the second, and each of the 99th and the 100th.
fn main() {
    if let Some(line) = std::env::args().nth(1) {
        return println!("{}", pass(&line));
    }
    let (mut first, mut second, mut always) = (0, 0, 0);
    for line in std::io::stdin().lock().lines() {
        let mut forms = vec![line.unwrap()];
        for i in 0..100 {
            forms.push(pass(&forms[i]));
        }
        first += (forms[0] != forms[1]) as u32;
        second += (forms[1] != forms[2]) as u32;
        always += (forms[98] != forms[99] && forms[99] != forms[100]) as u32;
    }
    println!("{first} {second} {always}");
}
RUST
# build FEATURES: builds ./passes with these features of serde_json.
build() {
    printf '%s\n' '[package]' 'name = "passes"' 'version = "0.1.0"' 'edition = "2021"' \
        '[dependencies]' "serde_json = { version = \"=1.0.154\", features = [$1] }" >Cargo.toml
    CARGO_TARGET_DIR=$here/target cargo build --release --quiet 2>log || { cat log >&2; exit 1; }
}
# numbers FACTOR: 10,000 doubles below FACTOR, in the shortest form.
numbers() {
    python3 -c 'import json, random, sys
random.seed(1)
for _ in range(10000):
    print(json.dumps(random.random() * float(sys.argv[1])).replace("e-0", "e-"))' "$1"
}
cargo --version
build ''
shows "0.9452706955539223" "$(target/release/passes 0.9452706955539223)" 0.9452706955539224
shows "of 10,000 below 1, changed by the first, the second, each pass" \
    "$(numbers 1 | target/release/passes)" "1092 0 0"
shows "below 180" "$(numbers 180 | target/release/passes)" "1161 0 0"
shows "below 1e-7" "$(numbers 1e-7 | target/release/passes)" "3827 1068 166"
shows "prices from 0.11 to 99.99" \
    "$(seq 11 9999 | sed '/0$/d; s/..$/.&/; s/^\./0./' | target/release/passes)" "0 0 0"
build '"float_roundtrip"'
shows "below 1e-7, float_roundtrip" "$(numbers 1e-7 | target/release/passes)" "0 0 0"
