#!/usr/bin/env bats
# The command line: commands and files, options, numbers, help.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
load helper

# --- the first word ----------------------------------------------------------

@test "an unknown command names the nearest one, also for words of other tools, and the way to a file of that name" {
    local word nearest
    while read -r word nearest; do
        fails_with 2 "did you mean '$nearest'\\? .*\\./$word" unseen "$word" f.bf < <(seq 3)
    done <<'END'
stat stats
statss stats
quer query
qeury query
ad add
craete create
verfy verify
hlep help
pob pop
check query
insert add
show stats
END
    for word in seen xyzzyplugh a-b x foo bar log abc; do
        fails_with 2 "^unseen: $word: unknown command \\(.*unseen < $word; .*\\./$word\\)$" unseen "$word" < <(seq 3)
    done
}

@test "the file system is never asked: a file of that name changes nothing" {
    fails_with 2 'to make it: unseen --create \./seen' unseen -- seen < <(seq 3)
    exits 0 unseen --create ./seen < <(seq 3)
    fails_with 2 '\./seen' unseen seen < <(seq 5)
    fails_with 2 '\./seen' unseen --create seen < <(seq 5)
    fails_with 2 '\./seen' unseen -n 10 seen < <(seq 5)
    succeeds unseen ./seen < <(seq 5)
    prints '4\n5\n'
    # a file with the name of a command does not hide the command
    cp seen stats
    fails_with 2 'FILTER' unseen stats
    succeeds unseen ./stats < <(seq 6)
    prints '6\n'
}

@test "options before the command or the filter do not make it another word" {
    exits 0 unseen --create f.bf < <(seq 3)
    succeeds unseen -z -m 1 -e f.bf < <(printf 'x\0')
    succeeds unseen -c query f.bf < <(seq 5)
    prints '3\n'
    succeeds unseen -v query f.bf < <(seq 5)
    prints '4\n5\n'
    succeeds unseen --json stats f.bf
}

@test "what is not [a-z][a-z-]* is a filter" {
    local name
    for name in Seen seen2 seen.bf seen_bf ./seen 9 seen/ SEEN; do
        fails_with 2 ': ' unseen "$name" < <(seq 3)
        run ! grep -q 'did you mean' "$err"
        run ! grep -q 'command' "$err"
    done
    fails_with 2 'No such file or directory' unseen seen2 < <(seq 3)
}

@test "'' and - are never a FILTER" {
    local form
    for form in '' query add create stats verify --create; do
        # shellcheck disable=SC2086
        fails_with 2 '' unseen $form '' < <(seq 3)
        # shellcheck disable=SC2086
        fails_with 2 '' unseen $form - < <(seq 3)
        # shellcheck disable=SC2086
        fails_with 2 '' unseen $form -- '' < <(seq 3)
        # shellcheck disable=SC2086
        fails_with 2 '' unseen $form -- - < <(seq 3)
    done
    [[ ! -e - ]]
}

# --- -- ----------------------------------------------------------------------

@test "-- ends the options: what follows is a file, whatever it looks like" {
    exits 0 unseen --create -- seen < <(seq 3)
    [[ -f seen ]]
    succeeds unseen -- seen < <(seq 4)
    prints '4\n'
    exits 0 unseen --create -- query < <(seq 3)
    [[ -f query ]]
    exits 0 unseen --create -- -n < <(seq 3)
    [[ -f ./-n ]]
    succeeds unseen query -- -n < <(seq 2 4)
    prints '2\n3\n'
}

@test "-- only ends options: a second one is an operand" {
    exits 0 unseen --create f.bf < <(seq 3)
    seq 3 4 >--
    succeeds unseen f.bf -- -- </dev/null
    prints '4\n'
    echo 5 >-m
    succeeds unseen f.bf -- -m </dev/null
    prints '5\n'
}

@test "-- alone is the memory form" {
    succeeds unseen -- < <(printf 'a\na\n')
    prints 'a\n'
    succeeds unseen -z -- < <(printf 'a\0a\0')
    prints 'a\0000'
}

# --- options -----------------------------------------------------------------

