#!/usr/bin/env bats
# A filter with a secret: --secret. Who does not know it cannot choose lines that do harm (hostile.bats);
# it is in the filter, never shows, and only the filter's owner may read it.

# shellcheck disable=SC2012 # names here are plain
load helper

# mode_is MODE FILE...
mode_is() {
    local mode=$1
    shift
    [[ $(stat -c %a "$@" | sort -u) == "$mode" ]] || { ls -l "$@"; return 1; }
}

# secret_of FILTER: the bytes, in hexadecimal.
secret_of() { head -c 80 "$1" | tail -c 16 | od -An -v -tx1 | tr -d ' \n'; }

# --- the option --------------------------------------------------------------------------------

@test "--secret: one unchanging line makes the filter and goes on with it" {
    seq 3000 >in
    exits 0 unseen --create --secret f.bf in
    same "$out" in
    says '^unseen: f\.bf: created \(.*, with a secret\)$'
    succeeds unseen --create --secret f.bf in
    prints ''
    # Nothing needs to be said about it again.
    succeeds unseen f.bf < <(seq 3001)
    prints '3001\n'
    exits 1 unseen query -v f.bf in
}

@test "--like: the same secret, or with --secret another one, also like a filter without" {
    creates --secret a.bf
    creates --seed 7 plain.bf
    # One line, every day.
    local i
    for i in 1 2; do
        exits 0 unseen --create --like a.bf same.bf < <(seq $i)
        prints "$i\n"
        exits 0 unseen --create --like a.bf --secret other.bf < <(seq $i)
        prints "$i\n"
        exits 0 unseen --create --like plain.bf --secret new.bf < <(seq $i)
        prints "$i\n"
    done
    [[ $(secret_of same.bf) == "$(secret_of a.bf)" ]]
    [[ $(for f in a other new; do secret_of $f.bf && echo; done | sort -u | wc -l) -eq 3 ]]
}

# --- what is printed -----------------------------------------------------------------------------

@test "another secret, other false drops; the same one, the same" {
    seq 20000 >in
    exits 0 unseen create -p 0.5 --fixed -n 10000 --secret a.bf
    creates --like a.bf --secret b.bf
    creates --like a.bf c.bf
    for f in a b c; do unseen $f.bf in >$f; done
    same c a
    run -1 cmp -s a b
    # In memory, too, each run has its own.
    unseen -p 0.5 -n 10000 --fixed --secret <in >d
    unseen -p 0.5 -n 10000 --fixed --secret <in >e
    run -1 cmp -s d e
}

@test "several who find no filter, at the same time: one secret, and each line once" {
    local i
    seq 3000 >in
    for i in 1 2 3 4 5 6; do
        unseen --create --secret f.bf in >"got.$i" 2>"said.$i" 3>&- &
    done
    for i in 1 2 3 4 5 6; do wait -n; done
    each_once in got.*
    [[ $(cat said.* | grep -c ': created (') -eq 1 ]]
    exits 1 unseen query -v f.bf in
    rm in f.bf got.? said.?
    [[ -z $(ls -A) ]]
}

# --- all that can be done with a filter --------------------------------------------------------

# everything FILTER: with keys that are made anew each time, and such that are kept.
everything() {
    exits 0 unseen "$1" < <(seq 2000)
    [[ $(wc -l <"$out") -eq 2000 ]]
    exits 0 unseen "$1" -x cat < <(seq 3000)
    [[ $(wc -l <"$out") -eq 1000 ]]
    succeeds unseen --pending keys "$1" < <(seq 4000)
    [[ $(wc -l <"$out") -eq 1000 ]]
    # A task that runs again.
    exits 0 unseen --pending keys "$1" < <(seq 4000)
    [[ $(wc -l <"$out") -eq 1000 ]]
    succeeds unseen commit "$1" keys
    exits 0 to new unseen --durable "$1" < <(seq 5000)
    [[ $(wc -l <new) -eq 1000 ]]
    succeeds unseen add "$1" < <(seq 6000)
    exits 1 unseen query -v "$1" < <(seq 6000)
    exits 1 unseen query -c "$1" < <(seq 6001 7000)
}

