#!/usr/bin/env bats
# What part of a line counts stands in the file, and is obeyed by all that read or write it.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
# shellcheck disable=SC2016 # what sh -c gets is meant for that shell
# shellcheck disable=SC1003 # a backslash before a quote is meant
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and is meant to be
load helper
load crash

# recipe NAME: sets `recipe`, the options.
recipe() {
    case $1 in
    trim) recipe=(--trim) ;;
    field) recipe=(-f 2) ;;
    comma) recipe=(-f '2,4-' '-t,') ;;
    url) recipe=(--by url) ;;
    host) recipe=(--by host) ;;
    endpoint) recipe=(--by endpoint) ;;
    fold) recipe=(-i) ;;
    all) recipe=(--trim -f 2 -t '\t' --by url -i) ;;
    *) return 1 ;;
    esac
}
recipes='trim field comma url host endpoint fold all'

# variants NAME [COUNT [RANGE]]: in ./in, COUNT lines with repeats, of which those of the same number
# below RANGE have one key; ./wanted has the first of each. ./other: as many lines with other keys.
variants() {
    rm -f in wanted other
    touch in wanted other
    awk -v name="$1" -v count="${2:-3000}" -v range="${3:-1000}" '
        function random(n) { x = x * 16807 % 2147483647; return int(x / 7) % n }
        function upper(text) { return random(2) ? toupper(text) : text }
        function url(n) {
            return upper("http://host") n upper(".example") (random(2) ? ":80" : "") "/" \
                (random(2) ? "%7E" : "~") "a" (random(2) ? "#" random(9) : "")
        }
        function line(n) {
            if (name == "trim")
                return substr(" \t\v\f", 1, random(5)) n " page" substr("\r \t", 1, random(4))
            if (name == "field")
                return (random(2) ? "\t " : "") random(9) (random(2) ? " " : " \t") n \
                    (random(2) ? " " random(9) : "")
            if (name == "comma")
                return random(9) "," n "," random(9) ",d,e"
            if (name == "url")
                return url(n)
            if (name == "host")
                return (random(2) ? upper("https://") : "") (random(2) ? "user@" : "") \
                    upper("host") n upper(".example") (random(2) ? ":" random(999) : "") "/" random(9)
            if (name == "endpoint")
                return (random(2) ? "http" : "https") "://a/page" n "p/" random(999) \
                    "?id=" random(9) (random(2) ? "&id=" random(9) : "")
            if (name == "fold")
                return upper("page ") n
            return (random(2) ? "  " : "") random(9) "\t" upper(url(n)) "\t" random(9) (random(2) ? "\r" : "")
        }
        BEGIN {
            x = 4711
            for (i = 0; i < count; i++) {
                n = random(range)
                text = line(n)
                print text >"in"
                if (!seen[n]++)
                    print text >"wanted"
                print line(range + i) >"other"
            }
        }'
}

# each_recipe FUNCTION: with `name`, `recipe`, its lines, and a new filter f.bf that is made for it.
each_recipe() {
    for name in $recipes; do
        recipe "$name"
        variants "$name"
        rm -rf f.bf f.bf.queue
        exits 0 unseen create -p 1e-9 "${recipe[@]}" ${making:+"$making"} f.bf
        "$@" || { echo "recipe: ${recipe[*]}"; return 1; }
    done
}

# now_in: all lines of ./in count as known, none of ./other.
now_in() {
    succeeds unseen query -c f.bf in || return 1
    prints "$(wc -l <in)\\n" || return 1
    exits 1 unseen query -c f.bf other || return 1
    prints '0\n'
}

# --- obeyed by every command ------------------------------------------------------------

@test "the lines of these tests: keys fewer than lines, lines more than keys" {
    local name
    for name in $recipes; do
        variants "$name"
        [[ $(wc -l <wanted) -lt 1000 && $(wc -l <wanted) -gt 900 && $(wc -l <in) -eq 3000 ]]
        # As whole lines, many more are distinct.
        [[ $(sort -u in | wc -l) -gt 1300 ]]
    done
}

