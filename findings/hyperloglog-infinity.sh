#!/usr/bin/env bash
# Subject: probabilistic-collections 0.7.0 (crates.io), its HyperLogLog
# Question: a counter made for an error of 1% is given 100,000 numbers. What does len() say?
# One would guess: 100,000, give or take 1,000.
# What happens: inf. The formula for its estimate is upside down, so the result is always tiny, and
#     always goes the way for small counts, which divides by the number of registers that are still
#     zero. Once there are none, it answers infinity: with an error of 5% from about 1,000 numbers
#     on, with 1% from about 10,000.
# Why it matters: the number of distinct lines decides how large a filter is made. As a u64 of Rust
#     infinity is 2^64 - 1, and a filter for so many lines is what one asks for.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

cd "$here"
mkdir src
cat >Cargo.toml <<'TOML'
[package]
name = "count"
version = "0.1.0"
edition = "2021"

[dependencies]
probabilistic-collections = "=0.7.0"
TOML
cat >src/main.rs <<'RUST'
use probabilistic_collections::hyperloglog::HyperLogLog;

fn main() {
    for (error, numbers) in [(0.01, 100u64), (0.05, 5_000), (0.01, 20_000), (0.01, 100_000)] {
        let mut counter = HyperLogLog::<u64>::new(error);
        for number in 0..numbers {
            counter.insert(&number);
        }
        let count = counter.len();
        let close = (count - numbers as f64).abs() < 0.2 * numbers as f64;
        println!("{error} {numbers}: {}", if close { "close".into() } else { count.to_string() });
    }
}
RUST
cargo --version
CARGO_TARGET_DIR=$here/target cargo run -q 2>/dev/null >out
grep -A1 '^name = "probabilistic-collections"' Cargo.lock
shows "error, numbers: answer" "$(paste -sd, out)" \
    "0.01 100: close,0.05 5000: inf,0.01 20000: inf,0.01 100000: inf"