@test "abbreviated long options are refused" {
    exits 0 unseen --create f.bf < <(seq 3)
    local option
    for option in --creat --cap=10 --error=0.1 --zero --max-c=1 --exit --repeat --summ --hel --vers --buffer=4K --fix; do
        fails_with 2 "${option%%=*}" unseen "$option" f.bf < <(seq 5)
    done
    for option in --inv --invert --cou --qui --ta; do
        fails_with 2 "$option" unseen query "$option" f.bf < <(seq 5)
    done
    fails_with 2 '--js' unseen stats --js f.bf
    fails_with 2 '--tab' unseen plan --tab
}

@test "unknown options are refused by name" {
    fails_with 2 '--nosuch' unseen --nosuch < <(seq 3)
    fails_with 2 '--nosuch' unseen --nosuch=5 < <(seq 3)
    fails_with 2 '-y' unseen -y < <(seq 3)
    fails_with 2 '-y' unseen -zy < <(seq 3)
    fails_with 2 '--nosuch' unseen query --nosuch f.bf < <(seq 3)
    fails_with 2 '--nosuch' unseen plan --nosuch
    fails_with 2 '--Create' unseen --Create f.bf < <(seq 3)
    fails_with 2 '' unseen $'-\xc3' < <(seq 3)
    fails_with 2 '' unseen --= < <(seq 3)
}

@test "unknown options that people may try: the way out" {
    local options option message
    while IFS='|' read -r options message; do
        # shellcheck disable=SC2086
        unchanged exits 2 unseen $options <<<a
        option=${options%%[ =]*}
        [[ $(<"$err") == "unseen: $option: unknown option ($message)" ]] || complain "$options"
    done <<'END'
--null|for lines that end with NUL: -z
-F , -f 1|for what separates fields: -t ,
--delimiter=,|for what separates fields: -t ,
-k 2|for fields: -f 2
--error-rate=1%|for the false-positive rate: --fpr
--fp-rate 1%|for the false-positive rate: --fpr
--false-positive-rate|for the false-positive rate: --fpr
--cap=10|did you mean --capacity?
--nosuch|see unseen --help
END
}

@test "POSIXLY_CORRECT changes nothing" {
    exits 0 unseen --create f.bf < <(seq 3)
    POSIXLY_CORRECT=1 exits 0 unseen f.bf -m 1 < <(seq 9)
    prints '4\n'
    POSIXLY_CORRECT=1 succeeds unseen query f.bf -c < <(seq 9)
    prints '4\n'
    POSIXLY_CORRECT=1 exits 0 unseen --create new.bf -n 100 < <(seq 2)
    prints '1\n2\n'
}

@test "options stand before or after the operands, and between" {
    exits 0 unseen f.bf --create < <(seq 3)
    seq 4 9 >a
    seq 10 19 >b
    succeeds unseen f.bf a -m 7 b
    seq 4 10 >wanted
    same "$out" wanted
    succeeds unseen query f.bf a b -c
    prints '7\n'
    succeeds unseen query f.bf -v a b --count
    prints '9\n'
    succeeds unseen stats f.bf --json
    exits 0 unseen create g.bf -n 100 -p 0.01
}

@test "--option=value and --option value, -nVALUE and -n VALUE" {
    local i=0 options
    while read -r options; do
        i=$((i + 1))
        # shellcheck disable=SC2086
        exits 0 unseen --create $options "$i.bf" < <(seq 3)
        prints '1\n2\n'
        succeeds unseen --create -n 12345 -p 0.001 "$i.bf" </dev/null
    done <<'END'
--capacity=12345 --fpr=0.001 --max-count=2
--capacity 12345 --fpr 0.001 --max-count 2
-n12345 -p0.001 -m2
-n 12345 -p 0.001 -m 2
END
}

@test "short options in one bundle" {
    exits 1 unseen -ez </dev/null
    succeeds unseen -ze < <(printf 'a\0b\0a\0')
    prints 'a\0000b\0000'
    succeeds unseen -zm1 < <(printf 'a\0b\0a\0')
    prints 'a\0000'
    succeeds unseen -ezm 1 < <(printf 'a\0b\0a\0')
    prints 'a\0000'
    exits 0 unseen --create f.bf < <(seq 3)
    succeeds unseen query -vc f.bf < <(seq 9)
    prints '6\n'
    succeeds unseen query -zcv f.bf < <(printf 'a\0b\0001\0')
    prints '2\n'
}