filter_form() {
    succeeds unseen f.bf in && same "$out" wanted || return 1
    succeeds unseen f.bf in && prints '' || return 1
    now_in || return 1
    # made by the run itself
    rm -f g.bf
    exits 0 unseen --create -p 1e-9 "${recipe[@]}" g.bf in && same "$out" wanted || return 1
    succeeds unseen "${recipe[@]}" g.bf in && prints '' || return 1
    succeeds unseen g.bf in && prints '' || return 1
    # in memory
    succeeds unseen -p 1e-9 "${recipe[@]}" <in && same "$out" wanted
}

@test "the filter form, with a file and in memory: the first line of each key, as it came" {
    each_recipe filter_form
}

add_and_query() {
    succeeds unseen add f.bf wanted || return 1
    now_in || return 1
    cat in other >both
    succeeds unseen query f.bf both && same "$out" in || return 1
    succeeds unseen query -v f.bf both && same "$out" other || return 1
    succeeds unseen query "${recipe[@]}" -c f.bf both && prints '3000\n' || return 1
    { sed 's/^/seen\t/' in; sed 's/^/new\t/' other; } >tagged
    succeeds unseen query --tag f.bf both && same "$out" tagged
}

@test "add and query, with -c, -v and --tag" {
    each_recipe add_and_query
}

push_and_pop() {
    succeeds unseen push f.bf in || return 1
    succeeds unseen pop f.bf -m 5000 && same "$out" wanted || return 1
    now_in || return 1
    succeeds unseen push "${recipe[@]}" f.bf in || return 1
    exits 1 unseen pop f.bf
}

@test "push and pop" {
    each_recipe push_and_pop
}

removal() {
    succeeds unseen add f.bf in || return 1
    # One line of each key, and not always the one that came first.
    tac in | unseen -p 1e-9 "${recipe[@]}" >last || return 1
    succeeds unseen remove "${recipe[@]}" f.bf last || return 1
    exits 1 unseen query -c f.bf in && prints '0\n' || return 1
    succeeds unseen add f.bf wanted || return 1
    succeeds unseen remove f.bf wanted || return 1
    exits 1 unseen query -c f.bf in
}

@test "remove" {
    making=--counting each_recipe removal
}

later() {
    cp f.bf before.bf
    rm -f keys
    succeeds unseen --pending keys f.bf in && same "$out" wanted || return 1
    exits 1 unseen query f.bf in || return 1
    succeeds unseen commit f.bf keys && now_in || return 1
    cp before.bf f.bf
    succeeds unseen f.bf in -x cat && same "$out" wanted && now_in || return 1
    cp before.bf f.bf
    rm -f got
    succeeds unseen --durable f.bf in -a got && same got wanted && now_in || return 1
    # what CMD did not do comes again
    cp before.bf f.bf
    exits 3 unseen f.bf in -x sh -c 'cat >/dev/null; exit 1' || return 1
    succeeds unseen f.bf in && same "$out" wanted
}

@test "--pending and commit, -x, --durable" {
    each_recipe later
}

other_ways() {
    local way
    cp f.bf before.bf
    for way in '-j 1' '-j 2'; do
        cp before.bf f.bf
        # shellcheck disable=SC2086 # several words
        succeeds unseen $way f.bf in && same "$out" wanted && now_in || return 1
        # shellcheck disable=SC2086
        succeeds unseen $way -p 1e-9 "${recipe[@]}" <in && same "$out" wanted || return 1
    done
    cp before.bf f.bf
    tr '\n' '\0' <in >in0
    tr '\n' '\0' <wanted >wanted0
    succeeds unseen -z f.bf in0 && same "$out" wanted0 || return 1
    succeeds unseen -z -p 1e-9 "${recipe[@]}" <in0 && same "$out" wanted0 || return 1
    # and the keys are those of lines
    now_in
}

@test "one thread and two, small buffers, -z: the same lines" {
    each_recipe other_ways
}

window() {
    rm f.bf
    creates --window 20000 -p 1e-9 "${recipe[@]}" f.bf || return 1
    succeeds unseen f.bf in && same "$out" wanted && now_in || return 1
    rm f.bf
    creates --forget-after 1d -p 1e-9 "${recipe[@]}" f.bf || return 1
    succeeds unseen f.bf in && same "$out" wanted && now_in || return 1
    succeeds unseen --window 20000 -p 1e-9 "${recipe[@]}" <in && same "$out" wanted || return 1
    rm f.bf
    with_stages
    creates -n 200k -p 1e-9 "${recipe[@]}" f.bf || return 1
    succeeds unseen f.bf in && same "$out" wanted && now_in
}

