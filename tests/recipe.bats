#!/usr/bin/env bats
# What part of a line counts stands in the file, and is obeyed by all that read or write it.

# shellcheck disable=SC1003 # a backslash before a quote is meant
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

# each_recipe FUNCTION [NAME...]: for all of them, or these, with `name`, `recipe`, its lines, and a new
# filter f.bf that is made for it.
each_recipe() {
    local function=$1
    shift
    [[ $# -gt 0 ]] || set -- $recipes
    for name; do
        recipe "$name"
        variants "$name"
        rm -rf f.bf f.bf.queue
        exits 0 unseen create -p 1e-9 "${recipe[@]}" ${making:+"$making"} f.bf
        "$function" || { echo "recipe: ${recipe[*]}"; return 1; }
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

# Which part counts is the keyer's matter: all recipes are tried with the filter form, add and query. That
# the other commands ask the keyer, two recipes show.

prints_and_asks() {
    succeeds unseen f.bf in && same "$out" wanted || return 1
    succeeds unseen f.bf in && prints '' || return 1
    # in memory; -j 1, -j 2
    succeeds unseen -p 1e-9 "${recipe[@]}" -j 1 <in && same "$out" wanted || return 1
    succeeds unseen -p 1e-9 "${recipe[@]}" -j 2 <in && same "$out" wanted || return 1
    # made by the run itself, and by lines that end with NUL, whose keys are those of lines
    rm f.bf
    exits 0 unseen --create -z -p 1e-9 "${recipe[@]}" f.bf < <(tr '\n' '\0' <in) || return 1
    tr '\n' '\0' <wanted | cmp - "$out" || return 1
    now_in || return 1
    rm f.bf
    exits 0 unseen add --create -p 1e-9 "${recipe[@]}" f.bf wanted || return 1
    cat in other >both
    { sed 's/^/seen\t/' in; sed 's/^/new\t/' other; } >tagged
    succeeds unseen query --tag "${recipe[@]}" f.bf both && same "$out" tagged || return 1
    succeeds unseen query -v f.bf both && same "$out" other
}

@test "the filter form, with a file and in memory, add and query: the first line of each key, as it came" {
    each_recipe prints_and_asks
}

comes_later() {
    cp f.bf before.bf
    rm -f keys got
    succeeds unseen push f.bf in || return 1
    succeeds unseen push f.bf in || return 1
    succeeds unseen pop f.bf -m 5000 && same "$out" wanted && now_in || return 1
    cp before.bf f.bf
    succeeds unseen --pending keys f.bf in && same "$out" wanted || return 1
    exits 1 unseen query f.bf in || return 1
    succeeds unseen commit f.bf keys && now_in || return 1
    cp before.bf f.bf
    # what CMD did not do comes again
    exits 3 unseen f.bf in -x sh -c 'cat >/dev/null; exit 1' || return 1
    succeeds unseen f.bf in -x cat && same "$out" wanted && now_in || return 1
    cp before.bf f.bf
    succeeds unseen --durable f.bf in -a got && same got wanted && now_in
}

@test "push, pop, --pending, commit, -x, --durable" {
    each_recipe comes_later comma all
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
    making=--counting each_recipe removal field url
}

taken_over() {
    local other
    rm -f a.bf b.bf seed.bf out.bf
    for other in a.bf b.bf '--seed 77 seed.bf'; do
        creates --like f.bf $other || return 1
    done
    succeeds unseen add a.bf < <(head -n 1500 in) || return 1
    succeeds unseen add b.bf < <(tail -n 1500 in) || return 1
    succeeds unseen merge -o out.bf a.bf b.bf || return 1
    # with another seed: all is the same, but for where the keys are
    succeeds unseen stats --json f.bf seed.bf || return 1
    [[ $(sed -E 's/"(filter|uuid|seed|created)":[^,]*,//g' "$out" | uniq | wc -l) -eq 1 ]] || complain "more differs" || return 1
    succeeds unseen seed.bf in && same "$out" wanted || return 1
    mv out.bf f.bf
    now_in || return 1
    run -1 cmp -s <(layer f.bf) <(layer seed.bf)
}

@test "--like takes the recipe over, also with another seed; filters of one recipe merge into one that obeys it" {
    each_recipe taken_over comma all
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

# --- lines without a key ------------------------------------------------------

@test "a line without a key is compared whole: untrimmed, unfolded, and no other one's key" {
    local options lines wanted
    while IFS='|' read -r options lines wanted; do
        succeeds unseen -p 1e-9 $options < <(printf '%b' "$lines")
        prints "$wanted" || complain "$options"
    done <<'END'
-f 2 -t ,|b\na,b\nb\nc,b\n|b\na,b\n
-f 2 -t ,|a,b\nb\n|a,b\nb\n
-f 2 -t ,|\na,\n\nb,\n,\na,\nx,y\n|\na,\nb,\n,\nx,y\n
-f 1|\n \na\n\n b\n|\n \na\n b\n
--by url|HTTP://A:80/%7e#x\nhttp://a/~\nhttp://b\n http://A/~ \nx\nhttp://b/\nx \nx\n|HTTP://A:80/%7e#x\nhttp://b\nx\nx \n
--by url|http://a/\nHTTP://A\nexample.com/x\nEXAMPLE.com/x\nexample.com/x\n|http://a/\nexample.com/x\nEXAMPLE.com/x\n
--trim -i -f 2 -t ,|b\nB\n b\nb \nb\nx,B\nx,b\nx, b \nx, b c \n|b\nB\n b\nb \nx,B\nx, b c \n
END
    exits 0 unseen create -p 1e-9 -f 2 -t , f.bf
    exits 0 unseen add f.bf < <(echo b)
    says 'no value in that field'
    succeeds unseen query --tag f.bf < <(printf 'x,b\nb\n')
    prints 'new\tx,b\nseen\tb\n'
}

# some FORMAT PART...: lines that differ: of each PART, COUNT KIND [+FROM], so many of that kind, with numbers
# from FROM, else 1, on. FORMAT: j for JSON, c and n for columns with names and without. KIND: k has a key,
# x has none, h is half a line of JSON, e is empty, b and d are [ and ].
some() {
    local format=$1 part line from
    shift
    [[ $format != c ]] || echo id,n
    for part; do
        case ${format/n/c}:${part//[^a-z]/} in
        j:k) line='{"id":&}' ;;
        j:x) line='{"x":&}' ;;
        j:h) line='{"id":&' ;;
        c:k) line='&,n' ;;
        c:x) line=',&' ;;
        *:e) line= ;;
        j:b) line='[' ;;
        j:d) line=' ] ' ;;
        *) return 1 ;;
        esac
        from=1
        [[ $part != *+* ]] || from=${part#*+}
        seq "$from" $((from - 1 + ${part%%[a-z]*})) | sed "s/.*/$line/"
    done
}