@test "a value for an option that takes none is refused" {
    fails_with 2 '--zero-terminated: takes no value' unseen --zero-terminated=5 < <(seq 3)
    fails_with 2 '--create' unseen --create=f.bf < <(seq 3)
    fails_with 2 '--count' unseen query --count=3 f.bf < <(seq 3)
    fails_with 2 '--help' unseen --help=me
}

@test "a missing value is an error" {
    local option
    for option in -n -p -m -a --capacity --fpr --size --bits-per-key --hashes --seed --append --max-count --max-line; do
        fails_with 2 "^unseen: $option: needs a value" unseen "$option" < <(seq 3)
        fails_with 2 "^unseen: $option: needs a value" unseen f.bf "$option" < <(seq 3)
        [[ $option != --* ]] || fails_with 2 "^unseen: $option '': " unseen "$option=" < <(seq 3)
    done
    fails_with 2 '-n: needs a value' unseen plan -n
    fails_with 2 '-m: needs a value' unseen -zm < <(seq 3)
    fails_with 2 '-n' unseen -n '' f.bf < <(seq 3)
}

@test "each command refuses the options of the others: which take it, or what to use" {
    local line option wanted
    exits 0 unseen --create f.bf < <(seq 3)
    while IFS='|' read -r line wanted; do
        option=${line%% *}
        # shellcheck disable=SC2086 # several words
        fails_with 2 "^unseen: ${option/z/}: not an option here \\($wanted" unseen $line < <(seq 5)
    done <<'END'
-c f.bf|to count the lines that are new: --summary, or \| wc -l\)$
--count|to count
-q f.bf|to remember lines and print none: unseen add FILTER\)$
--quiet|to remember
-v f.bf|new lines are printed without it\)$
--invert-match|new lines
-o new f.bf|to append to a file: -a FILE; to replace it: > FILE\)$
--pending k commit f.bf|FILE comes after FILTER: unseen commit FILTER FILE\)$
--shard 1/2 shard in|the shard comes first: unseen shard 1/4 FILE\)$
-n 4 shard in|the number of shards comes first: unseen shard 4 FILE\)$
-o part.%d shard 4 in|for a file of one shard: > FILE; of each: --files 'shard.%d'\)$
--shard 1/4 plan -n 9|the lines of a shard are its -n: lines/N
--tag f.bf|it belongs to: query, key\)$
--force f.bf|it belongs to: create, merge\)$
--create query f.bf|it belongs to: unseen FILTER, add, push\)$
-zc add f.bf|it belongs to: query\)$
END
}

@test "options that exclude each other: both are named, and why" {
    local command option others other
    exits 0 unseen --create f.bf < <(seq 3)
    while IFS='|' read -r command option others; do
        while IFS= read -r -d , other; do
            # shellcheck disable=SC2086 # several words
            unchanged exits 2 unseen $command $option $other </dev/null
            says "^unseen: (${option%% *} and ${other%% *}|${other%% *} and ${option%% *}): cannot be given together \\([^(].*\\)$" ||
                complain "$command $option $other"
        done <<<"$others,"
    done <<'END'
|-d|--pending p,--durable,--window 9,--forget-after 9s,--dropped d,--summary,-x cat
f.bf|-a out|-x cat
f.bf|--pending p|--durable,-x cat
f.bf|--durable|-x cat
plan|--window 9|-n 9,--forget-after 9s,--fixed,--counting
create g.bf|--window 9|-n 9,--forget-after 9s,--fixed,--counting
create g.bf|--forget-after 9s|--fixed,--counting,--size 1M
create g.bf|--size 1M|--bits-per-key 9
create g.bf|--secret|--seed 9
create g.bf|--like f.bf|-f 1,-t x,--by url,-i,--trim,-n 9,-p 1%,--window 9,--forget-after 9s,--size 1M,--fixed,--counting,--bits-per-key 9,--hashes 3
query f.bf|--tag|-c,-q,-v
END
    fails_with 2 '^unseen: -d and FILTER: cannot be given together' unseen -d f.bf
}

