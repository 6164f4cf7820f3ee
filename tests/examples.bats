#!/usr/bin/env bats
# Every example of README.md and of the manual pages is run by dash (without dash: by sh), each alone
# in an empty directory: exit 0, and one with "# prints:" comments prints those lines and no others.
#
# An example is a block marked sh in README.md (those marked console only show), and every
# .Bd -literal block of man/*.[1-8]. Comments on the lines just above a block say more about it;
# README has them as <!-- before: SHELL --> and <!-- needs: COMMAND -->:
#
#     .\" before: SHELL  run first, unseen by the reader: makes the files that the block reads
#     .\" needs: COMMAND left out where this is not installed
#     .\" shown: WHY     no example, it is not run
#     .\" file: NAME     it is the file NAME, not run by itself
#     .\" with: NAME     that file is there
#
# mail(1) is one that prints what it is given. A table of sizes is held against the program, too.

load helper
load examples

readme=$repository/README.md
shell=$(command -v dash || command -v sh)

# readme_examples DIRECTORY: the same of README.md.
readme_examples() {
    mkdir -p "$1"
    awk -v to="$1" '
        file == "" && /^<!-- needs: / { shown = system("command -v " $3 " >/dev/null") != 0; next }
        file == "" && sub(/^<!-- before: /, "") && sub(/ -->$/, "") { before = before $0 "\n"; next }
        /^```/ {
            if (file == "" && $0 == "```sh" && !shown) {
                file = sprintf("%s/%02d", to, ++count)
                printf "%s", before >file
                print FILENAME ":" FNR >(file ".line")
                next
            }
            file = ""
        }
        { before = ""; shown = 0 }
        file != "" { print >file }' "$readme"
}

# run_example FILE: as it says at the top of this file; else why not, and 1.
run_example() {
    local example=$1 directory status=0
    directory=$(mktemp -d "$BATS_TEST_TMPDIR/example.XXXXXX")
    mkdir -p "$BATS_TEST_TMPDIR/bin"
    ln -sf "$UNSEEN" "$BATS_TEST_TMPDIR/bin/unseen"
    printf '#!/bin/sh\nexec cat\n' >"$BATS_TEST_TMPDIR/bin/mail"
    chmod +x "$BATS_TEST_TMPDIR/bin/mail"
    (
        cd "$directory" || exit 125
        export PATH="$BATS_TEST_TMPDIR/bin:$PATH" TMPDIR=$BATS_TEST_TMPDIR
        exec timeout -k 5 "$UNSEEN_TIMEOUT" "$shell" "$example" 3>&-
    ) >"$out" 2>"$err" || status=$?
    sed -n 's/^# prints: \{0,1\}//p' "$example" >"$BATS_TEST_TMPDIR/expected"
    if [[ $status -ne 0 ]]; then
        echo "$(cat "$example.line"): exit code $status"
    elif [[ -s $BATS_TEST_TMPDIR/expected ]] && ! cmp -s "$out" "$BATS_TEST_TMPDIR/expected"; then
        echo "$(cat "$example.line"): prints something else:"
        diff "$BATS_TEST_TMPDIR/expected" "$out"
    else
        return 0
    fi
    head -n 5 "$err"
    return 1
}

# run_examples DIRECTORY ATLEAST: all of them; fewer than that were not found at all.
run_examples() {
    local example failed=0 count=0
    for example in "$1"/[0-9][0-9]; do
        [[ -e $example ]] || break
        run_example "$example" || failed=$((failed + 1))
        count=$((count + 1))
    done
    echo "$count examples, $failed failed"
    [[ $failed -eq 0 && $count -ge $2 ]]
}

@test "the runner can tell: a wrong line, a missing one, one too many, a failure" {
    echo here >example.line
    printf 'echo a\n# prints: a\n' >example
    run_example "$PWD/example"
    printf 'echo a\n# prints: b\n' >example
    run ! run_example "$PWD/example"
    printf 'echo a\n# prints: a\n# prints: b\n' >example
    run ! run_example "$PWD/example"
    printf 'echo a; echo b\n# prints: a\n' >example
    run ! run_example "$PWD/example"
    printf 'echo a\n# prints: a\nfalse\n' >example
    run ! run_example "$PWD/example"
    printf 'unseen --version >version && test -s version\n' >example
    run_example "$PWD/example"
}

# page_has PAGE: how many examples it has at least.
page_has() {
    case $1 in
    unseen.1) echo 10 ;;
    unseen-cookbook.7) echo 30 ;;
    unseen-filters.7) echo 0 ;;
    unseen-*.7) echo 2 ;;
    *) echo 0 ;;
    esac
}

