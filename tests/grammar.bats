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
    local option
    for option in --error-rate --fp-rate --false-positive-rate=1e-3; do
        fails_with 2 "^unseen: ${option%=*}: unknown option \\(.*--fpr\\)\$" unseen $option
    done
}

@test "unknown options that people may try: the way out" {
    local options message
    while IFS='|' read -r options message; do
        # shellcheck disable=SC2086
        fails_with 2 "^unseen: ${options%% *}: unknown option \\($message\\)$" unseen $options
    done <<'END'
--if-missing create f.bf|to make FILTER if there is none: unseen add --create FILTER </dev/null
--null|for lines that end with NUL: -z
--parts 4 shard list|to split a list into 4: unseen shard 4 FILE
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

@test "the options of query are errors in the filter form that say what to use" {
    local option
    exits 0 unseen --create f.bf < <(seq 3)
    for option in -c --count -q --quiet -v --invert-match; do
        fails_with 2 "^unseen: ${option}: belongs to query" unseen "$option" < <(seq 3)
        fails_with 2 "^unseen: ${option}: belongs to query" unseen f.bf "$option" < <(seq 5)
    done
    fails_with 2 '^unseen: --tag: .*query' unseen --tag f.bf < <(seq 5)
    fails_with 2 '^unseen: -c: ' unseen -zc < <(seq 5)
}

@test "each command refuses the options of the others" {
    local line
    exits 0 unseen --create f.bf < <(seq 3)
    while read -r line; do
        # shellcheck disable=SC2086 # several words
        fails_with 2 "^unseen: ${line%% *}: not an option here" unseen $line < <(seq 5)
    done <<'END'
--json
--force f.bf
--create query f.bf
-n 5 query f.bf
-d query f.bf
-c add f.bf
-d add f.bf
-c stats f.bf
-n 5 stats f.bf
--tag stats f.bf
--json verify f.bf
-z verify f.bf
--create plan -n 5
-z create g.bf
-m 5 create g.bf
END
}

@test "options that exclude or need each other: which, and why" {
    exits 0 unseen --create f.bf < <(seq 3)
    local line message
    while IFS='|' read -r line message; do
        # shellcheck disable=SC2086
        unchanged exits 2 unseen $line
        [[ $(<"$err") == "unseen: $message"* ]] || complain "unseen $line"
    done <<'END'
--create|--create: needs a FILTER
--counting|--counting: needs a FILTER
-d f.bf|-d: works in memory only
-d -x cat|-d and -x: one works in memory only, the other needs a FILTER
-d f.bf -x cat|-d and -x: one works in memory only, the other needs a FILTER
-d f.bf --pending p|-d and --pending: one works in memory only, the other needs a FILTER
-d --durable|-d and --durable: one works in memory only, the other needs a FILTER
f.bf -q|-q: belongs to query
f.bf -v|-v: belongs to query
-c f.bf|-c: belongs to query
--summary json|--summary json: the = is missing
f.bf --summary json|--summary json: the = is missing
-d --window 9|-d: remembers all lines
-d --forget-after 9s|-d: remembers all lines
-x cat|-x: needs a FILTER
--pending p|--pending: needs a FILTER
--durable|--durable: needs a FILTER
f.bf --pending p -x cat|-x, --pending and --durable: each says when lines are remembered
f.bf --durable -x cat|-x, --pending and --durable: each says when lines are remembered
f.bf --pending p --durable|-x, --pending and --durable: each says when lines are remembered
f.bf -a out -x cat|-a and -x: lines go to CMD
query --tag -c f.bf|--tag and -c: one prints every line, the other none
query --tag -q f.bf|--tag and -q: one prints every line, the other none
query --tag -v f.bf|--tag and -v: --tag prints all lines, in or not
merge f.bf|-o is missing (unseen merge -o OUT FILTER...)
plan -p 0.1|plan: for how many lines?
plan --forget-after 9s|plan: for how many lines?
create g.bf --size 1M --bits-per-key 9|--size and --bits-per-key: both give the size
create g.bf --bits-per-key 9|--bits-per-key: for how many lines?
plan --bits-per-key 9 --forget-after 9s|--bits-per-key: for how many lines?
create g.bf --window 999 -p 0.1 --size 1M|--window, -p and --size: any two of them give the third
create g.bf -n 999 -p 0.1 --size 1M|-n, -p and --size: any two of them give the third
create g.bf --window 999 -p 0.1 --bits-per-key 9|--window, -p and --bits-per-key: any two of them give the third
create g.bf -n 999 -p 0.1 --bits-per-key 9|-n, -p and --bits-per-key: any two of them give the third
plan -p 0.1 --bits-per-key 9|-n, -p and --bits-per-key: any two of them give the third
create g.bf --window 999 --forget-after 9s|--window and --forget-after: two ways to forget
create g.bf --window 999 --counting|--window and --counting: lines cannot be removed from a window
create g.bf --forget-after 9s --counting|--forget-after and --counting: lines cannot be removed from a window
create g.bf --window 999 --fixed|--window and --fixed: a window forgets instead of growing
create g.bf --forget-after 9s --fixed|--forget-after and --fixed: a window forgets instead of growing
create g.bf --window 999 -n 999|--window and -n: both say how many lines
create g.bf --fixed|--fixed: how large?
END
    # of a filter that is there, what differs is said instead
    fails_with 2 'was made without --size' unseen f.bf --size 1M --bits-per-key 9 < <(seq 3)
    succeeds unseen plan --bits-per-key 9
}

@test "operands: one too few, one too many" {
    exits 0 unseen --create f.bf < <(seq 3)
    local command
    for command in create add query stats verify; do
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

@test "numbers that are none, or out of bounds" {
    local row value
    while IFS='|' read -ra row; do
        for value in "${row[@]:1}"; do
            fails_with 2 "^unseen: ${row[0]} " unseen "${row[0]}=$value" f.bf < <(seq 3) || { echo "${row[0]} '$value'"; return 1; }
        done
    done <<'END'
--capacity|0|-5|abc|10X|1e|| |5x|1e6x|nan|inf|-inf|0x10|1..2|1,000|1e30|1e400|-1e400|18446744073709551616|99999999999T|1e-3| 5|5 
--fpr|0|1|-0.1|1.0001|nan|inf|abc||1e-3x|1e|0,1|1e400|-1e-6|1e-400| 0.1
--max-count|-1|x||1e30|99999999999999999999|5x|1.5
--size|0|-1|x||99999999999999999999|99999999999999T|1KX|1MiBs|K
--max-line|x||-1|99999999999999999999|99999999999999T
--hashes|0|-1|x||1e9|99999999999999999999
--bits-per-key|0|-1|x||nan|inf|1e30
--seed|-1|x||18446744073709551616|99999999999999999999|1.5| 1
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
    done < <(unseen help all | sed -nE 's/.* (--[a-z-]+)( |\[=)([A-Z]+|json).*/\1 \3/p')
    [[ $(snapshot) == "$before" && $tried -gt 400 ]] || complain "$tried tried"
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
    fails_with 2 '^unseen: -F: .*-t ,\)$' unseen -F , -f 1 <<<a
    fails_with 2 "append to it: -a 'new txt'; to replace it: > 'new txt'\)$" unseen -o 'new txt' <<<a
    fails_with 2 '^unseen: -k: .*-f 2\)$' unseen -k 2 <<<a
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

# spellings: of every option in `help all`, a line each: "-n --capacity".
spellings() { unseen help all | sed -n 's/^ *\(-.*\)/\1/p' | sed 's/  .*//; s/,//g; s/\[.*//; s/ [A-Z].*//'; }

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

@test "help all has every option that is taken, and the commands that take it" {
    local option line command short
    spellings >all
    unseen help all >text
    [[ $(wc -L <text) -le 80 && $(wc -l <all) -ge 46 ]]
    # every option of the help of a command is there, and says so
    for command in $(commands); do
        for option in $(unseen help "$command" | grep -Eo -- '^ {2,6}-.*' | grep -Eo -- '--[a-z-]+' | grep -v -e help -e version); do
            grep -A2 -E -- "^ .* ${option}( |\[|,|\$)" text | grep -Eq "[( ]${command}[ )]" || { echo "$command $option"; return 1; }
        done
    done
    # each of them is an option, by each of its names, and a name that is none is none
    while read -r line; do
        for option in $line; do
            capture unseen "$option" --help
            ! grep -q 'unknown' "$err" || complain "help all names $option"
        done
        [[ $line =~ -- ]] || complain "no long name: $line"
    done <all
    # and every one that getopt knows: those that a typed beginning brings up
    for short in a b c d e f g h i j k l m n o p q r s t u v w x y z A B C D E F G H I J K L M N O P Q R S T U V W X Y Z 0 1; do
        capture unseen "-$short" x --help
        grep -q 'unknown option' "$err" || grep -Eq -- "(^| )-$short( |\$)" all || complain "-$short is in no help"
    done
}

@test "what a value must be: each example is taken, and limits are as one would write them" {
    local option argument example command
    while read -r option argument; do
        command=create
        capture unseen create "$option" "$argument" new.bf
        ! grep -q 'not an option here' "$err" || command=key
        fails_with 2 'not a value it can take' unseen $command "$option" "$argument" new.bf
        example=$(sed -n 's/.*such as \([^ ,)]*\).*/\1/p' "$err")
        [[ -n $example ]] || complain "no example for $option" || return 1
        run -1 grep -E '[0-9]e\+|[0-9]{7}' "$err"
        # whatever else is missing, the value will do
        capture unseen $command "$option" "$example" new.bf
        ! grep -q 'not a value' "$err" || complain "$option $example" || return 1
        rm -f new.bf
    done <<'END'
-n x
-n 0
-p 2
-p 101%
--size 10
--window 0
--forget-after 7x
--forget-after 1h1h
--forget-after 1h2d
--bits-per-key 0
--hashes 0
-j 0
--max-line 0
END
    fails_with 2 '^unseen: -j 0: not a value it can take \(a whole number from 1 to 1024, such as 4\)$' unseen -j 0
    fails_with 2 '\(a size from 64K to 1P, such as 64M\)$' unseen plan --size 10
    fails_with 2 '^unseen: --forget-after 7: needs a unit \(7s, 7m, 7h, 7d or 7w\)$' unseen plan --forget-after 7 -n 9
    fails_with 2 '^unseen: -m 1.5: ' unseen -m 1.5
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
    local bad
    for bad in 1dh d 1d12 7d7 7days 1h1h 1s1d 7D '7 d' 1d-2h 1d+2h 0x7d infd -7d; do
        fails_with 2 "^unseen: --forget-after ${bad/+/.}: " unseen create "--forget-after=$bad" new.bf
    done
    for bad in % 1%% 1%x 60% 0% '1 %'; do
        fails_with 2 "^unseen: -p $bad: " unseen create -p "$bad" new.bf
    done
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