@test "windows and stages" {
    each_recipe window
}

growth() {
    rm f.bf
    exits 0 unseen create -n 100 -p 1e-9 "${recipe[@]}" f.bf || return 1
    exits 0 unseen f.bf in && same "$out" wanted && now_in || return 1
    exits 0 unseen stats --json f.bf || return 1
    holds "$(field layer_count) > 1"
}

@test "a filter that grows" {
    each_recipe growth
}

@test "-d prints the first repeat of a key, and writers of one filter share its keys" {
    printf 'a,1\nb,1\nc,2\nd,1\n' >in
    succeeds unseen -d -f 2 -t , <in
    prints 'b,1\n'
    variants url 20000 5000
    exits 0 unseen create -p 1e-9 --by url f.bf
    writers 4 "$UNSEEN" f.bf in
    cat out.[0-3] >all
    [[ $(wc -l <all) -eq $(wc -l <wanted) ]]
    succeeds unseen -p 1e-9 --by url <all
    same "$out" all
}

@test "two threads see the same keys as one, where every second verdict is by chance" {
    local name j
    for name in comma url endpoint; do
        recipe "$name"
        variants "$name" 100000 60000
        for j in 1 2; do
            rm -f f.bf
            # the rest of them count as themselves
            exits 0 unseen create --fixed -n 50k -p 0.5 "${recipe[@]}" f.bf
            exits 0 unseen -j $j f.bf in other
            mv "$out" "out.$j"
            layer f.bf >"layer.$j"
            exits 0 unseen -j $j --fixed -n 50k -p 0.5 "${recipe[@]}" < <(cat other in)
            mv "$out" "memory.$j"
        done
        same out.2 out.1
        same memory.2 memory.1
        cmp layer.2 layer.1
        holds "$(wc -l <out.1) > 50000 && $(wc -l <out.1) < 110000"
    done
}

# --- lines that count as themselves ------------------------------------------------------

@test "a line without the field is none that has the same bytes as its key" {
    printf 'b\na,b\nb\nc,b\n' >in
    exits 0 unseen create -p 1e-9 -f 2 -t , f.bf
    succeeds unseen f.bf in
    prints 'b\na,b\n'
    succeeds unseen -p 1e-9 -f 2 -t , < <(printf 'a,b\nb\n')
    prints 'a,b\nb\n'
    # in one thread or two, and apart
    succeeds unseen query --tag f.bf in
    prints 'seen\tb\nseen\ta,b\nseen\tb\nseen\tc,b\n'
    rm f.bf
    exits 0 unseen create -p 1e-9 -f 2 -t , f.bf
    succeeds unseen add f.bf < <(echo b)
    succeeds unseen query --tag f.bf < <(printf 'x,b\nb\n')
    prints 'new\tx,b\nseen\tb\n'
    # the same of a URL in normal form, and what is none
    succeeds unseen --by url < <(printf 'http://a/\nHTTP://A\nexample.com/x\nEXAMPLE.com/x\nexample.com/x\n')
    prints 'http://a/\nexample.com/x\nEXAMPLE.com/x\n'
}

@test "a line that counts as itself is neither trimmed nor folded" {
    printf 'b\nB\n b\nb \nb\nx,B\nx,b\nx, b \n' >in
    succeeds unseen -p 1e-9 --trim -i -f 2 -t , <in
    prints 'b\nB\n b\nb \nx,B\nx, b \n'
}

@test "an empty field is a key, and no empty line" {
    printf '\na,\n\nb,\n,\nc\n' >in
    succeeds unseen -p 1e-9 -f 2 -t , <in
    prints '\na,\nc\n'
    # without -t a blank line has no field
    succeeds unseen -p 1e-9 -f 1 < <(printf '\n \na\n\n b\n')
    prints '\n \na\n b\n'
}

# of_lines ALL WITHOUT: in ./in, so many lines, some without a comma.
of_lines() {
    { seq -f 'k%.0f' "$2"; seq -f 'x,%.0f' $(($1 - $2)); } >in
}

