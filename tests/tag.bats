#!/usr/bin/env bats
# --tag in the plain form: every line comes out at once, after `new` or `seen`, and a new one is remembered
# once its answer is written. (What excludes it: messages.txt. query --tag: query.bats.)

load helper
load crash

# tagged [FILE...]: the oracle.
tagged() { awk '{ print (s[$0]++ ? "seen" : "new") "\t" $0 }' "$@"; }

# said_new [FILE...]: the lines after `new`; one that was cut is none.
said_new() { whole "$@" | sed -n 's/^new\t//p'; }

@test "every line after its tag: empty, unfinished, with NUL, by key, with a header line, exit status" {
    cat >table <<'END'
--tag|a\nb\na\n\nx\ty\n\n|new\ta\nnew\tb\nseen\ta\nnew\t\nnew\tx\ty\nseen\t\n
--tag|a\na|new\ta\nseen\ta\n
--tag||
--tag -z|a\nb\0\0a\nb\0c|new\ta\nb\0new\t\0seen\ta\nb\0new\tc\0
--tag -i -f 2 -t ,|1,a\n2,A\n3,b\n|new\t1,a\nseen\t2,A\nnew\t3,b\n
--tag --by url|http://a.b/x\nHTTP://A.b:80/x#y\n|new\thttp://a.b/x\nseen\tHTTP://A.b:80/x#y\n
--tag --header|h\n1\n1\n|h\nnew\t1\nseen\t1\n
--tag -e|a\n|new\ta\n
--tag -e|||1
END
    answers <table
    # The same of a filter that the row makes.
    sed -E 's/^--tag( -e| -z| --header)?([^|]*)/create --force\2 f.bf 2>log; unseen --tag\1 f.bf/' table >with_filter
    [[ $(grep -c 'f\.bf|' with_filter) -eq 9 ]]
    answers <with_filter
    exits 0 unseen create --force f.bf
    printf 'a\nb' >one
    printf 'b\nc\n' >two
    succeeds unseen --tag f.bf one - two < <(echo c)
    prints 'new\ta\nnew\tb\nnew\tc\nseen\tb\nseen\tc\n'
    exits 1 unseen --tag -e f.bf one
    exits 0 unseen --tag --summary f.bf two <one
    says ': 2 lines read, 0 new, 2 seen;'
}

@test "as awk says, in memory and with every kind of filter, in one run and in two" {
    local form
    mixed_lines 40000 15000 >in
    head -n 25000 in >first
    tail -n +25001 in >second
    tagged in >wanted
    for form in '' '-n 100' '-j 1'; do
        exits 0 unseen -p 1e-9 --tag $form <in
        same "$out" wanted
    done
    for form in '' '-n 20000 --fixed' '--counting' '--window 1M' '--forget-after 7d' '-n 100 --secret'; do
        exits 0 unseen create --force -p 1e-9 $form f.bf
        exits 0 to got unseen --tag f.bf first
        exits 0 appending_to got unseen --tag f.bf second
        same got wanted
        succeeds unseen --tag f.bf in
        same "$out" <(sed 's/^/seen\t/' in)
    done
    exits 0 unseen create --force -p 1e-9 --shard 2/3 f.bf
    unseen shard 2/3 <in >second
    succeeds unseen --tag f.bf second
    same "$out" <(tagged second)
    exits 2 unseen --tag f.bf in
    grep -q 'belongs to shard' "$err"
}

@test "false positives are seen, as without --tag, and stay so; no line is left out" {
    local form
    mixed_lines 20000 9000 >in
    for form in '' 'f.bf'; do
        exits 0 unseen create --force -n 5000 --fixed -p 0.5 f.bf
        capture unseen ${form:--n 5000 --fixed -p 0.5} <in
        cp "$out" plain
        exits 0 unseen create --force -n 5000 --fixed -p 0.5 f.bf
        capture unseen --tag ${form:--n 5000 --fixed -p 0.5} <in
        said_new "$out" | same /dev/stdin plain
        cut -f 2- "$out" | same /dev/stdin in
        holds "$(wc -l <plain) < 8000"
    done
    capture unseen --tag f.bf in
    [[ -z $(said_new "$out") ]]
}

# --- as a coprocess ------------------------------------------------------------

