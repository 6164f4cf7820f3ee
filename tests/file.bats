#!/usr/bin/env bats
# A filter file: what it remembers, how it is made, what is compared with it.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
load helper

# --- remembered between runs -------------------------------------------------

@test "three runs of a third each give the first occurrences of the whole" {
    mixed_lines 30000 12000 >in
    lines_unique in >wanted
    split -n l/3 in third.
    local part
    for part in third.*; do
        exits 0 unseen --create seen.bf <"$part"
        cat "$out" >>got
    done
    same got wanted
}

@test "a further run prints nothing, says nothing, exits 0" {
    mixed_lines 30000 12000 >in
    exits 0 unseen --create seen.bf <in
    succeeds unseen seen.bf <in
    prints ''
    succeeds unseen seen.bf in
    prints ''
    succeeds unseen --create seen.bf <in
    prints ''
}

@test "add remembers and prints nothing" {
    seq 100 >in
    exits 0 unseen add --create f.bf <in
    prints ''
    says 'f\.bf: created \('
    succeeds unseen add f.bf <in
    prints ''
    succeeds unseen query -c f.bf <in
    prints '100\n'
    seq 200 >more.txt
    succeeds unseen add f.bf more.txt in
    prints ''
    succeeds unseen query -c f.bf < <(seq 300)
    prints '200\n'
    succeeds unseen f.bf more.txt
    prints ''
}

@test "add equals the filter form: the same answers" {
    seq 20000 >in
    exits 0 unseen add --create -n 1000 -p 0.01 a.bf <in
    exits 0 unseen --create -n 1000 -p 0.01 b.bf <in
    seq 1000000 1100000 >others
    succeeds unseen query a.bf others
    cp "$out" wanted
    succeeds unseen query b.bf others
    same "$out" wanted
}

# --- how one is started ------------------------------------------------------

@test "an absent filter is an error with the way out" {
    local line='unseen: seen.bf: No such file or directory (to make it: unseen --create seen.bf)'
    fails_with 2 'No such file' unseen seen.bf < <(seq 3)
    [[ $(cat "$err") == "$line" ]] || complain "wanted: $line"
    fails_with 2 'No such file' unseen -e -z seen.bf < <(seq 3)
    [[ $(cat "$err") == "$line" ]] || complain "wanted: $line"
    fails_with 2 'sub/seen\.bf: No such file or directory \(there is no directory sub\)' \
        unseen sub/seen.bf < <(seq 3)
}

# leads_on ARGUMENT...: it fails, and works after what its message says was done.
leads_on() {
    local advice
    seq 3 >in
    fails_with 2 '^unseen: .*: (No such file or directory|is empty, not a filter) \(to make it' \
        unseen "$@" in || return 1
    advice=$(sed 's/.*(to make it\( one\)\?: unseen \(.*\))$/\2/' "$err")
    eval "exits 0 unseen $advice" </dev/null && says ': created \(' && succeeds unseen "$@" in
}

@test "what makes an absent filter is said so that it can be pasted, whatever its name and its options" {
    local name form
    seq 3 >in
    # shellcheck disable=SC2016
    for name in a.bf 'b c.bf' "d'e.bf" ./f '$g.bf' "*.bf"; do
        for form in '' add push; do
            # shellcheck disable=SC2086 # none, or one
            leads_on $form "$name" || return 1
            rm -rf -- "$name" "$name.queue"
        done
    done
    : >empty.bf
    leads_on empty.bf
    leads_on -- -dash
    leads_on -f 2 -t ';' -e --size=1M fields.bf
    leads_on add -p1% --trim --fixed -n 1e3 add.bf
    leads_on push --by url queue.bf
    : >app.log
    leads_on -i --window 1k app.log
}