@test "most lines without a key: said once; a thousand lines are needed, and more than half" {
    local form
    exits 0 unseen create -p 1e-9 -f 2 -t , empty.bf
    for form in 'f.bf in' 'add f.bf in' 'query -v f.bf in' '-f 2 -t , -p 1e-6' '--pending keys f.bf in' \
        '-j 1 f.bf in' 'push q.bf in'; do
        rm -rf f.bf q.bf q.bf.queue keys
        cp empty.bf f.bf
        exits 0 unseen create -p 1e-9 -f 2 -t , q.bf
        of_lines 1000 501
        # shellcheck disable=SC2086 # several words
        exits 0 unseen $form <in || { echo "$form"; false; }
        says '^unseen: .*501 of 1000 lines have no such field, .*-f 2 -t ,'
        for n in '1000 500' '999 999' '999 500' '1001 500'; do
            # shellcheck disable=SC2086
            of_lines $n
            cp empty.bf f.bf
            rm -f keys
            # shellcheck disable=SC2086
            exits 0 unseen $form <in || { echo "$form: $n"; false; }
            silent_on_stderr
        done
    done
    seq 2000 >in
    exits 0 unseen --by url <in
    says '2000 of 2000 lines have no URL,'
    exits 0 unseen --by url -f 2 -t , < <(seq -f 'x,%.0f' 2000)
    says '2000 of 2000 lines have no URL in that field'
    # whole lines always are keys
    succeeds unseen <in
}

# --- made otherwise ------------------------------------------------------------------------