@test "each line is answered while the input stays open, and is remembered then, whatever follows" {
    local form i
    exits 0 unseen create -p 1e-9 f.bf
    for form in '-p 1e-9' f.bf; do
        converse "$UNSEEN" --tag --header $form
        say h
        hear h
        for ((i = 0; i < 100; i++)); do
            say "line $i"
            hear $'new\t'"line $i"
            say "line $i"
            hear $'seen\t'"line $i"
        done
        printf 'half' >&"$ask"
        asleep "$pid"
        [[ $form != f.bf ]] || break
        farewell
    done
    # What others add is seen; what this run was told, others see, and the next run.
    exits 0 unseen add f.bf < <(echo added)
    printf '\nadded\n' >&"$ask"
    hear $'new\thalf'
    hear $'seen\tadded'
    asleep "$pid"
    kill -9 "$pid"
    farewell || true
    succeeds unseen --tag f.bf < <(printf '%s\n' 'line 0' 'line 99' half h)
    prints 'seen\tline 0\nseen\tline 99\nseen\thalf\nnew\th\n'
}

# --- what is not written is not remembered ---------------------------------------

@test "a full disk: of the new lines, those that were written whole are remembered, wherever it ends" {
    need_full
    local blocks
    limited() { (ulimit -f "$blocks"; "$@"); }
    input 4000 >all
    awk 'NR % 3 == 0' all >old
    awk 'NR % 3' all >fresh
    exits 0 unseen create -p 1e-9 old.bf
    exits 0 unseen add old.bf old
    for blocks in 1 2 3 4 5 6 7 8 9 60 100 101; do
        cp old.bf f.bf
        exits 2 limited to got unseen --tag f.bf all --summary
        [[ $(stat -c %s got) -eq $((blocks * 1024)) ]]
        said_new got >first
        grep -q " $(wc -l <first) new," "$err" || complain "$blocks"
        remembers "$(wc -l <first)" fresh
        has f.bf first
        succeeds unseen --tag f.bf all
        said_new "$out" | cat first - | same /dev/stdin fresh
    done
    cp old.bf f.bf
    exits 2 to /dev/full unseen --tag f.bf all
    says 'No space left on device'
    exits 2 sh -c 'exec "$@" >&-' sh "$UNSEEN" --tag f.bf all
    remembers 0 fresh
    exits 2 limited to got unseen --tag -p 1e-9 --summary <all
    grep -q " $(said_new got | wc -l) new," "$err" || complain 'in memory'
}

# judge_kill: ./part is what was read of a run over ./in, whose lines differ, that was killed: the next run
# says `seen` of no line that was not answered, and `new` again of no more than a batch, the last.
judge_kill() {
    said_new part >answered
    succeeds unseen --tag f.bf in || return 1
    sed -n 's/^seen\t//p' "$out" >seen
    head -n "$(wc -l <seen)" answered | same seen /dev/stdin || return 1
    holds "$(wc -l <answered) - $(wc -l <seen) <= $batch_lines"
}

@test "kill -9 at any system call: at most a batch of answers is new again, and no line seen that was not answered" {
    need_strace
    local call when kills=0 repeats=0
    input 10000 >in
    for call in write fcntl; do
        for when in {1..28}; do
            exits 0 unseen create --force -p 1e-9 -n 20000 f.bf
            capture strace -qq -o trace -e "inject=$call:signal=KILL:when=$when" "$UNSEEN" --tag f.bf in
            [[ $code -ne 0 ]] || continue
            cp "$out" part
            judge_kill || complain "$call $when"
            kills=$((kills + 1))
            repeats=$((repeats + ($(wc -l <answered) > $(wc -l <seen))))
        done
    done
    echo "$kills kills, $repeats with answers to repeat"
    [[ $kills -ge 20 && $repeats -ge 4 ]]
}

# --- many at once -------------------------------------------------------------------

@test "8 writers on one filter: one of them says new of a line; lines stay whole in a common file" {
    local to
    overlapping 4000 1500
    for to in '>out.%i' '>>out.all' '>>out.all'; do
        rm -f out.*
        exits 0 unseen create --force -n 2000 -p 1e-9 f.bf
        writers 8 sh -c '"$UNSEEN" --tag f.bf in.%i '"$to"
        said_new out.* | each_once in
        cat out.* | sed -E 's/^(new|seen)\t//' | sort | same /dev/stdin <(sort in.?)
    done
}

@test "a tag and its line go out in one write, however many lines there are" {
    need_strace
    seq -f '%0200.0f' 3000 >in
    exits 0 unseen create f.bf
    exits 0 to got strace -qq -s 400000 -o trace -e trace=write "$UNSEEN" --tag f.bf in
    grep -a '^write(1,' trace >writes
    [[ $(wc -l <writes) -ge 4 ]]
    run -1 grep -av '\\n", [0-9]*) ' writes
}
