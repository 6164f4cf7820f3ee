#!/usr/bin/env bats
# A filter with a secret: --secret, --secret-file, --new-secret. Who does not know it cannot choose lines
# that do harm; the secret never shows, and a filter never comes to be without it.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
# shellcheck disable=SC2016 # what sh -c gets is meant for that shell
# shellcheck disable=SC2012 # names here are plain
load helper

# A secret of our own: what is made with it is the same in every run.
known=00112233445566778899aabbccddeeff
known_secret() { echo "unseen-secret $known" >"$1" && chmod 600 "$1"; }

# mode_is MODE FILE...
mode_is() {
    local mode=$1
    shift
    [[ $(stat -c %a "$@" | sort -u) == "$mode" ]] || { ls -l "$@"; return 1; }
}

# --- the options -------------------------------------------------------------------------------

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

@test "--secret-file: the same, and without the file the filter is of no use" {
    seq 3000 >in
    exits 0 unseen --create --secret-file k f.bf in
    same "$out" in
    says '^unseen: f\.bf: created \(.*, with a secret\)$'
    grep -Exq 'unseen-secret [0-9a-f]{32}' k
    [[ $(wc -lc <k | tr -s ' ') == ' 1 47' ]]
    cp k before
    succeeds unseen --create --secret-file k f.bf in
    prints ''
    succeeds unseen --secret-file k f.bf < <(seq 3001)
    prints '3001\n'
    same k before
    local form
    for form in '' add query push remove; do
        # shellcheck disable=SC2086
        fails_with 2 '^unseen: f\.bf: ' unseen $form f.bf in
    done
    fails_with 2 '^unseen: f\.bf: its secret is in another file \(name it: --secret-file FILE\)$' unseen f.bf in
    mv k away
    fails_with 2 '^unseen: k: No such file or directory$' unseen --create --secret-file k f.bf in
}

@test "a mistyped name: --secret-file is no wish for a new filter" {
    known_secret k
    fails_with 2 "f\\.bf: No such file.*to make it: unseen --create --secret-file k f\\.bf\\)" unseen --secret-file k f.bf < <(seq 3)
    fails_with 2 "f\\.bf: No such file.*unseen push --create --secret-file k f\\.bf\\)" unseen push --secret-file k f.bf < <(seq 3)
}