# contradicts MADE GIVEN...: f.bf, made for MADE, refuses GIVEN wherever it is read or written.
contradicts() {
    local made=$1
    shift
    rm -rf ./*
    printf 'a,b\nhttp://a/\n' >in
    # shellcheck disable=SC2086 # several words
    exits 0 unseen create --counting $made f.bf || return 1
    exits 0 unseen add f.bf in || return 1
    for form in 'f.bf in' 'add f.bf in' 'query f.bf in' 'query -c f.bf in' 'query --tag f.bf in' \
        'remove f.bf in' 'push f.bf in' '--pending keys f.bf in' \
        '--durable f.bf in -a got' '--dropped dropped f.bf in' 'f.bf in -x touch started'; do
        # shellcheck disable=SC2086
        fails_with 2 '^unseen: f\.bf: was made for .*, not .* \(leave -.* out, or make another filter\)$' \
            unseen "$@" $form || { echo "$* on $made: $form"; return 1; }
    done
}

@test "options that the filter was not made for: refused, nothing changed, and what to do instead" {
    contradicts '' -f 1
    contradicts '' --trim
    contradicts '' -i
    contradicts '' --by url
    contradicts '' -f 1 -t ,
    contradicts '-f 2' -f 1
    contradicts '-f 2' -f 2-
    contradicts '-f 2' -f 2 -t ,
    contradicts '-f 2 -t ,' -f 2 -t ';'
    contradicts '-f 2 -t ,' -f 2 -t '\t'
    contradicts '-f 2 -t ,' -f 1,2 -t ,
    contradicts '-f 2 -t ,' -t ';'
    contradicts '-f 2' -t ,
    contradicts '--by url' --by host
    contradicts '--by url' --by line
    contradicts '--by endpoint' --by url
    contradicts '--by url' --by url -f 1
    contradicts '--trim' --trim -i
    contradicts '-i' --trim
}

@test "-t alone on a filter of whole lines: that fields are missing" {
    echo x >in
    exits 0 unseen create f.bf
    fails_with 2 '^unseen: -t: .*\(add -f LIST\)' unseen -t , f.bf in
    fails_with 2 '^unseen: -t: .*\(add -f LIST\)' unseen query -t , f.bf in
}

# agrees MADE GIVEN...
agrees() {
    local made=$1
    shift
    rm -f f.bf
    # shellcheck disable=SC2086 # several words
    exits 0 unseen create --counting -p 1e-9 $made f.bf || return 1
    exits 0 unseen "$@" f.bf in || return 1
    same "$out" in || return 1
    exits 0 unseen query "$@" -c f.bf in || return 1
    prints "$(wc -l <in)\\n" || return 1
    succeeds unseen add "$@" f.bf in || return 1
    succeeds unseen "$@" f.bf in && prints '' || return 1
    succeeds unseen remove "$@" f.bf in
}

@test "options that agree with the filter are accepted, however they are written" {
    printf 'a,b,c,d\nhttp://a/\nb,b,c,d\n' >in
    agrees '-f 1-3' -f 3,1-2
    agrees '-f 1-3' -f 1,2,3
    agrees '-f 3,1-2 -t ,' -f 1-3 -t '\x2c'
    agrees '-f 1-3 -t ,' -t ,
    agrees '-f 1-3 -t ,' -f -3
    agrees '--by url' --by url
    agrees '--trim -i -f 1-' -i
    agrees '--trim -i -f 1-' --trim --fields 1-
    agrees '' --by line
}

@test "values that are none: refused wherever they are given, nothing made" {
    local command
    echo x >in
    exits 0 unseen create -f 1 -t , f.bf
    wrong() {
        for command in 'create g.bf' '--create g.bf in' 'in' 'f.bf in' 'query f.bf in' 'add f.bf in' \
            'push f.bf in' 'key in'; do
            [[ $command != in ]] || command='-p 0.1'
            # shellcheck disable=SC2086 # several words
            fails_with 2 "$1" unseen "${@:2}" $command || { echo "${*:2}: $command"; return 1; }
        done
    }
    wrong "^unseen: -f 0: not a list of fields \(" -f 0
    wrong "^unseen: -f 3-2: not a list of fields" -f 3-2
    wrong "^unseen: -f '': not a list of fields" -f ''
    wrong "^unseen: -f 1,: not a list of fields" -f 1,
    wrong "^unseen: -f ,1: not a list of fields" -f ,1
    wrong "^unseen: -f -: not a list of fields" -f -
    wrong "^unseen: --fields a: not a list of fields" --fields a
    wrong "^unseen: -f 65536: not a list of fields" -f 65536
    wrong "^unseen: -f 1-4294967297: not a list of fields" -f 1-4294967297
    wrong "^unseen: -f 1,3,.*: too many ranges of fields \(expected at most 16" -f "$(seq -s, 1 2 33)"
    wrong "^unseen: -t '': no separator \(expected a single byte" -f 1 -t ''
    wrong "^unseen: -t ab: not one byte \(expected" -f 1 -t ab
    wrong "^unseen: -t 'ü': not one byte \(expected" -f 1 -t ü
    wrong "^unseen: -t '.': not one byte \(expected" -f 1 -t '\'
    wrong "^unseen: -t '.x9': not one byte \(expected" -f 1 -t '\x9'
    wrong "^unseen: --by uri: no such profile \(expected line, url, host or endpoint\)" --by uri
    wrong "^unseen: --by url/1: the version .* stands in the filter \(expected line, url," --by url/1
    wrong "^unseen: --by '': no such profile" --by ''
    fails_with 2 '^unseen: -t: which fields\? \(add -f LIST\)' unseen create -t , g.bf
    fails_with 2 '^unseen: -t: which fields\?' unseen --create -t , g.bf in
    fails_with 2 '^unseen: -t: which fields\?' unseen -t , </dev/null
    fails_with 2 '^unseen: -t: which fields\?' unseen key -t , in
    # sixteen ranges are not too many, nor is the last field there can be
    exits 0 unseen create -f "$(seq -s, 1 2 31)" g.bf
    exits 0 unseen create -f 65535- h.bf
}

# --- taken over and shown -------------------------------------------------------------------

taken_over() {
    rm -f g.bf
    creates --like f.bf g.bf || return 1
    mv f.bf first.bf
    mv g.bf f.bf
    succeeds unseen f.bf in && same "$out" wanted && now_in || return 1
    mv first.bf g.bf
    fails_with 2 '^unseen: --like and --?[a-z]+: cannot be given together' unseen create --like f.bf "${recipe[@]}" h.bf
}

@test "--like takes the recipe over, and takes no other" {
    each_recipe taken_over
}

another_seed() {
    rm -f g.bf
    creates --like f.bf --seed 77 g.bf || return 1
    for i in f g; do
        succeeds unseen stats --json $i.bf || return 1
        sed -e 's/"\(file\|filter\|uuid\)":"[^"]*"//g; s/"created":[0-9]*//' "$out" >"stats.$i"
    done
    sed -i 's/"seed":77/"seed":0/' stats.g
    same stats.g stats.f || return 1
    succeeds unseen add g.bf in || return 1
    succeeds unseen add f.bf in || return 1
    mv f.bf first.bf
    mv g.bf f.bf
    now_in || return 1
    # the keys are in other places
    ! cmp -s <(layer first.bf) <(layer f.bf)
}

