#!/usr/bin/env bats
# A filter file: what it remembers, how it is made, what is compared with it.

load helper

# --- remembered between runs -------------------------------------------------

@test "three runs of a third each give the first occurrences of the whole; a further run prints and says nothing" {
    local part
    mixed_lines 30000 12000 >in
    split -n l/3 in third.
    for part in third.*; do
        exits 0 unseen --create seen.bf <"$part"
        cat "$out" >>got
    done
    lines_unique in | same got -
    succeeds unseen seen.bf <in
    prints ''
    succeeds unseen seen.bf in
    prints ''
    succeeds unseen --create seen.bf <in
    prints ''
}

@test "add remembers what the filter form would, and prints nothing" {
    seq 20000 >in
    exits 0 unseen add --create -n 1000 -p 0.01 a.bf <in
    prints ''
    exits 0 unseen --create -n 1000 -p 0.01 b.bf <in
    exits 0 unseen add a.bf <in
    prints ''
    seq 1000000 1100000 >others
    succeeds unseen query a.bf in others
    cp "$out" wanted
    succeeds unseen query b.bf in others
    same "$out" wanted
    [[ $(wc -l <wanted) -gt 20000 ]]
}

# --- how one is started ------------------------------------------------------

# leads_on ARGUMENT...: it fails, and works after what its message says was done.
leads_on() {
    local advice
    printf 'http://a/%s\n' 'its id' 1 2 >in
    fails_with 2 '^unseen: .*: (No such file or directory|is empty, not a filter) \(to make it' \
        unseen "$@" in || return 1
    advice=$(sed 's/.*(to make it\( one\)\?: unseen \(.*\))$/\2/' "$err")
    eval "exits 0 unseen $advice" </dev/null && says ': created \(' && succeeds unseen "$@" in
}

@test "what makes an absent filter is said so that it can be pasted, whatever its name and its options" {
    leads_on a.bf
    leads_on -e -z 'b c.bf'
    leads_on add "d'e.bf"
    leads_on push ./f
    leads_on '$g.bf'
    leads_on "*.bf"
    leads_on -- -dash
    mkdir 'a dir'
    leads_on $'a dir/se\xc3\xa9n \xff.bf'
    : >empty.bf
    leads_on empty.bf
    leads_on -f 1 -t ';' -e --size=1M fields.bf
    leads_on add -p1% --trim --fixed -n 1e3 add.bf
    leads_on push --by url queue.bf
    leads_on add --csv -f 'http://a/its id' csv.bf
    : >app.log
    leads_on -i --window 1k app.log
}

@test "control characters of a name are shown, and never sent to the terminal" {
    # a byte that is no UTF-8 is a control character to many terminals; reports are text, too
    local name=$'a\n\e[31m\x9bb\x7f.bf' shown='a\\n\\x1b\[31m\\x9bb\\x7f\.bf'
    fails_with 2 '^unseen: \\xc2\\x9b: No such file' unseen query $'\xc2\x9b' </dev/null
    fails_with 2 $'^unseen: \xc3\xa4: No such file' unseen query $'\xc3\xa4' </dev/null
    fails_with 2 "^unseen: $shown: No such file" unseen query "$name" </dev/null
    leads_on "$name"
    succeeds unseen stats "$name"
    grep -Eq "^filter +$shown\$" "$out" || complain
    exits 0 unseen create --fixed -n 10000 -p 1e-2 --force "$name"
    exits 0 unseen "$name" < <(seq 15000)
    exits 1 unseen verify "$name"
    grep -q "^$shown: " "$out" || complain
}

# What says what a new filter is to be, as few words as it goes with, and what contradicts it.
making='-n 1000|-n 2000
-p 1e-3|-p 1e-4
--size 1M|--size 2M
--size 96K -n 1000|--size 128K
--bits-per-key 20 -n 100k|--bits-per-key 30 -n 100k
--hashes 8 -n 100|--hashes 3
--seed 7|--seed 8
--fixed -n 1000|--fixed -n 2000
--window 1000|--window 2000
--forget-after 7d|--forget-after 8d
--counting|--window 9
--shard 1/1|--shard 1/2
--like like.bf|--like other.bf
-f 2|-f 3
-f 2 -t ,|-f 2 -t ;
--csv -f 2|--jsonl -f a
--by url|--by host
-i|--trim
--trim|-i'