@test "what only reads a filter is told no way to make one" {
    local command
    seq 3 >in
    for command in query stats verify pop remove 'create new.bf --like'; do
        # shellcheck disable=SC2086 # several words
        fails_with 2 'nothing\.bf: No such file or directory \(is the name right\?\)$' \
            unseen $command nothing.bf
    done
    : >empty.bf
    fails_with 2 'empty\.bf: is empty, not a filter \(is the name right\?\)$' unseen query empty.bf in
}

@test "lines where FILTER should be: the usage of this very command" {
    seq 3 >lines
    fails_with 2 '^unseen: \./lines: is not a filter \(to read it as lines: unseen < \./lines\)$' unseen ./lines
    fails_with 2 '\(FILTER comes first: unseen FILTER FILE\.\.\.\)$' unseen ./lines other
    fails_with 2 '\(FILTER comes first: unseen commit FILTER FILE\.\.\.\)$' unseen commit lines lines
    fails_with 2 '\(FILTER comes first: unseen query FILTER \[FILE\.\.\.\]\)$' unseen query lines
    fails_with 2 '\(is the name right\?\)$' unseen stats lines
}

@test "control characters of a name are shown, and never sent to the terminal" {
    fails_with 2 '^unseen: a\\x1b\[31m\\nb\\x7f: No such file' unseen query $'a\e[31m\nb\x7f' </dev/null
    [[ $(wc -l <"$err") == 1 ]]
    fails_with 2 '^unseen: \\xc2\\x9b: No such file' unseen query $'\xc2\x9b' </dev/null
    fails_with 2 $'^unseen: \xc3\xa4: No such file' unseen query $'\xc3\xa4' </dev/null
    # a byte that is no UTF-8 is a control character to many terminals; reports are text, too
    local name=$'a\n\e[31m\x9bb.bf'
    fails_with 2 '^unseen: a\\n\\x1b\[31m\\x9bb\.bf: No such file' unseen query "$name" </dev/null
    leads_on "$name" || return 1
    succeeds unseen stats "$name"
    grep -Eq '^filter +a\\n\\x1b\[31m\\x9bb\.bf$' "$out" || complain
    exits 0 unseen create --fixed -n 10000 -p 1e-2 --force "$name"
    exits 0 unseen "$name" < <(seq 15000)
    exits 1 unseen verify "$name"
    grep -q '^a\\n\\x1b\[31m\\x9bb\.bf: ' "$out" || complain
}

@test "--create makes it and says so in one line" {
    seq 3 >in
    exits 0 unseen --create seen.bf <in
    same "$out" in
    says '^unseen: seen\.bf: created \(.*\)$'
    [[ -f seen.bf ]]
}

# What says what a new filter is to be, as few words as it goes with, and what is wrong with another.
making='-n 1000|-n 2000
-p 1e-3|-p 1e-4
--size 1M|--size 2M
--size 96K -n 1000|--size 128K
--bits-per-key 20 -n 100k|--bits-per-key 30 -n 100k
--hashes 8|--hashes 3
--seed 7|--seed 8
--fixed -n 1000|--fixed -n 2000
--window 1000|--window 2000
--forget-after 7d|--forget-after 8d
--counting|--window 9
--shard 1/1|--shard 1/2
--like like.bf|--like other.bf
-f 2|-f 3
-f 2 -t ,|-f 2 -t ;
--by url|--by host
-i|--trim
--trim|-i'