@test "--like and --seed: another seed, and nothing else" {
    each_recipe another_seed
}

merged() {
    rm -f a.bf b.bf out.bf
    creates --like f.bf a.bf || return 1
    creates --like f.bf b.bf || return 1
    succeeds unseen add a.bf < <(head -n 1500 in) || return 1
    succeeds unseen add b.bf < <(tail -n 1500 in) || return 1
    succeeds unseen merge -o out.bf a.bf b.bf || return 1
    mv out.bf f.bf
    now_in || return 1
    succeeds unseen f.bf in && prints ''
}

@test "merge: filters of one recipe are one that obeys it" {
    each_recipe merged
}

@test "merge: different recipes are refused by name, nothing made" {
    exits 0 unseen create a.bf
    exits 0 unseen create --trim b.bf
    exits 0 unseen create -f 2 c.bf
    exits 0 unseen create -f 2 -t , d.bf
    exits 0 unseen create --by url e.bf
    exits 0 unseen create --by host f.bf
    exits 0 unseen create -i g.bf
    exits 0 unseen create -f 2 -t ';' h.bf
    local one other
    for one in a b c d e f g h; do
        for other in a b c d e f g h; do
            [[ $one != "$other" ]] || continue
            fails_with 2 "($other\\.bf: cannot be merged with $one|$one\\.bf: cannot be merged with $other)\\.bf: was made for .*, not " \
                unseen merge -o out.bf $one.bf $other.bf
            fails_with 2 'was made for .*, not ' unseen merge -o out.bf $one.bf $one.bf $other.bf
        done
    done
    fails_with 2 'not --trim' unseen merge -o out.bf b.bf a.bf
}

@test "stats shows the recipe, as text and as JSON" {
    need python3
    # shown JSON...: of a filter made with `recipe`.
    shown() {
        rm -f f.bf
        exits 0 unseen create "${recipe[@]}" f.bf
        succeeds unseen stats --json f.bf || return 1
        python3 -c 'import json, sys
stats = json.load(open(sys.argv[1], encoding="utf-8"))
assert stats["key"] == json.loads(sys.argv[2]), stats["key"]' "$out" "$2" || return 1
        succeeds unseen stats f.bf || return 1
        grep -Eq "^key +$1\$" "$out" || complain "does not show $1"
    }
    recipe=()
    shown 'whole lines' null
    recipe=(--trim -f '3,1-2,9-' -t '\t' --by url -i)
    shown "--trim -f 1-3,9- -t '.t' --by url -i" \
        '{"trim": true, "fields": "1-3,9-", "separator": "\\t", "by": "url/1", "ignore_case": true}'
    recipe=(-f 2 -t '"')
    shown "-f 2 -t '\"'" '{"trim": false, "fields": "2", "separator": "\"", "by": "line", "ignore_case": false}'
    recipe=(-f 2 -t "'")
    shown "-f 2 -t ''.'''" \
        "{\"trim\": false, \"fields\": \"2\", \"separator\": \"'\", \"by\": \"line\", \"ignore_case\": false}"
    recipe=(-f 2 -t '\\')
    shown "-f 2 -t '..'" '{"trim": false, "fields": "2", "separator": "\\\\", "by": "line", "ignore_case": false}'
    recipe=(-f 2 -t '\0')
    shown "-f 2 -t '.0'" '{"trim": false, "fields": "2", "separator": "\\0", "by": "line", "ignore_case": false}'
    recipe=(-f 2 -t '\xff')
    shown "-f 2 -t '.xff'" '{"trim": false, "fields": "2", "separator": "\\xff", "by": "line", "ignore_case": false}'
    recipe=(--by endpoint)
    shown '--by endpoint' '{"trim": false, "by": "endpoint/1", "ignore_case": false}'
}