@test "growth, counting, a stage, windows and queues, with a secret" {
    with_stages
    local kind
    for kind in '-n 500' '-n 1M' '--window 100000' '--forget-after 9d' --counting; do
        rm -rf f.bf keys
        exits 0 unseen create $kind -p 1e-9 --secret f.bf
        everything f.bf
    done
    succeeds unseen push f.bf < <(seq 9000)
    succeeds unseen pop -m 5000 f.bf
    seq 6001 9000 | cmp - "$out"
    succeeds unseen remove f.bf < <(seq 1000)
    exits 0 unseen query f.bf < <(seq 3000)
    seq 1001 3000 | cmp - "$out"
}

@test "parts of a list do not depend on the secret; merged, they are one filter with it" {
    local part
    seq 6000 >in
    creates --shard 1/3 --secret 1.bf
    creates --like 1.bf --shard 2/3 2.bf
    creates --like 1.bf --shard 3/3 3.bf
    for part in 1 2 3; do
        unseen shard $part/3 in >part.$part
        succeeds unseen $part.bf part.$part
        same "$out" part.$part
    done
    exits 0 unseen merge -o all.bf 1.bf 2.bf 3.bf
    exits 1 unseen query -v all.bf in
    [[ $(secret_of all.bf) == "$(secret_of 1.bf)" ]]
}

# --- who may read what ---------------------------------------------------------------------------

@test "a filter with a secret is its owner's alone, whatever the umask" {
    local mask
    for mask in 0 022 077; do
        (
            umask $mask
            mkdir $mask
            cd $mask
            creates --secret a.bf
            exits 0 unseen push --create --secret b.bf < <(seq 3)
            creates --like a.bf c.bf
            creates --like a.bf --secret d.bf
            creates plain.bf
            creates --like plain.bf --secret e.bf
            succeeds unseen merge -o f.bf a.bf c.bf
            mode_is 600 [abcdef].bf
            mode_is 700 b.bf.queue
            mode_is "$(printf %o $((0666 & ~0$mask)))" plain.bf
        )
    done
    # Not even of the owner more than the umask leaves.
    (umask 277 && exits 0 unseen create --secret g.bf)
    mode_is 400 g.bf
}

@test "what takes the place of a filter does not open it to others" {
    creates a.bf
    creates --force --secret a.bf
    mode_is 600 a.bf
    creates --force a.bf
    mode_is 600 a.bf
    # Nor of an empty file.
    (umask 077 && : >b.bf)
    creates b.bf
    mode_is 600 b.bf
    creates --secret c.bf
    creates --like c.bf d.bf
    creates e.bf
    succeeds unseen merge --force -o e.bf c.bf d.bf
    mode_is 600 e.bf
    succeeds unseen merge -o c.bf c.bf d.bf
    mode_is 600 c.bf
    # Its owner has opened it to his group.
    chmod 640 c.bf
    succeeds unseen merge -o c.bf c.bf d.bf
    mode_is 640 c.bf
}

@test "verify says so if others can read a secret" {
    creates --secret g.bf
    succeeds unseen verify g.bf
    chmod 644 g.bf
    exits 1 unseen verify g.bf
    prints 'g.bf: other users can read its secret (chmod o-r g.bf)\n'
}

@test "nothing shows a secret" {
    creates --secret a.bf
    creates b.bf
    secret=$(secret_of a.bf)
    [[ $secret =~ ^[0-9a-f]{32}$ && $secret =~ [^0] ]]
    {
        unseen stats a.bf b.bf
        unseen stats --json a.bf b.bf
        unseen verify a.bf
        unseen --version
        unseen merge -o c.bf a.bf b.bf
        unseen create --like a.bf --seed 1 c.bf
        unseen --summary --json a.bf < <(seq 3)
    } >all 2>&1 || true
    [[ $(wc -l <all) -gt 30 ]]
    local half
    for half in "${secret:0:16}" "${secret:16}"; do
        run -1 grep -i "$half" all
        # As a number.
        run -1 grep "$(printf %u "0x$(fold -w 2 <<<"$half" | tac | tr -d '\n')")" all
    done
    grep -qx 'hash  *siphash-2-4-128' all
    grep -qx 'secret  *inside' all
    grep -q '"hash":"siphash-2-4-128","seed":null,"secret":"inside"' all
    grep -q '"hash":"xxh3-128","seed":0,"secret":null' all
}