@test "every option that says what a new filter is to be needs --create: the plain form, add, push" {
    local options other form
    printf 'a,1\nb,2\n' >in
    exits 0 unseen create -n 777 like.bf
    exits 0 unseen create -i other.bf
    : >./log
    while IFS='|' read -r options other; do
        for form in '' add push; do
            rm -rf f.bf f.bf.queue
            # a mistyped name makes no filter, an empty log does not become one
            # shellcheck disable=SC2086 # several words
            fails_with 2 '^unseen: f\.bf: No such file' unseen $form $options f.bf in
            # shellcheck disable=SC2086
            fails_with 2 '^unseen: \./log: is empty' unseen $form $options ./log in
            # shellcheck disable=SC2086
            fails_with 2 '^unseen: \./log: is empty' unseen $form --create $options ./log in
            # shellcheck disable=SC2086
            exits 0 unseen $form --create $options f.bf in
            says '^unseen: f\.bf: created \('
            # the same again is no contradiction; another is, and the last word is not lost
            # shellcheck disable=SC2086
            succeeds unseen $form $options f.bf in
            # shellcheck disable=SC2086
            fails_with 2 '^unseen: f\.bf: ' unseen $form --create $other f.bf in
        done
        # and create takes them all
        rm -rf f.bf f.bf.queue
        # shellcheck disable=SC2086
        creates $options f.bf
    done <<<"$making"
}

@test "--create makes nothing if a FILE cannot be read" {
    local form
    seq 3 >in
    mkdir directory
    for form in '' add push; do
        # shellcheck disable=SC2086 # none, or one
        unchanged fails_with 2 '^unseen: missing: No such file' unseen $form --create f.bf in missing
        # shellcheck disable=SC2086
        unchanged fails_with 2 '^unseen: directory: Is a directory' unseen $form --create f.bf directory
    done
    unchanged fails_with 2 '^unseen: standard input: Is a directory' unseen --create f.bf <.
    exits 0 unseen --create f.bf - in < <(seq 5)
}

@test "an option for a filter that is there need not be enough to make one" {
    seq 5 >in
    exits 0 unseen --create --fixed -n 1000 fixed.bf in
    succeeds unseen --create --fixed fixed.bf in
    exits 0 unseen --create -f 1 -t , fields.bf in
    succeeds unseen --create -t , fields.bf in
    fails_with 2 '^unseen: --fixed: how large\? \(add -n N or --size SIZE\)$' unseen --create --fixed new.bf in
    fails_with 2 '^unseen: -t: which fields\?' unseen --create -t , new.bf in
    fails_with 2 '^unseen: --fixed: how large\?' unseen --fixed new.bf in
}

@test "a path with a directory, spaces and odd bytes in its name" {
    mkdir 'a dir'
    local name=$'a dir/se\xc3\xa9n \xff.bf'
    exits 0 unseen --create "$name" < <(seq 5)
    [[ -f $name ]]
    says ': created \('
    succeeds unseen query -c "$name" < <(seq 9)
    prints '5\n'
}

@test "create makes an empty filter, and prints nothing" {
    creates f.bf
    prints ''
    succeeds unseen f.bf < <(seq 5)
    creates -n 1000 -p 1e-3 g.bf
    prints ''
    exits 1 unseen query -c g.bf < <(seq 5)
    prints '0\n'
    silent_on_stderr
    succeeds unseen verify g.bf
}

@test "create: what exists stays, unless it is empty or --force is given" {
    exits 0 unseen --create f.bf < <(seq 5)
    fails_with 2 'f\.bf: File exists' unseen create f.bf
    fails_with 2 'f\.bf: File exists' unseen create -n 10 f.bf
    echo text >list.txt
    fails_with 2 'list\.txt: File exists, and is not a filter' unseen create list.txt
    : >empty.bf
    creates empty.bf
    succeeds unseen empty.bf < <(seq 5)
    creates --force f.bf
    exits 1 unseen query -q f.bf < <(seq 5)
    creates --force absent.bf
    succeeds unseen verify absent.bf
}

@test "create leaves nothing else in the directory" {
    creates f.bf
    creates --force f.bf
    exits 0 unseen --create g.bf < <(seq 5)
    [[ $(ls -A) == $'f.bf\ng.bf' ]] || { ls -A; false; }
}

@test "the mode is 0666 less the umask" {
    local mask
    for mask in 000 022 027 077; do
        (
            umask "$mask"
            exits 0 unseen create "$mask.bf"
            exits 0 unseen --create "$mask.form.bf" < <(seq 5)
        )
        [[ $(stat -c %a "$mask.bf") == $(printf %o $((0666 & ~0$mask))) ]]
        [[ $(stat -c %a "$mask.form.bf") == $(printf %o $((0666 & ~0$mask))) ]]
    done
}