@test "every option that says what a new filter is to be needs --create: the plain form, add, push, create" {
    local options other form=push
    printf 'http://a/ 1,5\nhttp://b/ 2,6\n' >in # with a key, whatever it is
    exits 0 unseen create -n 777 like.bf
    exits 0 unseen create -i other.bf
    : >./log
    while IFS='|' read -r options other; do
        # each with one form, in turn
        case $form in '') form=add ;; add) form=push ;; push) form='' ;; esac
        rm -rf f.bf f.bf.queue
        # a mistyped name makes no filter, an empty log does not become one
        fails_with 2 '^unseen: f\.bf: No such file' unseen $form $options f.bf in
        fails_with 2 '^unseen: \./log: is empty' unseen $form --create $options ./log in
        exits 0 unseen $form --create $options f.bf in
        says '^unseen: f\.bf: created \('
        # the same again is no contradiction; another is, and the last word is not lost
        succeeds unseen $form $options f.bf in
        fails_with 2 '^unseen: f\.bf: ' unseen $form --create $other f.bf in
        # and create takes them all
        rm -rf f.bf.queue
        creates --force $options f.bf
    done <<<"$making"
}

# What is none of it: messages.txt.
@test "a filter that is there: only what is given is compared, in any notation, and need not be enough to make one" {
    local options
    exits 0 unseen --create -n 1000000 -p 1e-4 --seed 9 f.bf < <(seq 5)
    exits 0 unseen create g.bf
    exits 0 unseen create --fixed -n 1000 fixed.bf
    exits 0 unseen create -f 1 -t , fields.bf
    exits 0 unseen create --trim -i -f 1-3 -t , recipe.bf
    exits 0 unseen create --window 100 w.bf
    exits 0 unseen create --forget-after 7d t.bf
    while read -r options; do
        succeeds unseen $options < <(seq 5) || { echo "$options"; return 1; }
    done <<'END'
f.bf
--create f.bf
-n 1M f.bf
--create -n 1e6 -p 0.0001 f.bf
--create --fpr 100e-6 f.bf
--seed 9 f.bf
--hashes 14 f.bf
-p 1e-6 g.bf
--create --seed 0 g.bf
--create --fixed fixed.bf
--create -t , fields.bf
-f 3,1-2 -t \x2c recipe.bf
-f -3 recipe.bf
--trim -i recipe.bf
--create --window 100 w.bf
--forget-after 168h t.bf
END
}

@test "--create makes nothing if a FILE cannot be read" {
    fails_with 2 '^unseen: \.: Is a directory' unseen --create f.bf .
    fails_with 2 '^unseen: standard input: Is a directory' unseen --create f.bf <.
    exits 0 unseen --create f.bf - < <(seq 5)
}

@test "create: an empty filter that takes real blocks; what exists stays, unless it is empty or --force is given" {
    creates f.bf
    prints ''
    succeeds unseen f.bf < <(seq 5)
    fails_with 2 'f\.bf: File exists' unseen create f.bf
    echo text >list.txt
    fails_with 2 'list\.txt: exists, and is not a filter' unseen create list.txt
    : >empty.bf
    creates empty.bf
    succeeds unseen empty.bf < <(seq 5)
    creates --force f.bf
    exits 1 unseen query -q f.bf < <(seq 5)
    creates --force -n 1000000 -p 1e-3 absent.bf
    succeeds unseen verify absent.bf
    [[ $(stat -c %s absent.bf) -ge 1800000 ]]
    holds "$(stat -c %b absent.bf) * 512 >= $(stat -c %s absent.bf) * 0.98"
    [[ $(ls -A) == $'absent.bf\nempty.bf\nf.bf\nlist.txt' ]] || { ls -A; false; }
}

@test "the mode is 0666 less the umask" {
    local mask
    for mask in 000 022 027 077; do
        (
            umask "$mask"
            exits 0 unseen create "$mask.bf"
            exits 0 unseen --create "$mask.form.bf" < <(seq 5)
        )
        [[ $(stat -c %a "$mask.bf" "$mask.form.bf" | uniq) == $(printf %o $((0666 & ~0$mask))) ]]
    done
}

