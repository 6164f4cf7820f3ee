#!/usr/bin/env bats
# A filter for a part of a list: it keeps what makes the parts, and refuses lines of others.

load helper

# split_in N: the lines of ./in by their part, into part.1 ... part.N
split_in() {
    local i
    for ((i = 1; i <= $1; i++)); do
        unseen shard "$i/$1" in >"part.$i"
    done
}

# A counting filter for part 1 of 2 that has the first ten lines of part.1, and ./list: the next
# ten, a line of part 2, and ten more of part 1.
a_stray() {
    rm -f f.bf
    seq 200 >in
    split_in 2
    exits 0 unseen --create --shard 1/2 --counting f.bf < <(head -n 10 part.1)
    {
        sed -n 11,20p part.1
        sed -n 1p part.2
        sed -n 21,30p part.1
    } >list
    head -n 10 list >before
    sed -n 12,21p list >after
    refusal='^unseen: f\.bf: is for shard 1 of 2, and line 11 of list belongs to shard 2 \(.*: unseen shard 1/2 --like f\.bf list\)$'
}

# remembers FILE N: so many of its lines.
remembers() {
    capture unseen query -c f.bf "$1"
    prints "$2\n"
}

@test "the filters of all parts together print each line once" {
    local recipe i
    {
        mixed_lines 20000 3000 | sed 's,org/\(.*\)/,\1.org/a/,'
        echo no URL
    } >in
    for recipe in '' '--by url' '-f 3 -t / --trim'; do
        rm -f out.* ./*.bf
        exits 0 unseen create --shard 1/3 $recipe 1.bf
        for i in 1 2 3; do
            unseen shard "$i/3" --like 1.bf in >"part.$i"
            unseen --create --shard "$i/3" $recipe "$i.bf" "part.$i" >"out.$i"
            succeeds unseen "$i.bf" "part.$i"
            prints ''
        done
        unseen $recipe <in | sort >wanted
        sort out.* | cmp - wanted
        [[ -s out.1 && -s out.2 && -s out.3 ]]
    done
}

@test "a line of another part ends a run: what comes before it is printed and remembered, and no more" {
    local form
    for form in 'f.bf list' 'f.bf list after' 'f.bf list -x cat' '--durable f.bf list' 'add f.bf list' 'push f.bf list'; do
        a_stray
        rm -rf f.bf.queue
        exits 2 unseen $form
        says "$refusal"
        [[ $form != push* ]] || exits 0 unseen pop -m 100 f.bf
        case $form in add*) prints '' ;; *) same "$out" before ;; esac
        remembers before 10
        remembers after 0
    done
    # What was read before is remembered, too.
    a_stray
    exits 2 unseen f.bf after list after
    says "$refusal"
    remembers after 10
    # CMD has failed: 3, and nothing is remembered.
    a_stray
    exits 3 unseen f.bf list -x false
    grep -Eq "$refusal" "$err"
    remembers before 0
    # --pending: the filter stays as it is.
    cp f.bf saved
    exits 2 unseen --pending keys f.bf list
    grep -Eq "$refusal" "$err"
    same "$out" before
    cmp f.bf saved
    # remove: lines before it are taken out.
    a_stray
    sed "5s/.*/$(head -n 1 part.2)/" part.1 >list
    exits 2 unseen remove f.bf list
    says "${refusal/line 11/line 5}"
    remembers part.1 6
}

@test "query: all its forms answer up to that line, and fail" {
    local form
    a_stray
    sed -n '1,15p' part.1 >list
    sed -n 1p part.2 >>list
    refusal=${refusal/line 11/line 16}
    for form in '' -v -c -vc --tag -j1; do
        unchanged exits 2 unseen query $form f.bf list
        says "$refusal"
        unseen query $form f.bf < <(head -n 15 list) | cmp - "$out"
    done
    # answered before
    succeeds unseen query -q f.bf list
    succeeds unseen query -vq f.bf list
    succeeds unseen query -m 10 f.bf list
    unchanged exits 2 unseen query -m 11 f.bf list
}