@test "options that need something else: what" {
    local line message
    exits 0 unseen --create f.bf < <(seq 3)
    while IFS='|' read -r line message; do
        # shellcheck disable=SC2086
        unchanged exits 2 unseen $line </dev/null
        [[ $(<"$err") == "unseen: $message"* ]] || complain "unseen $line"
    done <<'END'
--create|--create: needs a FILTER (unseen FILTER FILE... --create)
--counting|--counting: needs a FILTER
f.bf --summary=json|--summary: takes no value
add f.bf --json|--json: needs --summary
--shard 1/2|--shard: needs a FILTER
-x cat|-x: needs a FILTER
--pending p|--pending: needs a FILTER
--durable|--durable: needs a FILTER
pop f.bf --tries 3|--tries: needs -x (add -x CMD ARG...)
--json|--json: needs --summary
verify f.bf --json|--json: needs --summary
merge f.bf|-o is missing (unseen merge -o OUT FILTER...)
plan -p 0.1|plan: for how many lines?
plan --forget-after 9s|plan: for how many lines?
create g.bf --fixed|--fixed: how large?
create g.bf --bits-per-key 9|--bits-per-key: for how many lines?
plan --bits-per-key 9 --forget-after 9s|--bits-per-key: for how many lines?
create g.bf --window 999 -p 0.1 --size 1M|--window, -p and --size: any two of them give the third
create g.bf -n 999 -p 0.1 --size 1M|-n, -p and --size: any two of them give the third
create g.bf --window 999 -p 0.1 --bits-per-key 9|--window, -p and --bits-per-key: any two of them give the third
create g.bf -n 999 -p 0.1 --bits-per-key 9|-n, -p and --bits-per-key: any two of them give the third
plan -p 0.1 --bits-per-key 9|-n, -p and --bits-per-key: any two of them give the third
END
    succeeds unseen plan --bits-per-key 9
}

@test "operands: one too few, one too many" {
    exits 0 unseen --create f.bf < <(seq 3)
    local command
    for command in create add query stats verify commit push pop remove; do
        fails_with 2 "^unseen: FILTER is missing \(unseen $command FILTER.*\)\$" unseen "$command" < <(seq 5)
    done
    fails_with 2 '^unseen: b\.bf: one operand too many \(unseen create FILTER\)$' unseen create a.bf b.bf
    fails_with 2 '^unseen: b\.bf: one operand too many \(unseen pop FILTER\)$' unseen pop a.bf b.bf
    fails_with 2 '' unseen plan -n 1000 f.bf
    fails_with 2 '' unseen help query stats
}

# --- numbers -----------------------------------------------------------------

@test "counts: 1000000, 1e6, 1M, 1000k, 1000K are one number; G and T are there" {
    local n
    exits 0 unseen create -n 1000000 -p 0.1 f.bf
    for n in 1e6 1M 1000k 1000K 1.0e6 0.1e7; do
        succeeds unseen --create -n "$n" f.bf </dev/null
    done
    succeeds unseen plan -n 2G -p 0.01 --json
    cp "$out" wanted
    succeeds unseen plan -n 2e9 -p 0.01 --json
    same "$out" wanted
    succeeds unseen plan -n 1T -p 0.01 --json
    cp "$out" wanted
    succeeds unseen plan -n 1e12 -p 0.01 --json
    same "$out" wanted
}

@test "sizes: K, M, G are powers of 1024, KB, MB, GB of 1000, KiB, MiB of 1024" {
    local size other
    while read -r size other; do
        succeeds unseen plan -p 0.01 --size "$size" --json
        cp "$out" wanted
        succeeds unseen plan -p 0.01 --size "$other" --json
        same "$out" wanted
    done <<'END'
1M 1048576
1MiB 1048576
1MB 1000000
640K 655360
640KiB 655360
640KB 640000
1G 1024M
1GB 1000MB
1GiB 1073741824
2T 2048G
2TB 2000GB
2TiB 2T
END
}

