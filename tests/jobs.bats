#!/usr/bin/env bats
# -j: a second thread reads ahead, and nothing but the speed may tell.

load helper

# list FILE [RANGE]: so many different lines. A second thread starts behind the first megabyte.
list() {
    mixed_lines 25000 "${2:-8000}" | sed 's,$,/a/longer/way/to/make/this/a/line/of/some/length,' >"$1"
    [[ $(stat -c %s "$1") -gt 1500000 ]]
}

@test "the same bytes for every -j, in memory and with a file, from files and pipes" {
    local j
    list in
    lines_unique in >expected
    # So high a rate that it matters where layers end: they do, in the middle of batches.
    unseen -j 1 -n 1000 -p 0.3 <in >rough 2>errors
    for j in 1 2 16; do
        unseen -j $j <in >got
        cmp expected got
        rm -f f.bf
        # shellcheck disable=SC2002 # a pipe is what is tried
        cat in | unseen --create -j $j -n 5000 f.bf 2>errors >got
        cmp expected got
        unseen -j $j f.bf in >got
        [[ ! -s got ]]
        unseen -j $j -n 1000 -p 0.3 <in >got 2>errors
        cmp rough got
    done
}

@test "-m ends behind its last line, and leaves the rest to the next program" {
    local most
    seq -f 'a line that is as long as an address in the web, or nearly so: %.0f' 30000 >in
    for most in 0 1 15000 29999 30000; do
        {
            unseen -j 2 -m $most >first
            cat >rest
        } <in
        cat first rest | cmp - in
        [[ $(wc -l <first) -eq $most ]]
    done
}

@test "the output closed while the thread waits, as far ahead as it may be: what it took is remembered" {
    local pid
    seq 500000 >in
    creates f.bf
    mkfifo pipe
    env --default-signal=PIPE "$UNSEEN" -j 2 f.bf in >pipe 2>errors 3>&- &
    pid=$!
    exec {hold}<pipe
    head -c 1300000 <&"$hold" >taken
    asleep "$pid"
    exec {hold}<&-
    ended 141 "$pid"
    unseen -j 2 f.bf in >rest
    # What the pipe took and head did not read was handed on.
    tail -n "$(wc -l <rest)" in | cmp - rest
    holds "$(cat taken rest | wc -c) > $(wc -c <in) - 300000"
}

@test "where no second thread is to be had, one does: lines longer than the buffer, too" {
    need_strace
    list in
    { cat in; head -c 900000 /dev/zero | tr '\0' z; printf '\nlast\n'; } >long
    exits 0 strace -qq -o trace -e trace=clone,clone3 -e inject=clone,clone3:error=EAGAIN "$UNSEEN" -j 2 <long
    lines_unique long | same "$out" -
    grep -q EAGAIN trace
}

# open_pipe: `pipe`, which stays open for writing until `hold` is closed.
open_pipe() {
    mkfifo pipe
    exec {hold}<>pipe
}

# The forms in which lines are judged, as words for `run_form`.
forms=('-n 1000 -p 0.5' '-d -n 1000 -p 0.5' '-n 1000 -p 0.5 --by url' '-n 1000 -p 0.5 -f 4- -t /' 'f.bf' 'secret.bf' 'add f.bf' 'query f.bf' 'query -v f.bf' 'query --tag f.bf' 'query -c f.bf'
    'remove counting.bf' 'push queue.bf' '--durable -a got f.bf' '--pending keys f.bf' 'f.bf -x cat')