@test "lines without a key are told of at the end, once: if it shows, or the options may be wrong" {
    local format first options parts said there
    local -A key=([j]='--jsonl -f id' [c]='--csv --header -f id' [n]='-f 1 -t ,')
    there=$(unseen shard 2 ${key[j]} 2>/dev/null <<<'{"x":1}' | cut -f 1)
    while IFS='|' read -r format first options parts said; do
        rm -rf f.bf* got*
        exits 0 unseen create --counting -p 1e-9 ${key[$format]/--header } f.bf
        exits 0 unseen add f.bf < <(some "$format" $first)
        options=${options/K/${key[$format]}}
        capture unseen $options < <(some "$format" $parts)
        if [[ -z $said ]]; then
            silent_on_stderr
        else
            says ": $said lines (has|have|is|are) "
        fi || { echo "row: $format|$first|$options|$parts|$said" && return 1; }
    done <<END
n||f.bf|499k 500x|
n||f.bf|500k 500x|
n||f.bf|499k 501x|501 of 1000
n||f.bf|9k 1x|
n|9x|f.bf|9x|9 of 9
j||f.bf|9k 1x|1 of 10
j||f.bf|10k 1x|
c||f.bf|9k 1x|1 of 10
c||f.bf|10k 1x|
j||f.bf|100k 1h|1 of 101
j|9x 9h|f.bf|9x 9h|
c|9x|f.bf|9x|
j|1h 1x|f.bf|1x 1h 9k|
j|1h|f.bf|1h 10k 1x|
j|100k|f.bf|100k 9k+200 1x|1 of 110
j|50x|f.bf|50x 10k 1x+100|
j|1000x|f.bf|1000x 11k 1x+2000|1001 of 1012
j||f.bf|9k 3e 1b 1d|
j||f.bf|1b 1e 1d|
j||f.bf|1b 2x 1d|2 of 4
n||f.bf|3e|
n||f.bf|500k 1e 500x|
j||--tag f.bf|9k 5e 1x|1 of 15
j|9k 1x|--tag f.bf|9k 1x|1 of 10
j||query --tag f.bf|9k 1x|1 of 10
j|9k 1x|query f.bf|9k 1x|1 of 10
j|9k|query f.bf|9k 1x|
j|9k|query -v f.bf|9k 1x|1 of 10
j|9k 1x|query -v f.bf|9k 1x|
j|9k 1x 1h|query -c f.bf|9k 1x 1h|
j|9x|query -c f.bf|9x|9 of 9
j||add f.bf|9k 1x 1h|
j||add f.bf|1b 2x 1d|2 of 4
j|9x|add f.bf|9x|9 of 9
j|9k 1x 1h|remove f.bf|9k 1x 1h|
j|9x|remove f.bf|9x|9 of 9
j||-d K|9k 1x|
j||-d K|9k 1x 9k 1x|2 of 20
j||f.bf -a got|9k 1x|1 of 10
j||f.bf -x cat|9k 1x|1 of 10
j||push f.bf|9k 1x|1 of 10
j|9k 1x|push f.bf|9k 1x|
j||f.bf -m 9|9k 1x 1h|
j||shard 2 K|9k 1x|1 of 10
j||shard 2 --files got.%d K|9k 1x|1 of 10
j||shard $there/2 K|9k 1x|1 of 10
j||shard $((3 - there))/2 K|9k 1x|
j||key K|9x 9h|
j||plan K -|9x 9h|
END
}