@test "the file takes real blocks: no sparse file that fails later" {
    creates -n 1000000 -p 1e-3 f.bf
    local size blocks
    size=$(stat -c %s f.bf)
    blocks=$(stat -c %b f.bf)
    [[ $size -ge 1800000 ]]
    holds "$blocks * 512 >= $size * 0.98"
}

@test "symbolic links are followed" {
    mkdir real
    exits 0 unseen --create real/f.bf < <(seq 5)
    ln -s real/f.bf link.bf
    succeeds unseen link.bf < <(seq 7)
    prints '6\n7\n'
    [[ -L link.bf ]]
    succeeds unseen query -c real/f.bf < <(seq 9)
    prints '7\n'
    creates --force link.bf
    [[ -L link.bf && -f real/f.bf && ! -L real/f.bf ]]
    exits 1 unseen query -q real/f.bf < <(seq 9)
    : >real/empty.bf
    ln -s real/empty.bf link2.bf
    creates link2.bf
    [[ -L link2.bf ]]
    succeeds unseen verify real/empty.bf
}

@test "a dangling symbolic link is an error" {
    ln -s nowhere/f.bf link.bf
    fails_with 2 'link\.bf: ' unseen link.bf < <(seq 5)
    fails_with 2 'link\.bf: ' unseen --create link.bf < <(seq 5)
    fails_with 2 'link\.bf: ' unseen create link.bf
}

@test "a kill while creating leaves the whole filter or none" {
    local i pid
    for ((i = 0; i < 25; i++)); do
        rm -rf dir
        mkdir dir
        "$UNSEEN" create -n 20M dir/f.bf 3>&- &
        pid=$!
        sleep "0.00$i"
        kill -9 "$pid" 2>/dev/null || true
        wait "$pid" || true
        # but for a temporary file
        [[ $(ls -A dir) =~ ^(\.f\.bf\.[0-9a-f]{6}|f\.bf)?$ ]] || { ls -lA dir; false; }
        [[ ! -e dir/f.bf ]] || succeeds unseen verify dir/f.bf
    done
}

# --- a filter that exists is compared with the values given -------------------

@test "the same value in another notation is no contradiction" {
    exits 0 unseen --create -n 1000000 -p 1e-4 f.bf </dev/null
    succeeds unseen --create -n 1M f.bf </dev/null
    succeeds unseen --create -n 1e6 -p 0.0001 f.bf </dev/null
    succeeds unseen --create --fpr 100e-6 f.bf </dev/null
    exits 0 unseen --create g.bf </dev/null
    succeeds unseen --create -p 1e-6 g.bf </dev/null
    succeeds unseen --create --seed 0 g.bf </dev/null
}

@test "only what is given is compared" {
    exits 0 unseen --create -n 5000 -p 1e-4 --seed 9 f.bf < <(seq 5)
    succeeds unseen f.bf < <(seq 5)
    succeeds unseen --create f.bf < <(seq 5)
    succeeds unseen --create -n 5000 f.bf < <(seq 5)
    succeeds unseen --create -p 1e-4 f.bf < <(seq 5)
    succeeds unseen --create --seed 9 f.bf < <(seq 5)
}

@test "a contradiction is an error, with what was given and with what was not" {
    local options
    exits 0 unseen --create -n 5000 -p 1e-4 f.bf < <(seq 5)
    exits 0 unseen --create g.bf < <(seq 5)
    fails_with 2 'f\.bf: .*5000' unseen -n 6000 f.bf < <(seq 9)
    while read -r options; do
        # shellcheck disable=SC2086 # several words
        fails_with 2 '^unseen: [fg]\.bf: ' unseen $options < <(seq 9)
    done <<'END'
-n 5000 -p 1e-5 f.bf
--seed 1 f.bf
--fixed f.bf
--hashes 3 f.bf
--create --size 64M f.bf
--size 64K f.bf
--bits-per-key 20 g.bf
add -n 6000 f.bf
-n 6000 g.bf
-p 1e-3 g.bf
--fixed g.bf
END
    # as many hashes as it has by itself
    succeeds unseen --hashes 14 f.bf < <(seq 9)
    prints '6\n7\n8\n9\n'
}