@test "numbers: both bounds are taken; what is beyond, or none, is refused, and the bounds are said" {
    local command option kind least most bad value
    while IFS='|' read -r command option kind least most bad; do
        for value in "$least" "$most"; do
            # shellcheck disable=SC2086 # several words
            capture unseen $command "$option=$value" </dev/null
            ! grep -q '(expected' "$err" || complain "$option=$value"
        done
        while IFS= read -r -d '|' value; do
            # shellcheck disable=SC2086
            unchanged exits 2 unseen $command "$option=$value" </dev/null
            [[ $(<"$err") == "unseen: $option "*"$value"*": not a $kind (expected $least to $most)" ]] ||
                complain "$option='$value'"
        done <<<"$bad|"
    done <<'END'
plan|--capacity|count|1|1T|0|-5|abc|10X|1e|| |5x|1e6x|nan|inf|-inf|0x10|1..2|1,000|2T|1e30|1e400|-1e400|1e-3|1.5| 5|5 
plan|--window|count|1|1T|0|2T||x|1.5
plan|--fpr|rate|1e-12|0.5|0|0.6|60%|1e-13|0%|%|1%%|1%x|1 %|-0.1|nan|inf|abc||1e-3x|1e|0,1|1e400|-1e-6|1e-400| 0.1
plan|--forget-after|time|0.001s|115740d|0s|0.0001s|115741d|7x|x||1h1h|1s1d|1h2d|1dh|d|1d12|7d7|7days|7D|7 d|1d-2h|1d+2h|0x7d|infd|-7d
plan|--size|size|64K|1P|65535|2P|0|-1|x||99999999999999999999|1KX|1MiBs|K
plan -n 9|--bits-per-key|number|1|1000|0.9|1001|0|-1|x||nan|inf|1e30|1K
plan -n 9|--hashes|count|1|112|0|113|-1|x||1e9|1.5
|--max-count|count|0|1000T|-1|1001T|x||1e30|5x|1.5
|--threads|count|1|1024|0|1025|x||1.5
|--max-line|size|1|1T|0|2T|-1|x||1.5
pop none.bf|--wait|time|0s|115740d|115741d||x
pop none.bf|--tries|count|1|9|0|10||x|1.5
create none/f.bf|--seed|seed|0|18446744073709551615|18446744073709551616|-1|x||1.5| 1|1e3|0x
END
}

@test "the value of every option of every command is looked at, whatever else is given" {
    local option argument command value said before tried=0
    seq 3 >in
    creates f.bf
    succeeds unseen --pending k f.bf in
    before=$(snapshot)
    while read -r option argument; do
        while read -r command; do
            for value in '' 'no such value'; do
                [[ -z $value || ! $argument =~ FIL|OUT|CMD|PATTERN ]] || continue
                code=0
                # shellcheck disable=SC2086
                said=$("$UNSEEN" $command "$option=$value" <in 2>&1) || code=$?
                [[ $said != *'not an option here'* ]] || continue
                [[ $code == 2 && $said == "unseen: $option"* ]] ||
                    { echo "$command $option='$value': $code, $said"; return 1; }
                tried=$((tried + 1))
            done
        done <<'END'

f.bf in
new.bf in
--create new.bf in
create new.bf
create f.bf
create --force f.bf
add f.bf in
query f.bf in
stats f.bf
plan -n 5
plan in
verify f.bf
commit f.bf k
push f.bf in
pop f.bf
remove f.bf in
merge -o new.bf f.bf
key in
shard 2 in
END
    done < <(unseen help all | sed -nE 's/.* (--[a-z-]+)( |\[=)([A-Z]+).*/\1 \3/p')
    [[ $(snapshot) == "$before" && $tried -gt 370 ]] || complain "$tried tried"
}

@test "a file to write to is never named -: how such a file is written, and the standard output" {
    local arguments
    seq 3 >in
    creates f.bf
    exits 0 unseen push --create q.bf in
    for arguments in '-a - f.bf' '-a - f.bf in' '--dropped - f.bf' 'add --dropped - f.bf' 'push --dropped - q.bf'; do
        # shellcheck disable=SC2086
        fails_with 2 '^unseen: -[a-z-]* -: .* \./-.*/dev/stdout' unseen $arguments <in
    done
    for arguments in '--pending - f.bf' 'merge -o - f.bf' 'shard 2 --files - in' \
        'create --like - s.bf'; do
        # shellcheck disable=SC2086
        fails_with 2 '^unseen: -[a-z-]* -: .* \./-' unseen $arguments <in
    done
    succeeds unseen -a /dev/stdout f.bf <in
    same "$out" in
    succeeds unseen --dropped ./- f.bf in
    same ./- in
}