@test "what lines lack, and the first of them; the command that shows them works as it is printed" {
    local options run lines n said way
    echo '{"id":0}' >one
    while IFS='|' read -r options run lines n said way; do
        printf '%b' "$lines" >in
        way="unseen key --tag $way FILE | grep -a ^none"
        [[ $run != -z* ]] || way=${way/ key --tag/ key --tag -z} way=${way/grep -a/grep -az}
        eval "exits 0 unseen create --force -p 1e-9 $options f.bf"
        exits 0 unseen f.bf $run in
        [[ $(cat "$err") == "unseen: f.bf: ${said/;/; these are compared as whole lines (}to see them: $way)" ]] ||
            complain "not: $said $way"
        eval "${way/FILE/in}" >shown
        [[ $(tr '\0' '\n' <shown | grep -c ^none) -eq $n ]] || complain "shows: $(cat shown)"
    done <<'END'
--jsonl -f id||{"id":1}\n{"x":1}\n\n{"id":2\nhello\n|4|1 of 5 lines has no 'id' (first: line 2), 2 are not JSON (first: line 4);|--jsonl -f id
--jsonl -f id|one|{"id":1}\n{"id":2\n|1|1 of 3 lines is not JSON (first: line 2 of in);|--jsonl -f id
--jsonl -f u --by host||{"x":1}\n|1|1 of 1 line has no host in 'u' (first: line 1);|--jsonl -f u --by host
--jsonl -f request.id,b||{"x":1}\n{"x":2\n|2|1 of 2 lines has no 'request.id' (first: line 1), 1 is not JSON (first: line 2);for id within request: -f /request/id,b; |--jsonl -f request.id,b
--csv --trim -f '"last, first",n'||n,"last, first"\n1,\n|1|1 of 1 line has no '"last, first"' (first: line 2);|--csv --header --trim -f '"last, first",n'
-t ';' -f id||id;n\n1;\n;2\n|1|1 of 2 lines has no 'id' (first: line 3);|--header -f id -t ';'
-f 2 -t ,|-z|a\0b\0|2|2 of 2 lines have no value in that field (first: line 1);|-f 2 -t ,
-f 1 -t '\t'||\t\t\n\ta\n|2|2 of 2 lines have no value in that field (first: line 1);|-f 1 -t '\t'
-f 2 --without '\d+'||a 1\nd 2\ne\n|3|3 of 3 lines have no value in that field after --without (first: line 1);|-f 2 --without '\d+'
--jsonl -f id --without 1||{"id":"1"}\n{"id":1}\n|1|1 of 2 lines has no 'id' after --without (first: line 1);|--jsonl -f id --without 1
--by url|--header|h\na\nb\n|2|2 of 2 lines have no URL (first: line 2);|--header --by url
END
}

@test "a later member that none of many lines has: said, if lines were dropped; with two threads, too" {
    local said="^unseen: f.bf: none of [0-9]+ lines has 'acton', so it tells none of them apart \\(is the name right\\?\\)$" n at
    for n in 100 200000; do
        seq "$n" | sed 's/.*/{"id":1&,"n":&,"action":"a&"}/' >in
        exits 0 unseen create --force --jsonl -f id,acton,n f.bf
        exits 0 unseen -j 2 f.bf in
        silent_on_stderr
        exits 0 unseen -j 2 f.bf in
        says_lines 1 "$said"
        # One line has it, whichever thread makes its key. Null is no value.
        for at in 58 62 66 70 74 78 82 86 90 94 98; do
            sed "$((n * at / 100)) s/action/acton/" in >one
            exits 0 unseen -j 2 f.bf one
            silent_on_stderr
        done
        mv one in
        sed -i 's/"acton":"[^"]*"/"acton":null/' in
        exits 0 unseen -j 2 f.bf in
        says_lines 1 "$said"
        # few lines may well lack it
        exits 0 unseen f.bf < <(head -n 99 in)
        silent_on_stderr
    done
}

# --- said and shown ------------------------------------------------------------------------

@test "stats shows the recipe, as text and as JSON" {
    local options text json
    while IFS='|' read -r options text json; do
        eval "exits 0 unseen create --force $options f.bf"
        succeeds unseen stats --json f.bf
        grep -qF "\"key\":$json,\"hash\"" "$out" || complain "not $json"
        succeeds unseen stats f.bf
        [[ $(sed -n 's/^key  *//p' "$out") == "$text" ]] || complain "not $text"
    done <<'END'
|whole lines|null
--by endpoint|--by endpoint|{"trim":false,"by":"endpoint/2","ignore_case":false}
--trim -f 3,1-2,9- -t '\t' --by url -i|--trim -f 1-3,9- -t '\t' --by url -i|{"trim":true,"fields":"1-3,9-","separator":"\\t","by":"url/2","ignore_case":true}
-f 2 -t \"|-f 2 -t '"'|{"trim":false,"fields":"2","separator":"\"","by":"line","ignore_case":false}
-f 2 -t \'|-f 2 -t ''\'''|{"trim":false,"fields":"2","separator":"'","by":"line","ignore_case":false}
-f 2 -t '\\'|-f 2 -t '\\'|{"trim":false,"fields":"2","separator":"\\\\","by":"line","ignore_case":false}
-f 2 -t '\xff'|-f 2 -t '\xff'|{"trim":false,"fields":"2","separator":"\\xff","by":"line","ignore_case":false}
--csv|--csv|{"trim":false,"format":"csv","separator":",","by":"line","ignore_case":false}
--csv -t '\t' -f 'a b,5"'|--csv -f 'a b,"5"""' -t '\t'|{"trim":false,"format":"csv","fields":"a b,\"5\"\"\"","separator":"\\t","by":"line","ignore_case":false}
--csv -f '"last, first","id"'|--csv -f '"last, first",id'|{"trim":false,"format":"csv","fields":"\"last, first\",id","separator":",","by":"line","ignore_case":false}
--csv -f '"2019"'|--csv -f '"2019"'|{"trim":false,"format":"csv","fields":"\"2019\"","separator":",","by":"line","ignore_case":false}
--csv -f '!etl_id,at'|--csv -f '!at,etl_id'|{"trim":false,"format":"csv","fields":"!at,etl_id","separator":",","by":"line","ignore_case":false}
--csv -f '!2,4-5'|--csv -f 1,3,6-|{"trim":false,"format":"csv","fields":"1,3,6-","separator":",","by":"line","ignore_case":false}
-f "!it's" -t ,|-f '!it'\''s' -t ,|{"trim":false,"fields":"!it's","separator":",","by":"line","ignore_case":false}
-f id,n -t '\t'|-f id,n -t '\t'|{"trim":false,"fields":"id,n","separator":"\\t","by":"line","ignore_case":false}
-f '!1'|-f 2-|{"trim":false,"fields":"2-","by":"line","ignore_case":false}
--jsonl -f '"/a,b","id",!x'|--jsonl -f '"/a,b",id,!x'|{"trim":false,"format":"jsonl","fields":"\"/a,b\",id,!x","by":"line","ignore_case":false}
--jsonl -f id,/a~1b/c,id --by line|--jsonl -f 'id,/a~1b/c'|{"trim":false,"format":"jsonl","fields":"id,/a~1b/c","by":"line","ignore_case":false}
--without b --without='it'\''s "\d"' -i --without b|-i --without b --without 'it'\''s "\d"' --without b|{"trim":false,"by":"line","ignore_case":true,"without":["b","it's \"\\d\"","b"]}
--without $'\t\xff\\\xff\\\\\xff'|--without $'\011\377\134\377\134\134\377'|{"trim":false,"by":"line","ignore_case":false,"without":["\u0009\\xff\\xff\\\\\\xff"]}
END
}

@test "what stats shows of names and patterns makes the same filter: blanks, quotes, control bytes" {
    local list shown
    while IFS= read -r list; do
        eval "creates --force --csv -f $list --without $list f.bf"
        shown=$(unseen stats f.bf | sed -n 's/^key  *//p')
        eval "creates --force $shown g.bf"
        succeeds unseen merge -o out.bf f.bf g.bf
        [[ $(unseen stats out.bf | sed -n 's/^key  *//p') == "$shown" ]] || complain "$list: $shown"
        rm out.bf
    done <<'END'
'a b'
'last name,"first, name"'
'!$x,`y`'
$'tab\tin,"line\nin"'
$'\xff,"\xc3\xa9, x"'
'"it''s","5"" disk"'
'!"!a","-1",b'
END
}

@test "filters whose columns are others, or all but these, are not taken for alike" {
    creates --csv -f a,b named.bf
    creates --csv -f '!a,b' except.bf
    creates -t , -f a,b plain.bf
    creates -t , -f '!b,a' others.bf
    # in any notation, and as far as they are given
    succeeds unseen -f '"a",b,a' named.bf </dev/null
    succeeds unseen --csv -f '!b,"a",b' except.bf </dev/null
    succeeds unseen --create -f '!a,b' others.bf </dev/null
    succeeds unseen -t , plain.bf </dev/null
    fails_with 2 "named\.bf: was made for --csv -f a,b, not --csv -f '!a,b' \(leave -f out" unseen -f '!a,b' named.bf
    fails_with 2 'named\.bf: was made for --csv -f a,b, not --csv -f b,a ' unseen -f b,a named.bf
    fails_with 2 "except\.bf: was made for --csv -f '!a,b', not --csv -f a,b " unseen -f a,b except.bf
    fails_with 2 'plain\.bf: was made for -f a,b -t ,, not --csv -f a,b \(leave --csv out' unseen --csv plain.bf
    fails_with 2 "plain\.bf: was made for -f a,b -t ,, not -f '\"1\"' -t , " unseen -f '"1"' plain.bf
    fails_with 2 'was made for .*, not ' unseen merge -o out.bf named.bf except.bf
    fails_with 2 'was made for .*, not ' unseen merge -o out.bf plain.bf others.bf
    fails_with 2 'was made for .*, not ' unseen merge -o out.bf named.bf plain.bf
    creates --like except.bf same.bf
    succeeds unseen merge -o out.bf except.bf same.bf
    exits 0 unseen --create --like others.bf like.bf </dev/null
    succeeds unseen -f '!b,a' like.bf </dev/null
    fails_with 2 'except\.bf: was made for ' unseen --like others.bf except.bf
}

@test "filters with other patterns are not taken for alike, and a command as given has them all" {
    creates --without a --without 'b c' two.bf
    creates --without 'b c' --without a turned.bf
    creates -i plain.bf
    succeeds unseen two.bf </dev/null
    succeeds unseen --without a --without 'b c' two.bf </dev/null
    fails_with 2 "two\.bf: was made for --without a --without 'b c', not --without a \(leave --without out, or " unseen --without a two.bf
    fails_with 2 'plain\.bf: was made for -i, not -i --without a \(leave --without out, or ' unseen --without a plain.bf
    fails_with 2 'was made for .*, not ' unseen merge -o out.bf two.bf turned.bf
    fails_with 2 'was made for .*, not ' unseen merge -o out.bf plain.bf two.bf
    # with all of two long ones, and of longer ones what fits
    local many=(--without "$(printf '%0200d' 1)" --without "$(printf '%0200d' 2)")
    creates "${many[@]}" many.bf
    creates "${many[@]}" --without a more.bf
    fails_with 2 "made for ${many[*]} --without a, not ${many[*]} \(to make " unseen merge -o out.bf many.bf more.bf
    creates --force --without "$(printf '%0999d' 1)" more.bf
    fails_with 2 'more.bf: cannot .* was made for --without 0*\.\.\. \(to make ' unseen merge -o out.bf many.bf more.bf
    fails_with 2 '^unseen: --like and --without: cannot be given together' unseen create --like two.bf --without a x.bf
    creates --like two.bf same.bf
    succeeds unseen merge -o out.bf two.bf same.bf
    succeeds unseen shard --like two.bf 2/2 </dev/null
    fails_with 2 "to make it: unseen --create -i --without a --without 'b c' x\.bf" unseen --without a --without 'b c' -i x.bf
    seq 9 >in
    succeeds unseen plan --without a --without 'b c' in
    grep -q "^To make it: unseen create -n .* --without a --without 'b c' FILTER$" "$out"
    # at most 16, whatever is after them
    local pattern patterns=()
    for pattern in {a..r}; do
        patterns+=(--without "$pattern")
    done
    fails_with 2 'unseen: --without q: too many patterns \(expected at most 16; ' unseen "${patterns[@]}"
    succeeds unseen key "${patterns[@]:0:32}" </dev/null
}

@test "members whose names have commas and quotes" {
    echo '{"a,b":1,"a":2,"c\"":{"d,e":[3]},"!f":4,"2019":5}' >in
    succeeds unseen key --jsonl -f '"a,b",a' in
    prints '1,2\n'
    succeeds unseen key --jsonl -f '"/c""/d,e/0",!f,"2019"' in
    prints '3,4,5\n'
    # a dot is told of, but for a name in quotes
    creates --jsonl -f '"a.b",c' f.bf
    exits 0 unseen create --force --jsonl -f '"c.d",a.b' f.bf
    says_lines 2 'f a\.b: means a member of that name \(for b within a: /a/b; ' ': created'
    # and as jq and JSONPath have it
    exits 0 unseen create --force --jsonl -f .a.b f.bf
    says_lines 2 'f \.a\.b: .*\(for b within a: /a/b; ' ': created'
    exits 0 unseen create --force --jsonl -f 'c,$.b' f.bf
    says_lines 2 'f \$\.b: .*\(for b: /b; ' ': created'
    # so is a blank that is part of a name
    exits 0 unseen create --force --jsonl -f 'c, a' f.bf
    says_lines 2 "f ' a': means a member with blanks in its name \(to avoid this note: '\" a\"'\)" ': created'
    creates --force --jsonl -f 'c," a"' f.bf
}

@test "a LIST that is none: what is wrong with it, and nothing is made" {
    local arguments reason words
    while IFS='|' read -r arguments reason; do
        eval "words=($arguments)"
        fails_with 2 "$reason" unseen create "${words[@]}" f.bf || complain "$arguments"
    done <<'END'
-f id|-f id: not a list of fields .*names need --csv, --jsonl or -t SEP
-f '"2"'|not a list of fields .*names need
-f '!'|not a list of fields
--csv -f '"id'|a name in quotes is not closed .*as CSV has them
-t , -f 'a,"id""'|a name in quotes is not closed
--jsonl -f '"a","'|a name in quotes is not closed
--csv -f '1,"id'|a name in quotes is not closed
--csv -f '"id"x'|bytes follow the closing quote of a name .*as CSV has them
--jsonl -f '"id" ,n'|bytes follow the closing quote
--csv -f '""'|not a list of names
--csv -f 'id,,n'|not a list of names
-t , -f id,|not a list of names
--csv -f '!'|not a list of names
--csv -f '1,"2"'|numbers and names of columns .*in quotes
--csv -f '!2,id'|numbers and names of columns
-t , -f 1,id|numbers and names of columns
--csv -f 2019-01|not a list of fields .*a name of digits in quotes
--csv -f '!1-'|leaves out all fields
-f '!65535'|not a list of fields .*65534
--jsonl -f '"/a,~"'|not a JSON Pointer
--jsonl --by url -f '"a,b",c'|takes one member
END
    creates --jsonl --by url -f '"a,b"' f.bf
}