@test "the examples of the manual" {
    local page name pages=0 failed=0
    for page in "$repository"/man/*.[1-8]; do
        name=${page##*/}
        page_examples "$page" "$BATS_TEST_TMPDIR/$name"
        run_examples "$BATS_TEST_TMPDIR/$name" "$(page_has "$name")" || failed=$((failed + 1))
        pages=$((pages + 1))
    done
    [[ $failed -eq 0 && $pages -ge 2 ]]
}

# pattern_options NAME: into the array `options`, the patterns that the cookbook has under this name.
pattern_options() {
    local pattern
    options=()
    while IFS= read -r pattern; do
        options+=(--without "$pattern")
    done < <(sed 's/\\e/\\/g' "$repository/man/unseen-cookbook.7" | awk -v name="$1" '
        /^\.Ed/ { inside = 0 }
        /^[^ ].*  / { inside = index($0, name "  ") == 1 }
        inside { print substr($0, 13) }')
    [[ ${#options[@]} -gt 0 ]] || complain "no pattern named $1"
}

@test "patterns of the cookbook: what they leave out, and what they do not touch" {
    local name by line key options
    while IFS='|' read -r name by line key; do
        pattern_options "$name"
        [[ $by == - ]] || options+=(--by "$by")
        [[ $key == = ]] && key=$line
        [[ $("$UNSEEN" key "${options[@]}" <<<"$line") == "$key" ]] ||
            complain "$name: $line, not $key: $("$UNSEEN" key "${options[@]}" <<<"$line")"
    done <<'END'
trackers|url|http://a/x?utm_source=b|http://a/x
trackers|url|http://a/x?UTM_Id_2=1&id=7&utm_3=c|http://a/x?id=7
trackers|url|http://a/x?utm_a=&utm_b&gclid=X-_9&fbclid=z|http://a/x
trackers|url|http://a/x?utm_a=1#!/b|http://a/x#!/b
trackers|url|http://a/utm_x/?q=utm_y|=
trackers|url|http://a/x?autm_a=1|=
trackers|url|http://a/x?gclidx=1|=
trackers|url|http://a/x&utm_a=1?id=7|=
trackers|url|http://a/x&utm_a=1/7|=
session|url|http://a/x?p=2&PHPSESSID=ab|http://a/x?p=2
session|url|http://a/x?sid=1&p=2|http://a/x?p=2
session|url|http://a/sid=1|=
session|url|http://a/x?insid=1|=
jsessionid|url|http://a/x;jsessionid=9;v=1/y|http://a/x;v=1/y
jsessionid|url|http://a/jsessionid=1|=
empty ?|url|http://a/?#/r|http://a/#/r
empty ?|url|http://a/?a=|=
slash|url|http://a/x/?q|http://a/x?q
slash|url|http://a//x?u=b/c|=
index|url|http://a/b/index.php?q|http://a/b/?q
index|url|http://a/reindex.html|=
index|url|http://a/index.html/x|=
scheme|url|https://a/?u=https://b/|://a/?u=https://b/
scheme|url|httpx://a/|=
www|url|http://www.a.b/www.c|a.b/www.c
www|url|https://a.www.b/|a.www.b/
www|url|http://www2.a/|www2.a/
port|url|http://a:8080/|http://a/
port|url|http://u:80@a/?t=10:30|=
port|url|http://[2001:db8::1]/|=
route|url|http://a/#!/b#c|http://a/
route|url|http://a/%23x|=
&amp;|url|http://a/?a=1&amp;b=2|http://a/?a=1&b=2
&amp;|url|http://a/?a=1&amp=2|=
ISO time|-|2026-11-29T08:00:01.5+01:00 up| up
ISO time|-|took 08:00:01|=
syslog|-|Nov  9 08:00:01 h x|h x
syslog|-|x Nov  9 08:00:01 h|=
pid|-|sshd[4711]: x|sshd: x
pid|-|a[3] = 4|=
IPv4|-|from 10.0.0.1:5000 x|from  x
IPv4|-|version 1.2.3 and v1.2.3.4|=
hex|-|at 0x7fFe: x|at : x
hex|-|a0x12|=
UUID|-|r 550e8400-e29b-41d4-a716-446655440000 x|r  x
UUID|-|550e8400-e29b|=
Name <a@b>|-|A <B> <a@b> (x)|a@b
Name <a@b>|-|a@b|=
blanks|-|a  b c |abc
first four|-|abcdef|ef
END
}

# example PAGE STRING: the one that has it, without what comes before it, in ./recipe; for `typed`.
example() {
    sed '/^\.\\" before: /d' "$repository/man/$1" >"$1"
    page_examples "$1" "examples-$1"
    cp "$(grep -lF -e "$2" "examples-$1"/[0-9][0-9])" recipe
    mkdir -p bin
    ln -sf "$UNSEEN" bin/unseen
}

# typed FILE: a shell reads it.
typed() { PATH=$PWD/bin:$PATH timeout -k 5 "$UNSEEN_TIMEOUT" "$shell" "$1" 3>&-; }

@test "other tools: what the cookbook gives for them prints the same lines" {
    local input theirs ours page
    export LC_ALL=C
    page=$(sed 's/\\e/\\/g; s/\\&//g' "$repository/man/unseen-cookbook.7")
    mkdir bin
    ln -s "$UNSEEN" bin/unseen
    PATH=$PWD/bin:$PATH
    printf '%s\n' ' a x' 'b  x' $'c\tx' 'c x ' '1 1' '01 01' '1.0 1.0' $'\351 y' $'\350 \351' $'\350 \350' \
        'A x' 'a X' 'A x' $'f z\r' 'f z' 'f z' >blanks
    tr -s ' \t' , <blanks >commas
    printf '%s\n' 'g 007' 'g 7' 'g 70' 'g 0' 'g 00' >numbers
    printf '%s\t%s\n' k v 1 x 01 'x ' '"1' x 2 $'\351' 3 $'\350' >fields
    printf '%s\n' id,n 1,a '"1",b' 01,a '"x,y",c' '"x,y",d' >csv
    printf '%s\n' 'b  x' $'\351 y' '' >old
    unseen add --create old.bf old
    while IFS='~' read -r input theirs ours; do
        command -v "${theirs%% *}" >"$out" || continue
        eval "$theirs" <"$input" | sort >left
        eval "$ours" <"$input" | sort >right
        same right left || complain "$input: $theirs, $ours"
        [[ $page == *"Ic $ours"* ]] || complain "not in the table: $ours"
    done <<'END'
blanks~sort -u~unseen
blanks~awk '!s[$0]++'~unseen
blanks~perl -ne 'print unless $s{$_}++'~unseen
blanks~sort -u -b -k 2,2~unseen -f 2
blanks~awk '!s[$2]++'~unseen -f 2
blanks~sort | uniq -d~unseen -d
blanks~sort -s -f | uniq -i~unseen -i
blanks~sort -s -k 2 | uniq -f 1~unseen --without '^[ \t]*[^ \t]+'
blanks~grep -vxFf old~unseen query -v old.bf
commas~awk -F, '!s[$2]++'~unseen -f 2 -t ,
numbers~awk '!s[$2 + 0]++'~unseen -f 2 --without '^0+(?=\d)'
fields~datamash rmdup 2~unseen -f 2 -t '\t'
csv~mlr --csv head -n 1 -g id~unseen --csv -f id
END
}

@test "a block list finds lines that are no text in the locale" {
    example unseen-cookbook.7 'grep -aFxf'
    printf 'ads\nads\351\nads\0\n' >blocked
    printf 'ads\351\nmail\nmail\351\nads\0\n' >senders
    LC_ALL=C.UTF-8 exits 0 typed recipe
    printf 'mail\nmail\351\nads\351\nads\0\n' >wanted
    same "$out" wanted || complain
}

@test "what visits a page fails if push does, and does not call the page done" {
    local recipe count=0
    mkdir bin
    printf '#!/bin/sh\nexit 2\n' >bin/unseen
    printf '#!/bin/sh\necho https://a.example/\n' >bin/curl
    chmod +x bin/*
    page_examples "$repository/man/unseen-cookbook.7" cookbook
    for recipe in cookbook/[0-9][0-9]; do
        awk '/^cat >.*END/ { inside = 1; next } /^END/ { exit } inside' "$recipe" >visit
        grep -q 'unseen push' visit || continue
        exits 2 typed visit <<<0
        [[ ! -e visited && ! -e "done" ]] || complain "$(cat "$recipe.line")"
        count=$((count + 1))
    done
    [[ $count -eq 2 ]]
}

# full_crawl: ./setup and ./workers, on a disk that is full while the first page is visited.
full_crawl() {
    cat >bin/curl <<'END'
#!/bin/sh
[ -e ../filled ] || { : >../filled; cat /dev/zero >ballast; }
[ "$2" != https://a.example/one ] || seq -f 'https://a.example/%080.0f' 100
END
    chmod +x bin/curl
    export -f typed
    export shell UNSEEN_TIMEOUT
    PATH=$PWD/bin:$PATH unshare -m bash -c '
        mkdir disk && mount -t tmpfs -o size=2M none disk && cd disk || exit 77
        ln -s ../bin
        echo none >visited
        typed ../setup
        unseen pop todo.bf -x ./visit || echo $?
        rm ballast
        typed ../workers
        cat visited'
}

@test "a crawl loses no page to a disk that is full for a while" {
    need_mounts true
    example unseen-cookbook.7 'for worker in'
    sed '/^for worker/,$d' recipe >setup
    sed -n '/^for worker/,/^wait/p' recipe >workers
    exits 0 full_crawl
    { seq -f 'https://a.example/%080.0f' 100; printf '%s\n' 3 none https://a.example/one; } | sort >wanted
    sort "$out" >got
    same got wanted || complain
}

@test "the examples of README" {
    readme_examples "$BATS_TEST_TMPDIR/readme"
    run_examples "$BATS_TEST_TMPDIR/readme" 3
}

@test "the examples had all that they need" {
    # shellcheck disable=SC2046 # each a word
    need dash $(sed -nE 's/^(\.\\"|<!--) needs: ([^ ]+).*/\2/p' "$readme" "$repository"/man/*.[1-8])
}

@test "the table of sizes in unseen-filters(7)" {
    local p
    sed -n '/^\.\\" sizes:/,/^\.El/s/^\.It \(1e.*\)/\1/p' "$repository/man/unseen-filters.7" |
        sed 's/ Ta / /g' >table
    while read -r p _; do
        succeeds unseen plan -n 1e7 --fixed -p "$p"
        tr -d ',)' <"$out" | awk -v p="$p" '/^bits/ { bits = $4; classic = $7; least = $NF }
            /^hashes/ { k = $2 }
            /^cache/ { g = $3 }
            END { print p, classic, g, "x", k / g, bits, least }'
    done <table >wanted
    [[ $(wc -l <table) -eq 6 ]]
    same table wanted
}

@test "the speed that README and unseen-filters(7) quote is the one that was recorded" {
    local label ns memory times='' memories=''
    # recorded LABEL: nanoseconds per line and peak memory, as the pages write them.
    recorded() {
        label=$1 awk -F ' [|] ' '$1 == "| " ENVIRON["label"] && NF >= 6 {
            print $3, $5 < 1000 ? $5 " MB" : sprintf("%.1f GB", $5 / 1000)
        }' "$repository/tests/bench/RESULTS.md"
    }
    for label in 'sort -u' "mawk '!s[\$0]++'" anew huniq SQLite 'unseen FILTER, first fill'; do
        read -r ns memory < <(recorded "$label") || complain "not recorded: $label"
        times+=" | $ns ns" memories+=" | $memory"
    done
    grep -Fx -e "| time per line$times |" -e "| peak memory$memories |" "$readme" >quoted || true
    [[ $(wc -l <quoted) -eq 2 ]] || complain "README should say$times |$memories"
    for label in 'unseen -n N' 'unseen FILTER, first fill' 'unseen FILTER, all seen' huniq 'sort -u'; do
        recorded "$label"
    done | cut -d' ' -f1 | xargs >wanted
    sed -n '/^\.\\" speed:/,/^\.It/s/[^0-9]*\([0-9.]*\) ns[^0-9]*/\1 /gp' "$repository/man/unseen-filters.7" | xargs >quoted
    same quoted wanted
    ! grep -F '**no**: ?' "$repository/tests/bench/RESULTS.md" || complain "no reason in tests/bench/reasons.txt"
    cp "$repository"/tests/bench/{plot,RESULTS.md} . && ./plot
    cmp results.svg "$repository/tests/bench/results.svg"
}

# Options: completions.bats.
@test "the manual has every command that help has, and every exit code" {
    local command
    [[ $(commands | wc -l) -ge 14 ]]
    for command in $(commands); do
        grep -Eq "^\\.(It )?Cm $command( |$)" "$repository/man/unseen.1" || complain "no command $command in the manual"
    done
    awk '/^\.Sh EXIT STATUS/ { inside = 1; next } /^\.Sh / { inside = 0 } inside && /^\.It / { print $2 }' \
        "$repository/man/unseen.1" >codes
    printf '%s\n' 0 1 2 3 75 126 127 >wanted
    same codes wanted
}