@test "symbolic links are followed; a dangling one is an error" {
    mkdir real
    exits 0 unseen --create real/f.bf < <(seq 5)
    ln -s real/f.bf link.bf
    succeeds unseen link.bf < <(seq 7)
    prints '6\n7\n'
    creates --force link.bf
    exits 1 unseen query -q real/f.bf < <(seq 9)
    : >real/empty.bf
    ln -s real/empty.bf link2.bf
    creates link2.bf
    [[ -L link.bf && -L link2.bf && ! -L real/f.bf ]]
    succeeds unseen verify real/empty.bf
    ln -s nowhere/f.bf link3.bf
    fails_with 2 'link3\.bf: ' unseen link3.bf < <(seq 5)
    fails_with 2 'link3\.bf: ' unseen --create link3.bf < <(seq 5)
    fails_with 2 'link3\.bf: ' unseen create link3.bf
}

# --- growth ------------------------------------------------------------------

@test "past -n it grows and says so once; without -n in silence; and two that grew are alike" {
    seq 50000 >in
    exits 0 unseen --create -n 1000 -p 1e-9 f.bf <in
    same "$out" in
    says_lines 2 'f\.bf: created \(' '^unseen: f\.bf: more than 1000 lines \(-n\); grew to [0-9]+ kB$'
    seq 50001 200000 >more.txt
    succeeds unseen f.bf <more.txt
    same "$out" more.txt
    succeeds unseen f.bf in more.txt
    prints ''
    seq 300000 >in
    exits 0 unseen --create -p 1e-9 g.bf <in
    says 'g\.bf: created \('
    same "$out" in
    exits 0 unseen create -n 300000 -p 1e-9 n.bf
    holds "$(stat -c %s g.bf) > 1.5 * $(stat -c %s n.bf) && $(stat -c %s g.bf) <= 3 * $(stat -c %s n.bf)"
    succeeds unseen -p 1e-9 <in
    same "$out" in
    exits 0 unseen --create -n 1000 -p 0.05 a.bf more.txt
    cp "$out" wanted
    exits 0 unseen --create -n 1000 -p 0.05 b.bf more.txt
    same "$out" wanted
    cmp <(layer a.bf) <(layer b.bf)
}

@test "--fixed never grows: far past its capacity the rate is told, in a file and in memory" {
    local size
    exits 0 unseen --create --fixed -n 1000 -p 1e-2 f.bf < <(seq 500)
    says 'f\.bf: created \('
    size=$(stat -c %s f.bf)
    exits 0 unseen f.bf < <(seq 100000)
    says '^unseen: f\.bf: holds at least [0-9]+ lines but was made for 1000; about (99\.9|100)% of new lines are now dropped by mistake$'
    [[ $(stat -c %s f.bf) -eq $size ]]
    exits 1 unseen verify f.bf
    exits 0 unseen --fixed -n 10000 < <(seq 200000)
    says 'holds at least [0-9]+ lines but was made for 10000; about (99\.9|100)% of new lines are now dropped by mistake$'
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
        large_filters $options
        succeeds unseen f.bf < <(head -n 50 in)
        # Of this run more than 512 keys are new, about a hundred in each batch.
        succeeds unseen f.bf in
        tail -n +51 in >wanted
        same "$out" wanted
        cmp <(layer f.bf) <(layer mapped.bf)
    done
}

# --- readers -----------------------------------------------------------------

@test "query, stats and verify write nothing: not a byte, not a time, and need no right to write" {
    local command
    exits 0 unseen --create -n 100 "$BATS_TEST_TMPDIR/f.bf" < <(seq 50)
    public_directory
    cp "$BATS_TEST_TMPDIR/f.bf" f.bf
    seq 49 52 >in
    exits 0 unseen --pending keys f.bf in
    touch -d 2020-01-01 f.bf
    chmod 444 f.bf in
    chmod 555 .
    for command in 'query f.bf in' 'query -v f.bf in' 'query --tag f.bf in' 'stats f.bf' 'stats --json f.bf' 'verify f.bf'; do
        unchanged succeeds as_nobody "$public/unseen" $command
        unchanged succeeds unseen $command
    done
    for command in 'f.bf in' 'add f.bf in' 'commit f.bf keys' 'f.bf in -x cat'; do
        fails_with 2 '^unseen: f\.bf: cannot be opened for writing: Permission denied' as_nobody "$public/unseen" $command
    done
    fails_with 2 'new\.bf: .*Permission denied' as_nobody "$public/unseen" --create new.bf in
    fails_with 2 'new\.bf: Permission denied' as_nobody "$public/unseen" create new.bf
    chmod 755 .
}