@test "the first line is of another part: nothing is printed, and nothing changes" {
    local command
    a_stray
    cat part.2 part.1 >list
    refusal=${refusal/line 11/line 1}
    # the keys in flight have been written once
    exits 2 unseen add f.bf list
    for command in '' add query 'query -v' 'query --tag' remove '--dropped /dev/null' '--append out'; do
        : >out
        cp f.bf saved
        exits 2 unseen $command f.bf list
        says "$refusal"
        prints ''
        [[ ! -s out ]]
        cmp f.bf saved
    done
    exits 2 unseen query -c f.bf list
    prints '0\n'
    layer f.bf >saved
    exits 2 unseen f.bf list -x touch ran
    [[ ! -e ran ]]
    layer f.bf | cmp - saved
    # one that is made for it is there, and empty
    exits 2 unseen --create --shard 1/2 new.bf list
    says_lines 2 '^unseen: new\.bf: created \(shard 1/2, ' '^unseen: new\.bf: is for shard 1 of 2, and line 1 of '
    [[ $(unseen stats --json new.bf | field lines /dev/stdin) == 0 ]]
}

@test "where it ends depends on the lines alone: threads, buffers, pauses" {
    local form
    mixed_lines 60000 20000 >all
    cp all in
    split_in 2
    { head -n 25000 part.1; head -n 1 part.2; tail -n 1000 part.1; } >in
    head -n 25000 part.1 | lines_unique >wanted
    for form in -j1 -j2; do
        rm -f f.bf
        exits 0 unseen create --shard 1/2 -p 0.5 f.bf
        exits 2 unseen $form f.bf in
        grep -q 'line 25001 of in belongs' "$err"
        mv "$out" "out$form"
        cmp "out$form" out-j1
        rm -f g.bf
        exits 0 unseen create --shard 1/2 g.bf
        exits 2 unseen $form g.bf < <(head -n 20000 in; sleep 0.1; tail -n +20001 in)
        grep -q 'line 25001 of standard input belongs' "$err"
        same "$out" wanted
    done
}

@test "a line after the last one that -m wants is not looked at; header lines are not judged, and count as lines" {
    a_stray
    succeeds unseen -m 10 f.bf list
    same "$out" before
    a_stray
    exits 2 unseen -m 11 f.bf list
    same "$out" before
    succeeds unseen -m 0 f.bf part.2
    { head -n 1 part.2; cat before; } >one
    { head -n 1 part.2; cat after; } >two
    succeeds unseen --header f.bf one two
    { sed -n 2p part.2; cat list; } >three
    exits 2 unseen --header f.bf three
    says 'and line 12 of three belongs to shard 2 .* unseen shard 1/2 --like f\.bf --header three\)$'
}

@test "the way out can be pasted: odd names, NUL, a header line, standard input" {
    local way
    a_stray
    mv f.bf 'my f.bf'
    mv list 'a list'
    cp part.1 in
    exits 2 unseen 'my f.bf' 'a list'
    way=$(sed 's/.*to select its lines: \(.*\))$/\1/' "$err")
    eval "$way" | cmp - <(cat before after)
    tr '\n' '\0' <'a list' >nul
    exits 2 unseen -z --header 'my f.bf' nul
    way=$(sed 's/.*to select its lines: \(.*\))$/\1/' "$err")
    eval "$way" | tr '\0' '\n' | cmp - <(cat before after)
    exits 2 unseen 'my f.bf' <'a list'
    says "line 11 of standard input belongs .* unseen shard 1/2 --like 'my f\.bf'\)\$"
    way=$(sed 's/.*to select its lines: \(.*\))$/\1/' "$err")
    eval "$way" <'a list' | cmp - <(cat before after)
}

@test "create and stats say which part it is; --like takes it over, or gives another part of the same list" {
    exits 0 unseen --create --by url -n 5000 --shard 2/8 f.bf </dev/null
    says '^unseen: f\.bf: created \(shard 2/8, '
    exits 0 unseen stats --json f.bf
    [[ $(field shard) == 2/8 ]]
    exits 0 unseen create --by url plain.bf
    exits 0 unseen create --like f.bf same.bf
    exits 0 unseen create --like f.bf --shard 3/8 other.bf
    exits 0 unseen create --like plain.bf --shard 1/2 half.bf
    exits 0 unseen stats f.bf same.bf other.bf half.bf plain.bf
    [[ $(sed -n 's/^shard  *//p' "$out" | paste -sd ' ') == '2/8 2/8 3/8 1/2' ]] || complain
    succeeds unseen add --like f.bf --shard 3/8 other.bf </dev/null
    fails_with 2 '^unseen: other\.bf: was made with --shard 3/8, not 2/8' unseen add --like f.bf other.bf </dev/null
    fails_with 2 '^unseen: plain\.bf: was made ' unseen add --like f.bf plain.bf </dev/null
}