@test "what people mean by another option, or by an operand, is said" {
    exits 0 unseen create f.bf
    fails_with 2 '^unseen: --window 7d: not a count \(for a time: --forget-after 7d\)$' unseen --window 7d <<<a
    fails_with 2 '^unseen: --forget-after 7: needs a unit' unseen --forget-after 7 <<<a
    fails_with 2 '^unseen: --wait 1.5: needs a unit' unseen pop --wait 1.5 f.bf
    exits 2 unseen push f.bf "it's"
    eval "$(sed 's/.*(if that is a line: \(.*\))$/\1/' "$err")"
    exits 2 unseen query f.bf "it's"
    [[ $(eval "$(sed 's/.*(if that is a line: \(.*\))$/\1/' "$err")") == "it's" ]]
    succeeds unseen pop f.bf
    prints "it's\\n"
    creates -n 10^5 -p 10^-3 g.bf
    succeeds unseen -n 1e5 -p 1e-3 g.bf </dev/null
}

# --- help --------------------------------------------------------------------

# commands: as the short help lists them.
commands() { unseen help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p'; }

@test "help: on stdout, exit 0, and it reads nothing; 40 lines of 80 columns name every command" {
    local command
    succeeds unseen help
    cp "$out" wanted
    [[ $(wc -l <wanted) -le 40 && $(wc -L <wanted) -le 80 ]] || complain "too long"
    [[ $(commands | wc -l) -ge 13 ]]
    # what can be asked for is there: a command that is none says which are near
    for command in create add query stats plan verify commit push pop remove merge key help; do
        commands | grep -qx "$command" || { echo "help does not name $command"; return 1; }
    done
    succeeds unseen --help
    same "$out" wanted
    succeeds unseen -h
    same "$out" wanted
    for option in -f -t --by -i --trim -z -a --dropped -m -e -x --create -n -p --window --summary; do
        grep -Eq -- "^(.{40})?  $option( |\$)" wanted || { echo "help does not name $option"; return 1; }
    done
    [[ $(unseen help all | wc -L) -le 80 ]] || complain "help all is wide"
    # for experts only
    run -1 grep -E -- '--(hashes|bits-per-key|seed)|-j( |$)' wanted
}

@test "help for each command, by three names" {
    local command
    for command in $(commands); do
        succeeds unseen help "$command"
        grep -q "^Usage: unseen $command" "$out" || complain "does not say 'unseen $command'"
        [[ $(wc -L <"$out") -le 80 ]] || complain "a line is longer than 80 columns"
        run -1 grep -E -- '--(hashes|bits-per-key|seed)|-j,' "$out"
        cp "$out" wanted
        succeeds unseen "$command" --help
        same "$out" wanted
        succeeds unseen "$command" -h
        same "$out" wanted
    done
}

@test "rates in percent, times of several units" {
    local option value same
    while read -r option value same; do
        exits 0 unseen create --force "$option" "$value" f.bf
        succeeds unseen add "$option" "$same" f.bf </dev/null
    done <<'END'
-p 1% 0.01
-p 0.3% 0.003
-p 1e-2% 1e-4
-p 0.7% 7e-3
--forget-after 1d12h 36h
--forget-after 1w2d3h4m5s 9d3h4m5s
--forget-after 90s 1.5m
END
}

@test "help for what is no command" {
    fails_with 2 'nosuch' unseen help nosuch
    fails_with 2 "did you mean 'stats'" unseen help stat
}

@test "--version, -V" {
    succeeds unseen --version
    grep -Eq '^unseen [0-9]+\.[0-9]+' "$out" || complain "not a version"
    cp "$out" wanted
    succeeds unseen -V
    same "$out" wanted
    succeeds unseen query --version
    same "$out" wanted
}

@test "--help and --version win over what else is on the line" {
    succeeds unseen --create absent.bf --help < <(seq 3)
    [[ ! -e absent.bf ]]
    succeeds unseen -n 5 -V
    [[ ! -e absent.bf ]]
}

@test "no environment variable changes what is filtered" {
    mixed_lines 1000 300 >in
    lines_unique in >wanted
    UNSEEN_OPTIONS='-d' UNSEENOPTS='-z' COLUMNS=10 LANG=tr_TR.UTF-8 TERM=dumb succeeds unseen <in
    same "$out" wanted
}