@test "a wrong secret, one too many, one too few" {
    known_secret k
    exits 0 unseen create --secret-file k f.bf
    says_lines 2 '^unseen: k: exists, and the new filter gets the secret in it$'
    creates --secret-file other other.bf
    creates --secret inside.bf
    creates --counting plain.bf
    local form
    for form in '' add query stats verify pop 'commit f.bf' merge; do
        [[ $form != merge ]] || form='merge -o new.bf'
        # shellcheck disable=SC2086
        fails_with 2 '^unseen: f\.bf: its secret is not the one in other \(' unseen ${form%% *} --secret-file other f.bf ${form#"${form%% *}"} </dev/null
        # shellcheck disable=SC2086
        fails_with 2 '^unseen: inside\.bf: holds its own secret \(leave --secret-file out\)$' unseen ${form%% *} --secret-file k inside.bf ${form#"${form%% *}"} </dev/null
        # shellcheck disable=SC2086
        fails_with 2 '^unseen: plain\.bf: was made without a secret \(leave --secret-file out\)$' unseen ${form%% *} --secret-file k plain.bf ${form#"${form%% *}"} </dev/null
    done
    fails_with 2 '^unseen: plain\.bf: was made without a secret' unseen remove --secret-file k plain.bf </dev/null
    fails_with 2 '^unseen: plain\.bf: was made without --secret \(leave' unseen --secret plain.bf </dev/null
    fails_with 2 '^unseen: f\.bf: was made with --secret-file \(leave --secret out' unseen --secret f.bf </dev/null
    fails_with 2 '^unseen: inside\.bf: was made with a secret, not --seed 7 \(' unseen --seed 7 inside.bf </dev/null
    # Where no key is made the secret is not asked for; one that is given must be right.
    for form in stats verify; do
        exits 0 unseen $form f.bf
        exits 0 unseen $form --secret-file k f.bf
    done
    succeeds unseen create --if-missing f.bf
    succeeds unseen create --if-missing --secret-file k f.bf
    fails_with 2 'f\.bf: its secret is not the one in' unseen create --if-missing --secret-file other f.bf
}

@test "options that contradict each other, in each form that may make a filter" {
    local form
    known_secret k
    for form in '' create add push; do
        while IFS='|' read -r says options; do
            # shellcheck disable=SC2086
            fails_with 2 "^unseen: $says" unseen $form $options f.bf
        done <<'END'
--seed: does not go with a secret|--secret --seed 7
--seed: does not go with a secret|--secret-file k --seed 7
--secret and --secret-file: |--secret --secret-file k
--new-secret: like which filter\?|--new-secret
--new-secret: like which filter\?|--new-secret -n 1000
END
    done
    fails_with 2 '^unseen: --secret-file: needs a FILTER' unseen --secret-file k < <(seq 3)
    fails_with 2 '^unseen: --secret-file: not an option here' unseen plan -n 1e6 --secret-file k
    fails_with 2 '^unseen: --secret: not an option here' unseen query --secret f.bf
    fails_with 2 '^unseen: \./new: is both FILTER and the file of its secret' unseen create --secret-file ./new new
}

@test "the file of a secret is nothing else at the same time" {
    known_secret k
    exits 0 unseen push --create --secret-file k f.bf
    cp k before
    fails_with 2 '^unseen: k: is the file for ' unseen --secret-file k f.bf -a k < <(seq 3)
    fails_with 2 '^unseen: k: is the file for ' unseen --secret-file k f.bf --dropped k < <(seq 3)
    fails_with 2 '^unseen: k: is the file for ' unseen --secret-file k f.bf --pending k < <(seq 3)
    fails_with 2 '^unseen: k: is the file for ' unseen --secret-file k f.bf k
    fails_with 2 '^unseen: k: is the file for ' unseen pop --secret-file k f.bf --tries 1 --failed k -x cat
    fails_with 2 '^unseen: k: is the file for ' appending_to k unseen --secret-file k f.bf < <(seq 3)
    same k before
}

# --- the file of a secret ------------------------------------------------------------------------

@test "a file that is no secret is refused by name, and never written over" {
    creates --secret-file k f.bf
    local text
    while IFS= read -r text; do
        # shellcheck disable=SC2059
        printf "$text" >bad
        fails_with 2 '^unseen: bad: does not hold a secret \(' unseen --secret-file bad f.bf < <(seq 3)
        fails_with 2 '^unseen: bad: does not hold a secret \(' unseen create --secret-file bad new.bf
    done <<'END'

unseen-secret
unseen-secret 00112233445566778899aabbccddeeff
unseen-secret 00112233445566778899AABBCCDDEEFF\n
unseen-secret 00112233445566778899aabbccddeef\n
unseen-secret 00112233445566778899aabbccddeeff\r\n
unseen-secret 00112233445566778899aabbccddeeff\n\n
unseen-secret  0112233445566778899aabbccddeeff\n
unseen-secret 0x112233445566778899aabbccddeeff\n
unseen-secret +1112233445566778899aabbccddeeff\n
unseen-secret 00112233445566778899aabbccddeefg\n
unseen-Secret 00112233445566778899aabbccddeeff\n
00112233445566778899aabbccddeeff\n
\0nseen-secret 00112233445566778899aabbccddeeff\n
END
    fails_with 2 '^unseen: f\.bf: does not hold a secret' unseen create --secret-file f.bf new.bf
    mkdir directory
    fails_with 2 '^unseen: directory: Is a directory' unseen create --secret-file directory new.bf
    mkfifo fifo
    # Nobody reads it, or writes to it.
    fails_with 2 '^unseen: fifo: is not a regular file' unseen create --secret-file fifo new.bf
    fails_with 2 '^unseen: fifo: is not a regular file' unseen --secret-file fifo f.bf < <(seq 3)
    fails_with 2 '^unseen: none/k: No such file.*no directory none' unseen create --secret-file none/k new.bf
    ln -s nowhere link
    fails_with 2 '^unseen: link: ' unseen create --secret-file link new.bf
}

@test "the keys are those of SipHash: page, lines and bits as by hand" {
    local bit bits=() byte
    # Of http://example.com/, in unseen(5): hi and lo.
    local hi=0x88c0165ace09aaa4 lo=0x682be38b3c9c21a1 mix line stride j t
    (umask 077 && echo unseen-secret 000102030405060708090a0b0c0d0e0f >k)
    exits 0 unseen create --secret-file k -n 1e6 --bits-per-key 32.768 --hashes 18 f.bf
    exits 0 unseen add --secret-file k f.bf < <(echo http://example.com/)
    ((mix = hi * 0x9e3779b97f4a7c15, line = mix >> 58 & 63, stride = mix >> 52 & 63 | 1))
    # Its page is 0x88c0165ace09aaa4 / 2^64 * 1000: 534.
    for ((j = 0; j < 3; j++, lo += hi | 1, line = (line + stride) % 64)); do
        for ((t = 0; t < 6; t++)); do
            bits+=($(((534 * 64 + line) * 512 + (lo >> 9 * t & 511))))
        done
    done
    for bit in "${bits[@]}"; do
        byte=$(layer f.bf | od -An -v -tu1 -j $((bit / 8)) -N 1)
        [[ $((byte >> bit % 8 & 1)) -eq 1 ]] || { echo "bit $bit: byte $byte"; false; }
    done
    # and no others
    layer f.bf | od -An -v -tu1 -w1 | awk '{ while ($1 > 0) { n += $1 % 2; $1 = int($1 / 2) } } END { exit n != 18 }'
    # Its UUID is random, and so is its check value, which anybody with the secret can work out.
    succeeds unseen query --secret-file k f.bf < <(echo http://example.com/)
}

@test "one file for many filters: what differs is their check value, and nothing tells it" {
    known_secret k
    exits 0 unseen create --secret-file k a.bf
    exits 0 unseen create --secret-file k b.bf
    says_lines 2 '^unseen: k: exists, '
    succeeds unseen add --secret-file k a.bf < <(seq 1000)
    succeeds unseen add --secret-file k b.bf < <(seq 1000)
    layer a.bf | cmp - <(layer b.bf)
    run -1 cmp -s <(head -c 104 a.bf | tail -c 8) <(head -c 104 b.bf | tail -c 8)
    # Elsewhere the place of the key is empty.
    [[ $(head -c 96 a.bf | tail -c 32 | tr -d '\0' | wc -c) -eq 0 ]]
}

@test "a secret that others can read is told, by a run and by verify" {
    creates --secret-file k f.bf
    chmod 604 k
    exits 0 unseen --secret-file k f.bf < <(seq 3)
    prints '1\n2\n3\n'
    says '^unseen: k: others can read this secret, and choose lines with it \(chmod o-r k\)$'
    chmod 640 k
    succeeds unseen --secret-file k f.bf < <(seq 3)
    creates --secret g.bf
    succeeds unseen verify f.bf g.bf
    chmod 644 g.bf
    exits 1 unseen verify f.bf g.bf
    prints 'g.bf: others can read the secret in it (chmod o-r g.bf)\n'
}

@test "another user's file gives no secret to a new filter" {
    [[ $(id -u) -eq 0 ]] || skip "needs root"
    public_directory
    known_secret k
    chmod 644 k
    chmod 777 .
    exits 0 as_nobody "$public/unseen" create --secret-file k own.bf
    chown 1 k
    unchanged exits 2 as_nobody "$public/unseen" create --secret-file k f.bf
    says '^unseen: k: belongs to another user, who knows the secret in it \('
    unchanged exits 2 unseen create --secret-file k f.bf
    chown 0 k
    chmod 602 k
    unchanged exits 2 unseen create --secret-file k f.bf
    says '^unseen: k: others can write to it, so they may know the secret in it \('
    chmod 644 k
    # What was made with it goes on.
    exits 0 as_nobody "$public/unseen" --secret-file k own.bf < <(seq 3)
    prints '1\n2\n3\n'
}

# --- what is printed -----------------------------------------------------------------------------

@test "p = 0.5: the lines and the file alone decide what is printed" {
    local kind filter file way
    mixed_lines 20000 9000 >in
    known_secret k
    for kind in '-n 3000' '-n 500' '--counting -n 3000' '--window 4000' '--fixed -n 1000'; do
        rm -f ./*.bf wanted
        # shellcheck disable=SC2086
        exits 0 unseen create -p 0.5 $kind --secret inside.bf
        # shellcheck disable=SC2086
        exits 0 unseen create -p 0.5 $kind --secret-file k elsewhere.bf
        for filter in inside elsewhere; do
            file=
            [[ $filter = inside ]] || file='--secret-file k'
            cp $filter.bf f.bf
            # shellcheck disable=SC2086
            unseen $file f.bf in >wanted 2>said
            for way in '-j1 f.bf in' '-j2 f.bf in' '--buffer-size 64K f.bf -' pause; do
                cp $filter.bf f.bf
                # shellcheck disable=SC2086
                case $way in
                pause) { head -n 7000 in; sleep 0.2; tail -n +7001 in; } | unseen $file f.bf ;;
                *) unseen $file $way <in ;;
                esac >got 2>said
                same got wanted || { echo "$kind, $filter, $way"; return 1; }
            done
        done
    done
}

@test "another secret, other false drops; the same one, the same" {
    seq 20000 >in
    exits 0 unseen create -p 0.5 --fixed -n 10000 --secret a.bf
    creates --like a.bf --new-secret b.bf
    creates --like a.bf c.bf
    for f in a b c; do unseen $f.bf in >$f; done
    same c a
    run -1 cmp -s a b
    # In memory, too, each run has its own.
    unseen -p 0.5 -n 10000 --fixed --secret <in >d
    unseen -p 0.5 -n 10000 --fixed --secret <in >e
    run -1 cmp -s d e
}

@test "two writers at once: each line comes out of one of them" {
    seq 100000 >in
    known_secret k
    exits 0 unseen create --secret-file k f.bf
    unseen --secret-file k f.bf in >one 3>&- &
    unseen --secret-file k f.bf in >two
    wait $!
    each_once in one two
}

@test "several who find no filter, at the same time: one secret, and each line once" {
    local i
    seq 3000 >in
    for i in 1 2 3 4 5 6; do
        unseen --create --secret-file k f.bf in >"got.$i" 2>"said.$i" 3>&- &
    done
    for i in 1 2 3 4 5 6; do wait -n; done
    each_once in got.*
    [[ $(cat said.* | grep -c ': created (') -eq 1 ]]
    succeeds unseen query -v --secret-file k f.bf in || [[ $code -eq 1 ]]
    rm in k f.bf got.? said.?
    [[ -z $(ls -A) ]]
}

# --- all that can be done with a filter --------------------------------------------------------

# everything FILTER [OPTION...]: with keys that are made anew each time, and such that are kept.
everything() {
    local filter=$1
    shift
    exits 0 unseen "$@" "$filter" < <(seq 2000)
    [[ $(wc -l <"$out") -eq 2000 ]]
    exits 0 unseen "$@" "$filter" -x cat < <(seq 3000)
    [[ $(wc -l <"$out") -eq 1000 ]]
    succeeds unseen "$@" --pending keys "$filter" < <(seq 4000)
    [[ $(wc -l <"$out") -eq 1000 ]]
    # A task that runs again.
    exits 0 unseen "$@" --pending keys "$filter" < <(seq 4000)
    [[ $(wc -l <"$out") -eq 1000 ]]
    succeeds unseen commit "$filter" keys
    exits 0 to new unseen "$@" --durable "$filter" < <(seq 5000)
    [[ $(wc -l <new) -eq 1000 ]]
    succeeds unseen add "$@" "$filter" < <(seq 6000)
    exits 1 unseen query -v "$@" "$filter" < <(seq 6000)
    exits 1 unseen query -c "$@" "$filter" < <(seq 6001 7000)
}

@test "growth, counting, a stage, windows, parts and queues, with a secret in the filter or elsewhere" {
    local kind where file
    for where in --secret '--secret-file k'; do
        for kind in '-n 500' --counting '-n 1M --stage 1M' '--window 100000' '--forget-after 9d'; do
            rm -rf f.bf f.bf.queue k keys
            # shellcheck disable=SC2086
            creates $kind -p 1e-9 $where f.bf
            file=${where#--secret}
            # shellcheck disable=SC2086
            everything f.bf ${file:+$where}
        done
        rm -rf f.bf f.bf.queue k
        # shellcheck disable=SC2086
        creates --queue --counting -p 1e-9 $where f.bf
        file=${where#--secret}
        # shellcheck disable=SC2086
        succeeds unseen push ${file:+$where} f.bf < <(seq 3000)
        # shellcheck disable=SC2086
        succeeds unseen push ${file:+$where} f.bf < <(seq 3000)
        succeeds unseen pop -m 5000 f.bf
        seq 3000 | cmp - "$out"
        # shellcheck disable=SC2086
        succeeds unseen remove ${file:+$where} f.bf < <(seq 1000)
        # shellcheck disable=SC2086
        exits 0 unseen query ${file:+$where} f.bf < <(seq 3000)
        seq 1001 3000 | cmp - "$out"
    done
}

@test "parts of a list do not depend on the secret; merged, they are one filter with it" {
    known_secret k
    local part
    seq 6000 >in
    for part in 1 2 3; do
        exits 0 unseen create --shard $part/3 --secret-file k $part.bf
        unseen shard $part/3 in >part.$part
        succeeds unseen --secret-file k $part.bf part.$part
        same "$out" part.$part
    done
    fails_with 2 'its secret is in another file' unseen merge -o all.bf 1.bf 2.bf 3.bf
    exits 0 unseen merge --secret-file k -o all.bf 1.bf 2.bf 3.bf
    exits 1 unseen query -v --secret-file k all.bf in
}

@test "merge: only with one secret; the new filter has it, under its own UUID" {
    seq 3000 >in
    known_secret k
    exits 0 unseen create --secret-file k a.bf
    creates --like a.bf --secret-file k b.bf
    succeeds unseen add --secret-file k a.bf < <(seq 2000)
    succeeds unseen add --secret-file k b.bf < <(seq 1001 3000)
    succeeds unseen merge --secret-file k -o ab.bf a.bf b.bf
    mode_is 644 ab.bf
    exits 1 unseen query -v --secret-file k ab.bf in
    # Into one of them.
    succeeds unseen merge --secret-file k -o a.bf a.bf b.bf
    exits 1 unseen query -v --secret-file k a.bf in
    creates --secret-file other c.bf
    fails_with 2 '^unseen: c\.bf: its secret is not the one in' unseen merge --secret-file k -o new.bf a.bf c.bf

    creates --secret d.bf
    creates --like d.bf e.bf
    creates --like d.bf --new-secret f.bf
    succeeds unseen add d.bf in
    succeeds unseen merge -o de.bf e.bf d.bf
    exits 1 unseen query -v de.bf in
    fails_with 2 '^unseen: f\.bf: cannot be merged with d\.bf: its secret is another one, not the same \(' unseen merge -o new.bf d.bf f.bf
    creates g.bf
    fails_with 2 '^unseen: g\.bf: cannot be merged with d\.bf: its hash is XXH3, not SipHash with a secret in the filter \(' unseen merge -o new.bf d.bf g.bf
}

@test "--like: the same secret, or with --new-secret another one of the same kind" {
    known_secret k
    exits 0 unseen create --secret-file k a.bf
    creates --secret b.bf
    creates c.bf
    fails_with 2 '^unseen: a\.bf: its secret is in another file' unseen create --like a.bf new.bf
    fails_with 2 '^unseen: k: has the secret of a\.bf, not a new one \(' unseen create --like a.bf --new-secret --secret-file k new.bf
    fails_with 2 '^unseen: --new-secret: the secret of a\.bf is in another file \(' unseen create --like a.bf --new-secret new.bf
    fails_with 2 '^unseen: b\.bf: holds its own secret' unseen create --like b.bf --secret-file new new.bf
    fails_with 2 '^unseen: b\.bf: holds its own secret' unseen create --like b.bf --new-secret --secret-file new new.bf
    fails_with 2 '^unseen: c\.bf: was made without a secret' unseen create --like c.bf --new-secret new.bf
    fails_with 2 '^unseen: c\.bf: was made without a secret' unseen create --like c.bf --secret-file new new.bf
    fails_with 2 '^unseen: --seed: b\.bf has a secret instead \(' unseen create --like b.bf --seed 1 new.bf
    fails_with 2 '^unseen: --secret and --like: ' unseen create --like b.bf --secret new.bf
    # One line, every day.
    local i
    for i in 1 2; do
        exits 0 unseen --create --like a.bf --new-secret --secret-file k2 a2.bf < <(seq $i)
        exits 0 unseen --create --like b.bf --new-secret b2.bf < <(seq $i)
        exits 0 unseen --create --like b.bf b3.bf < <(seq $i)
        exits 0 unseen --create --like a.bf --secret-file k a3.bf < <(seq $i)
        prints "$i\n"
    done
    run -1 cmp -s k k2
    fails_with 2 '^unseen: b3\.bf: was made with the secret of b\.bf' unseen --create --like b.bf --new-secret b3.bf < <(seq 3)
    fails_with 2 '^unseen: b2\.bf: was not made --like b\.bf: its secret is another one' unseen --create --like b.bf b2.bf < <(seq 3)
    fails_with 2 '^unseen: b\.bf: was not made --like a\.bf|holds its own secret' unseen --create --like a.bf --secret-file k b.bf < <(seq 3)
}

# --- who may read what ---------------------------------------------------------------------------

@test "a filter with its secret is its owner's alone, whatever the umask; the file of a secret likewise" {
    local mask
    for mask in 0 022 077; do
        (
            umask $mask
            mkdir $mask
            cd $mask
            creates --secret a.bf
            exits 0 unseen --create --secret --queue b.bf < <(seq 3)
            creates --secret-file k c.bf
            creates --like a.bf d.bf
            creates --like a.bf --new-secret e.bf
            succeeds unseen merge -o f.bf a.bf d.bf
            mode_is 600 a.bf b.bf d.bf e.bf f.bf k
            mode_is 700 b.bf.queue
            mode_is "$(printf %o $((0666 & ~0$mask)))" c.bf
        )
    done
    # Not even of the owner more than the umask leaves.
    (umask 277 && exits 0 unseen create --secret-file k c.bf)
    mode_is 400 k c.bf
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

@test "nothing shows a secret" {
    known_secret k
    exits 0 unseen create --secret-file k a.bf
    creates --secret b.bf
    # That of the filter, as its bytes are in it.
    inside=$(head -c 80 b.bf | tail -c 16 | od -An -v -tx1 | tr -d ' \n')
    [[ $inside =~ ^[0-9a-f]{32}$ && $inside != 0000* ]]
    {
        unseen stats a.bf b.bf
        unseen stats --json a.bf b.bf
        unseen stats --json --secret-file k a.bf
        unseen verify a.bf b.bf
        unseen --version
        unseen merge -o c.bf a.bf b.bf
        unseen create --like b.bf --seed 1 c.bf
        unseen --secret-file k --summary=json a.bf < <(seq 3)
    } >all 2>&1 || true
    [[ $(wc -l <all) -gt 30 ]]
    local half
    for half in ${known:0:16} ${known:16} "${inside:0:16}" "${inside:16}"; do
        run -1 grep -i "$half" all
        # As a number.
        run -1 grep "$(printf %u "0x$(fold -w 2 <<<"$half" | tac | tr -d '\n')")" all
    done
    grep -q '^hash  *siphash-2-4-128, its secret is in another file$' all
    grep -q '^hash  *siphash-2-4-128, its secret is in the filter$' all
    grep -q '"hash":"siphash-2-4-128","seed":null,"secret":"elsewhere"' all
    grep -q '"hash":"siphash-2-4-128","seed":null,"secret":"inside"' all
    creates d.bf
    succeeds unseen stats --json d.bf
    grep -q '"hash":"xxh3-128","seed":0,"secret":null' "$out"
}

@test "stats of filters whose secrets nobody named says nothing of their overlap" {
    known_secret k
    exits 0 unseen create --secret-file k a.bf
    exits 0 unseen create --secret-file k b.bf
    creates --secret-file other c.bf
    exits 0 unseen stats a.bf c.bf
    grep -q '^union, overlap  *not known' "$out"
    exits 0 unseen stats --secret-file k a.bf b.bf
    grep -q '^union  *0 lines' "$out"
}

# --- on its way to the disk -----------------------------------------------------------------------

# made OPTION...: f.bf with a secret in k, traced.
made() {
    strace -qq -f -o "$BATS_TEST_TMPDIR/trace" -e trace=fsync,renameat2,openat,pwrite64 "$@" \
        "$UNSEEN" create --secret-file k f.bf
}

@test "the secret is on disk, with its name, before the filter has its name" {
    need_strace
    exits 0 made
    awk '
        /^[0-9]+ +pwrite64/ && /unseen-secret/ { written = NR }
        /fsync\(/ { fsyncs[++count] = NR }
        /renameat2\(.*"k"/ { secret = NR }
        /renameat2\(.*"f\.bf"/ { filter = NR }
        END {
            for (i = 1; i <= count; i++) {
                data += fsyncs[i] > written && fsyncs[i] < secret
                name += fsyncs[i] > secret && fsyncs[i] < filter
            }
            # After its name come the fsync of the directory, and that of the filter.
            exit !(written && secret && filter && data >= 1 && name >= 2)
        }' "$BATS_TEST_TMPDIR/trace" || { cat "$BATS_TEST_TMPDIR/trace"; false; }
}

@test "killed while a filter is made: no filter without its secret, and the next run makes it" {
    need_strace
    local call left
    for call in fsync:signal=KILL:when=1 renameat2:signal=KILL:when=1 fsync:signal=KILL:when=2 fsync:signal=KILL:when=3 renameat2:signal=KILL:when=2; do
        rm -f k f.bf
        exits 137 made -e inject=$call
        # strace does not do the call.
        [[ ! -e k ]] || grep -Exq 'unseen-secret [0-9a-f]{32}' k
        left=$(ls)
        [[ -z $left || $left == k ]]
        rm -f .k.* .f.bf.*
        exits 0 unseen --create --secret-file k f.bf < <(seq 3)
        prints '1\n2\n3\n'
    done
}

@test "a disk that is full, or fails: no filter without its secret on disk" {
    need_strace
    local call
    for call in pwrite64:error=ENOSPC:when=1 fsync:error=EIO fsync:error=ENOSPC:when=1; do
        rm -f k f.bf
        exits 2 made -e inject=$call
        says '^unseen: k: cannot be created: '
        [[ -z $(ls -A) ]]
    done
    # There is room for the filter, and then none for its secret.
    need_mounts
    tiny() {
        unshare -m sh -c 'mkdir -p full && mount -t tmpfs -o size=2M,nr_inodes=2 none full && cd full && "$1" create --secret-file k f.bf; status=$?; ls -A >../left; exit $status' sh "$UNSEEN"
    }
    exits 2 tiny
    [[ ! -s left ]]
}

@test "a secret is not put where the filter puts files of its own: one would be removed as left over" {
    for name in f.bf.flight-0 f.bf.queue f.bf.queue/k; do
        exits 2 unseen create --secret-file $name f.bf
        says "^unseen: $name: is a name for files of the filter itself"
        [[ -z $(ls -A) ]]
    done
}