# --- growth ------------------------------------------------------------------

@test "past -n it grows and says so once, in one line" {
    seq 50000 >in
    exits 0 unseen --create -n 1000 -p 1e-9 f.bf <in
    same "$out" in
    says_lines 2 'f\.bf: created \(' 'f\.bf: .*1000'
    seq 50001 200000 >more.txt
    succeeds unseen f.bf <more.txt
    same "$out" more.txt
    succeeds unseen f.bf in more.txt
    prints ''
}

@test "without -n it grows in silence" {
    seq 300000 >in
    exits 0 unseen --create -p 1e-9 f.bf <in
    says 'f\.bf: created \('
    same "$out" in
    succeeds unseen f.bf <in
    prints ''
    succeeds unseen -p 1e-9 <in
    same "$out" in
}

@test "--fixed never grows: it warns" {
    exits 0 unseen --create --fixed -n 1000 -p 1e-2 f.bf < <(seq 500)
    says 'f\.bf: created \('
    local size
    size=$(stat -c %s f.bf)
    exits 0 unseen f.bf < <(seq 100000)
    says '^unseen: f\.bf: holds [0-9]+ lines, and was made for 1000; about [0-9.]+ % of new lines are now dropped$'
    [[ $(stat -c %s f.bf) -eq $size ]]
    exits 1 unseen verify f.bf
}

@test "filters that grew differ from run to run in nothing a reader sees" {
    seq 100000 >in
    exits 0 unseen --create -n 1000 -p 0.05 a.bf <in
    cp "$out" wanted
    exits 0 unseen --create -n 1000 -p 0.05 b.bf <in
    same "$out" wanted
    succeeds unseen query a.bf < <(seq 200001 250000)
    cp "$out" wanted
    succeeds unseen query b.bf < <(seq 200001 250000)
    same "$out" wanted
}

# --- a large layer -----------------------------------------------------------
# Above 32 MB, the first 512 keys that a run sets are written to the file, a page
# for each. The others are set in its map, as all those of add are.

# large_filters OPTION...: an empty f.bf, and mapped.bf with the lines of ./in.
large_filters() {
    exits 0 unseen create --force "$@" f.bf || return 1
    [[ $(layer f.bf | wc -c) -gt $((32 << 20)) ]] || { echo "the layer is not large"; return 1; }
    cp f.bf mapped.bf
    mixed_lines 1400 100000 | lines_unique >in
    succeeds unseen add mapped.bf in
}

@test "a large layer: the same bits by way of the file, of its map, and of both" {
    local options
    for options in '-n 10M' '--counting -n 2500k'; do
        # shellcheck disable=SC2086 # several options
        large_filters $options
        succeeds unseen f.bf < <(head -n 50 in)
        # Of this run more than 512 keys are new, about a hundred in each batch.
        succeeds unseen f.bf in
        tail -n +51 in >wanted
        same "$out" wanted
        cmp <(layer f.bf) <(layer mapped.bf)
    done
}