# fresh: filters of so high a rate, and so small, that it matters where layers end.
fresh() {
    if [[ ! -e made ]]; then
        mkdir made
        unseen create -n 1000 -p 0.5 made/f.bf
        unseen create -n 1000 -p 0.5 --counting made/counting.bf
        unseen create -n 1000 -p 0.5 made/queue.bf
        unseen create -n 1000 -p 1e-9 --secret made/secret.bf
        head -n 3000 in >first
        unseen add made/f.bf first
        unseen add made/counting.bf first
    fi 2>errors
    rm -rf ./*.bf ./*.queue keys got
    cp made/* .
}

# run_form FORM OPTION...: in the background, reading ./pipe. Sets `pid`.
run_form() {
    local words
    read -ra words <<<"$1"
    shift
    case ${words[0]} in
    add | query | remove | push) set -- "${words[0]}" "$@" "${words[@]:1}" ;;
    *) set -- "$@" "${words[@]}" ;;
    esac
    env --default-signal=TERM "$UNSEEN" "$@" <pipe >printed 2>errors 3>&- &
    pid=$!
}

# left: all that a run has left, as one word.
left() {
    [[ ! -e keys ]] || unseen commit f.bf keys
    {
        cat printed
        [[ ! -e got ]] || cat got
        unseen query f.bf universe || true
        unseen query counting.bf universe || true
        unseen pop queue.bf || true
    } | cksum
}

@test "every form leaves the same with one thread, and with two that wait for the rest of the input" {
    local form wanted
    list in
    seq -f 'http://example.org/%.0f/page/of/which/nobody/has/ever/heard' 20000 | cat in - >universe
    mkfifo pipe
    for form in "${forms[@]}"; do
        fresh
        run_form "$form" -j 1
        cat in >pipe
        wait "$pid"
        wanted=$(left)
        fresh
        run_form "$form" -j 2
        { head -c 1400000 in; asleep "$pid" >&2; tail -c +1400001 in; } >pipe
        wait "$pid"
        [[ $(left) == "$wanted" ]] || { echo "differs: $form"; false; }
    done
}

# threads: how many the process has.
threads() {
    local tasks=("/proc/$pid/task/"*)
    echo ${#tasks[@]}
}

# flooded: the list has gone to the form that runs, and the pipe stays open; waits until it has a second thread.
flooded() {
    local i
    cat in >pipe
    for ((i = 0; i < 3000; i++)); do
        [[ $(threads) -ne 2 ]] || return 0
        sleep 0.01
    done
    echo "one thread"
    return 1
}

@test "every form has a second thread, and a signal ends it while both threads wait" {
    need_signals
    plain_build 'has threads of its own'
    local form status
    list in
    open_pipe
    for form in "${forms[@]}" 'key' 'plan -' 'shard 1/2'; do
        fresh
        run_form "$form" -j 2
        flooded || { echo "$form"; kill -9 "$pid"; false; }
        kill -TERM "$pid"
        status=0
        wait "$pid" || status=$?
        [[ $status -eq 143 ]] || { echo "$form: $status"; false; }
        [[ -z $(find . -name '*flight*') ]]
    done
}

@test "without -j: a second thread where the process may run on two processors, none on one" {
    plain_build 'has threads of its own'
    need taskset
    taskset -c 0,1 true 2>/dev/null || skip "may not run on processors 0 and 1"
    local processors
    list in
    lines_unique in >expected
    open_pipe
    for processors in 0,1 0; do
        taskset -cp $processors "$BASHPID" >said
        run_form '-p 1e-9'
        cat in >pipe
        until cmp -s expected printed; do sleep 0.01; done
        [[ $(threads) -eq $(nproc) ]]
        kill -9 "$pid"
        wait "$pid" || true
    done
}

@test "--durable remembers within its time, whichever thread waits for more lines" {
    plain_build 'has threads of its own'
    local i
    list in
    open_pipe
    unseen create -p 1e-9 f.bf
    run_form '--durable -a got f.bf' -j 2
    flooded
    remembered in
    [[ $(threads) -eq 2 ]]
    # Few lines at a time end the second thread.
    seq -f 'slow line %.0f' 40 >slow
    for ((i = 1; i <= 40; i++)); do
        echo "slow line $i" >&"$hold"
        # Two that it finds in the pipe are one read.
        until [[ $(tail -n 1 got) == "slow line $i" ]]; do sleep 0.01; done
    done
    remembered slow
    [[ $(threads) -eq 1 ]]
    kill -9 "$pid"
    { lines_unique in; cat slow; } | cmp - got
}

# remembered FILE: waits until all its lines are.
remembered() {
    local i n
    n=$(wc -l <"$1")
    for ((i = 0; i < 600; i++)); do
        [[ $(unseen query -c f.bf "$1") -ne $n ]] || return 0
        sleep 0.05
    done
    echo "not all of $1 is remembered"
    return 1
}

@test "a reader ahead that waits for a pipe does not outlive the end of the output" {
    local most feeder
    list in
    echo 'the last line' >>in
    lines_unique in >unique
    # When the last line comes out, the thread waits for more in read(2).
    for most in 7000 "$(wc -l <unique)"; do
        open_pipe
        cat in >pipe 3>&- &
        feeder=$!
        timeout -k 1 "$UNSEEN_TIMEOUT" "$UNSEEN" -j 2 -m "$most" <pipe >got
        kill "$feeder" 2>errors || true
        head -n "$most" unique | cmp - got
        exec {hold}>&-
        rm pipe
    done
}

@test "behind a flood, a line still comes out before the next is sent" {
    local i n feeder
    list in 100
    n=$(lines_unique in | wc -l)
    converse timeout -k 1 "$UNSEEN_TIMEOUT" "$UNSEEN" -j 2
    cat in >&"$ask" 3>&- &
    feeder=$!
    for ((i = 0; i < n; i++)); do
        hear
    done
    wait "$feeder" # what is left of the flood is no news
    for ((i = 1; i <= 100; i++)); do
        say "slow line $i"
        hear "slow line $i"
    done
    farewell
}

@test "among many lines: some longer than the buffer; one too long, and the next input is read" {
    list in
    { cat in; head -c 3000000 /dev/zero | tr '\0' y; echo; cat in; head -c 900000 /dev/zero | tr '\0' z; } >long
    unseen -j 2 --dropped held <long >got
    lines_unique long | same got -
    awk 's[$0]++' long | same held -
    { cat in; head -c 100000 /dev/zero | tr '\0' x; echo; echo behind; } >long
    echo last >last
    creates f.bf
    exits 2 unseen -j 2 --max-line 90000 f.bf long last
    { lines_unique in; echo last; } | same "$out" -
    says '^unseen: long: has a line longer than 90000 bytes'
}

# many: 40,000, some 4 MB; where a sanitizer looks at each access, 24,000 see as much: 2 MB.
many() { if sanitized; then echo 24000; else echo 40000; fi; }

# rows SYNTAX: as many lines in it; some repeat a key, some have none, one is longer than the buffer.
rows() {
    mixed_lines "$(many)" 15000 | awk -v syntax="$1" '
        NR == 14000 { long = "x"; while (length(long) < 300000) long = long long; sub(/page/, long) }
        NR % 5 == 0 { sub(/example.org/, "EXAMPLE.org:80/a/..") }
        NR % 900 == 0 { print "of no kind"; next }
        { text = "words that make it as long as an address" }
        syntax == "csv" && NR == 1 { print "id,url,text" }
        syntax == "csv" { print NR % 9 ",\"" $0 "\"," text ",\"\"\"" NR "\"\"\"" }
        syntax == "jsonl" { print "{\"id\": " NR ", \"url\": \"" $0 "\", \"text\": [\"" text "\"]}" }
        syntax == "fields" { print NR, "GET", $0, NR % 3 " which is of " text }
        syntax == "url" { print $0 "?of=" NR % 3 "&and=words-that-make-it-as-long-as-an-address" }'
}

# alike FILE ARGUMENT...: over it, -j 1 and -j 2 have the same output, messages and status.
alike() {
    local file=$1 j
    shift
    for j in 1 2; do
        { "$UNSEEN" "$@" -j $j || echo "status $?" >&2; } <"$file" >printed.$j 2>said.$j
    done
    { same printed.2 printed.1 && same said.2 said.1 && [[ -s printed.1 ]]; } || { echo "$* <$file"; return 1; }
}

# Programs read what another has written before: not in one pipeline.
# shellcheck disable=SC2094
@test "both threads make keys: the same bytes and messages for each kind of them, and wherever lines end" {
    local syntax options j
    while IFS='|' read -r syntax options; do
        [[ -e $syntax ]] || rows "$syntax" >"$syntax"
        rm -f f.bf
        unseen create -n 100000 -p 1e-9 $options f.bf
        alike "$syntax" $options
        [[ $syntax == jsonl ]] || alike "$syntax" --header -n 1000 -p 0.5 $options
        alike "$syntax" key --tag $options
        alike "$syntax" key $options "$syntax" - "$syntax"
        # The next program gets what is left; a filter of a shard refuses the first line of another.
        unseen shard 2/3 --like f.bf "$syntax" >of_shard
        { cat of_shard of_shard; tail -n 3000 "$syntax"; } >of_more
        for j in 1 2; do
            rm -f f.bf shard.bf
            unseen create -n 100000 -p 1e-9 $options f.bf
            unseen create --shard 2/3 -n 100000 -p 1e-9 $options shard.bf
            {
                unseen -j $j f.bf "$syntax" "$syntax"
                unseen -j $j shard.bf of_more || echo "status $?"
                unseen -j $j -m 10000 $options
                cat
            } <"$syntax" >printed.$j 2>said.$j
            # From a flood to a trickle, and back.
            {
                cat "$syntax"
                printf '%s\n' one two three | while read -r line; do
                    echo "$line comes late"
                    sleep 0.02
                done
                tail -n $(($(many) * 2 / 3)) "$syntax"
            } | { unseen -j $j $options || echo "status $?"; } >>printed.$j 2>>said.$j
        done
        same printed.2 printed.1
        same said.2 said.1
        grep -q 'belongs to shard' said.1
    done <<'END'
csv|--csv -f 2
csv|--csv -f url,id
jsonl|--jsonl -f url --by url
fields|-f 3-
url|--by url
url|--by endpoint -i
url|-i
END
    # A row that is none, far behind: the lines before it come first, and the next input is read.
    sed '19000s/.*/7,"not closed/' csv >broken
    { cat broken; rows csv; } >two
    for options in '-f 2' '-f 1,3-' '-f url'; do
        alike broken --csv $options
        alike broken key --csv $options two - csv broken
        [[ $(grep -c 'line 19000: bytes follow the closing quote' said.1) -eq 3 ]]
    done
}