@test "no permission: a message and exit 2, for the filter, an input, the output" {
    local command
    exits 0 unseen --create "$BATS_TEST_TMPDIR/f.bf" < <(seq 50)
    public_directory
    cp "$BATS_TEST_TMPDIR/f.bf" secret.bf
    cp "$BATS_TEST_TMPDIR/f.bf" f.bf
    chmod 666 f.bf
    seq 60 >secret.txt
    : >secret.out
    seq 52 >in
    chmod 000 secret.*
    mkdir -m 777 open
    for command in '' query add stats verify '--pending open/keys'; do
        fails_with 2 'secret\.bf: Permission denied' as_nobody "$public/unseen" $command secret.bf
    done
    for command in -a --dropped; do
        fails_with 2 'secret\.out: Permission denied' as_nobody "$public/unseen" f.bf in $command secret.out
    done
    mkdir -m 700 private
    for command in 'create private/new.bf' 'query private/f.bf in' 'f.bf in -a private/out' 'f.bf private/in'; do
        fails_with 2 'Permission denied \(the directory private cannot be entered\)$' as_nobody "$public/unseen" $command
    done
    exits 2 as_nobody "$public/unseen" f.bf secret.txt in
    says 'secret\.txt: Permission denied'
    prints '51\n52\n'
}

# --- machines with other pages -------------------------------------------------

# large_pages ARGUMENT...: the program, where pages are of 64 KB.
large_pages() {
    LD_PRELOAD=$preload "$UNSEEN" "$@"
}

# in_group LINE FILE LIMIT COMMAND...: in a control group that /proc/self/cgroup has as LINE, with FILE in
# /sys/fs/cgroup as its LIMIT.
in_group() {
    unshare -m sh -c '
        rm -rf groups && mkdir -p "$(dirname "groups/$2")" && echo "$3" >"groups/$2" && echo "$1" >line &&
            mount --bind line /proc/$$/cgroup && mount --bind groups /sys/fs/cgroup || exit 99
        shift 3
        exec "$@"' sh "$@"
}

@test "a tenth of memory is a tenth of what the control group, or one around it, may use" {
    need_mounts
    need_preload sparse
    local line file limit stage
    [[ -d /sys/fs/cgroup ]] || skip "needs /sys/fs/cgroup"
    [[ $(getconf _PHYS_PAGES) -gt $((10 ** 10 / $(getconf PAGESIZE))) ]] || skip "needs 10 GB of memory"
    seq 9 >in
    LD_PRELOAD=$preload exits 0 "$UNSEEN" create -n 200M made.bf
    # Only a layer of more than that, which is of 760 MB, has its staging area used.
    while IFS='|' read -r stage line file limit; do
        cp --sparse=always made.bf f.bf
        LD_PRELOAD=$preload succeeds in_group "$line" "$file" "$limit" "$UNSEEN" f.bf in
        same "$out" in
        [[ $(od -An -tu8 -j 9224 -N 8 f.bf | tr -d ' ') -eq $stage ]] || complain "$line, $file, $limit"
    done <<'END'
0|0::/job|job/memory.max|max
0|0::/job|job/memory.max|9000000000
1|0::/job|job/memory.max|2000000000
1|0::/job/part|job/memory.max|2000000000
1|0::/outside/of/it|memory.max|2000000000
0|0::/job|job.max|2000000000
0|10::/job|job/memory.max|2000000000
1|7:memory:/job/part|memory/job/memory.limit_in_bytes|2000000000
0|7:cpu:/job|memory/job/memory.limit_in_bytes|2000000000
END
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