@test "a cold file: the pages of the first batch are asked for together; those of others are not" {
    local form asked first=300000
    need_strace
    exits 0 unseen create -n 1M f.bf
    exits 0 unseen add f.bf < <(seq 100000)
    exits 0 unseen --pending keys f.bf < <(seq 200001 200050)
    seq 50001 50100 >in
    asks() {
        capture strace -qq -o trace -e trace=madvise "$UNSEEN" "$@"
        [[ $code -eq 0 ]] || complain "$*" || return 1
        asked=$(grep -c 'MADV_WILLNEED' trace || true)
    }
    for form in 'f.bf in new -a got' 'query f.bf in' 'add f.bf in' 'commit f.bf keys'; do
        first=$((first + 100))
        seq $first $((first + 99)) >new
        # shellcheck disable=SC2086 # its words
        asks $form
        ((asked >= 45 && asked <= 200)) || complain "$form: $asked pages asked for" || return 1
    done
    exits 0 unseen create -n 40M large.bf
    seq 5000 >new
    asks large.bf new -a got
    ((asked == 2048)) || complain "5000 lines: $asked pages asked for"
}

# --- readers -----------------------------------------------------------------

@test "query, stats and verify write nothing: not a byte, not a time" {
    exits 0 unseen --create -n 100 f.bf < <(seq 5000)
    seq 4990 5010 >in
    sleep 0.02
    unchanged exits 0 unseen query f.bf in
    unchanged exits 0 unseen query --tag f.bf in
    unchanged exits 0 unseen stats f.bf
    unchanged exits 0 unseen stats --json f.bf
    unchanged exits 0 unseen verify f.bf
}

@test "a read-only file in a read-only directory: query, stats, verify" {
    exits 0 unseen --create "$BATS_TEST_TMPDIR/f.bf" < <(seq 50)
    public_directory
    cp "$BATS_TEST_TMPDIR/f.bf" f.bf
    seq 49 52 >in
    chmod 444 f.bf in
    chmod 555 .
    succeeds as_nobody "$public/unseen" query f.bf in
    prints '49\n50\n'
    succeeds as_nobody "$public/unseen" query -vc f.bf in
    prints '2\n'
    succeeds as_nobody "$public/unseen" stats f.bf
    succeeds as_nobody "$public/unseen" verify f.bf
    fails_with 2 'f\.bf: cannot be opened for writing: Permission denied \(query, stats and verify only read it\)' \
        as_nobody "$public/unseen" f.bf in
    fails_with 2 'f\.bf: cannot be opened for writing: Permission denied' \
        as_nobody "$public/unseen" add f.bf in
    fails_with 2 'new\.bf: .*Permission denied' as_nobody "$public/unseen" --create new.bf in
    fails_with 2 '^unseen: new\.bf: Permission denied \(nothing can be written to the directory \.\)$' as_nobody "$public/unseen" create new.bf
    chmod 755 .
}

@test "no permission: a message and exit 2, for the filter, an input, the output" {
    exits 0 unseen --create "$BATS_TEST_TMPDIR/f.bf" < <(seq 50)
    public_directory
    cp "$BATS_TEST_TMPDIR/f.bf" secret.bf
    cp "$BATS_TEST_TMPDIR/f.bf" f.bf
    chmod 666 f.bf
    seq 60 >secret.txt
    : >secret.out
    seq 52 >in
    chmod 000 secret.*
    chmod 444 in
    local command
    for command in query add stats verify; do
        fails_with 2 'secret\.bf: Permission denied' as_nobody "$public/unseen" "$command" secret.bf
    done
    fails_with 2 'secret\.bf: Permission denied' as_nobody "$public/unseen" secret.bf in
    : >secret.log
    chmod 000 secret.log
    fails_with 2 '^unseen: secret\.log: Permission denied$' as_nobody "$public/unseen" secret.log in
    fails_with 2 'secret\.out: Permission denied' as_nobody "$public/unseen" f.bf in -a secret.out
    exits 2 as_nobody "$public/unseen" f.bf secret.txt in
    says 'secret\.txt: Permission denied'
    prints '51\n52\n'
}

@test "a read-only file system: query, stats, verify" {
    need_mounts
    exits 0 unseen --create f.bf < <(seq 50)
    seq 49 52 >in
    # shellcheck disable=SC2016
    unshare -m sh -c 'mount --bind . . && mount -o remount,bind,ro .' 2>/dev/null ||
        skip "a directory cannot be mounted read-only here (TMPDIR elsewhere)"
    read_only() {
        # shellcheck disable=SC2016
        unshare -m sh -c 'mount --bind . . && mount -o remount,bind,ro . && cd "$PWD" && exec "$@"' sh \
            timeout --foreground -k 5 "$UNSEEN_TIMEOUT" "$UNSEEN" "$@"
    }
    unchanged succeeds read_only query f.bf in
    prints '49\n50\n'
    unchanged succeeds read_only stats f.bf
    unchanged succeeds read_only verify f.bf
    fails_with 2 'f\.bf: cannot be opened for writing: Read-only file system' read_only f.bf in
    fails_with 2 'new\.bf: .*Read-only file system' read_only --create new.bf in
}

# --- bytes that must not drift -----------------------------------------------

@test "a copy made with cp is a filter like the first" {
    exits 0 unseen --create f.bf < <(seq 5000)
    cp f.bf copy.bf
    succeeds unseen copy.bf < <(seq 5000)
    prints ''
    succeeds unseen copy.bf < <(seq 5001 5002)
    prints '5001\n5002\n'
    succeeds unseen f.bf < <(seq 5001 5002)
    prints '5001\n5002\n'
}

@test "bytes after the last layer are legal" {
    exits 0 unseen --create f.bf < <(seq 50)
    head -c 10000 /dev/zero | tr '\0' X >>f.bf
    succeeds unseen query -c f.bf < <(seq 60)
    prints '50\n'
    succeeds unseen stats f.bf
    succeeds unseen f.bf < <(seq 52)
    prints '51\n52\n'
    # and it can still grow over them
    seq 53 200000 >in
    succeeds unseen f.bf <in
    same "$out" in
    succeeds unseen f.bf <in
    prints ''
}

# --- machines with other pages -------------------------------------------------

# large_pages ARGUMENT...: the program, where pages are of 64 KB.
large_pages() {
    LD_PRELOAD=$preload "$UNSEEN" "$@"
}

@test "where the system's pages are of 64 KB: the same file, by every way of using it" {
    need_preload pages
    seq 100000 >in
    exits 0 unseen --create here.bf <in
    exits 0 large_pages --create there.bf <in
    same "$out" in
    # What follows the fixed part: layers, grown, which begin on any page of 4 KB.
    tail -c +61441 here.bf >here.layers
    tail -c +61441 there.bf >there.layers
    cmp here.layers there.layers
    succeeds large_pages query -c there.bf in
    prints '100000\n'
    seq 150000 >longer
    succeeds large_pages there.bf longer -x cat
    seq 100001 150000 >new
    same "$out" new
    succeeds large_pages verify there.bf
    succeeds unseen query -c there.bf longer
    prints '150000\n'
}

@test "--fixed, far past its capacity: the rate is told, in a file and in memory" {
    seq 200000 >in
    for filter in '' f.bf; do
        # shellcheck disable=SC2086 # none, or one
        exits 0 unseen ${filter:+--create} --fixed -n 10000 $filter <in
        grep -Eq 'holds [0-9]+ lines, and was made for 10000; about (99\.9|100) % of new lines are now dropped$' "$err" ||
            complain "filter: $filter"
    done
}

in_300_mb() { (ulimit -v 300000 && "$@" </dev/null); }

@test "a filter that could not be mapped is not made: memory is limited, or addresses have 32 bits" {
    local form
    plain_build 'needs more memory'
    for form in --create create 'add --create' 'push --create'; do
        # shellcheck disable=SC2086
        fails_with 2 '^unseen: f\.bf: does not fit into the address space \(make it smaller, or: ulimit -v unlimited\)$' \
            in_300_mb unseen $form --size 1G f.bf
        [[ ! -e f.bf && ! -e f.bf.queue ]] || complain "unseen $form made something"
    done
}
