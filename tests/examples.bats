#!/usr/bin/env bats
# The examples in the manual and in README are run, each alone in an empty
# directory, by bash: exit 0, and one with "# prints:" comments prints those
# lines and no others.
#
# In man/unseen.1 these are the .Bd -literal blocks of EXAMPLES; in README.md
# the blocks marked sh. (Those marked console show commands and do not run.)
# The test vectors of keys in man/unseen.5 are tests, too.

# shellcheck disable=SC2154 # out, err and code are set by helper.bash
load helper

manual=$repository/man/unseen.1
readme=$repository/README.md

# The extractors write each example to $1/01, $1/02, ... and its line to $1/01.line.

manual_examples() {
    mkdir -p "$1"
    awk -v to="$1" '
        /^\.Sh / { inside = $2 == "EXAMPLES" }
        inside && /^\.Bd -literal/ {
            file = sprintf("%s/%02d", to, ++count)
            printf "" >file
            print FILENAME ":" FNR >(file ".line")
            next
        }
        /^\.Ed/ { file = "" }
        file != "" {
            if ($0 ~ /^[.\047]/) {
                print FILENAME ":" FNR ": a macro inside an example: " $0
                exit 1
            }
            gsub(/\\&/, "")
            gsub(/\\-/, "-")
            gsub(/\\\(dq/, "\"")
            gsub(/\\\(aq/, "\047")
            gsub(/\\\(ti/, "~")
            gsub(/\\\(ha/, "^")
            gsub(/\\\(ga/, "`")
            gsub(/\\\(rs/, "\\")
            gsub(/\\e/, "\\")
            print >file
        }' "$manual"
}

readme_examples() {
    mkdir -p "$1"
    awk -v to="$1" '
        /^```/ {
            if (file == "" && $0 == "```sh") {
                file = sprintf("%s/%02d", to, ++count)
                print FILENAME ":" FNR >(file ".line")
                next
            }
            file = ""
        }
        file != "" { print >file }' "$readme"
}

# run_example FILE: as it says at the top of this file; else why not, and 1.
run_example() {
    local example=$1 directory=$BATS_TEST_TMPDIR/examples/${1##*/} status=0
    mkdir -p "$directory" "$BATS_TEST_TMPDIR/bin"
    ln -sf "$UNSEEN" "$BATS_TEST_TMPDIR/bin/unseen"
    (
        cd "$directory" || exit 125
        export PATH="$BATS_TEST_TMPDIR/bin:$PATH" TMPDIR=$BATS_TEST_TMPDIR
        exec timeout -k 5 "$UNSEEN_TIMEOUT" bash "$example" 3>&-
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

@test "the examples of the manual" {
    [[ -e $manual ]] || skip "there is no man/unseen.1"
    manual_examples "$BATS_TEST_TMPDIR/manual"
    run_examples "$BATS_TEST_TMPDIR/manual" 15
}

@test "the examples of README" {
    [[ -e $readme ]] || skip "there is no README.md"
    readme_examples "$BATS_TEST_TMPDIR/readme"
    run_examples "$BATS_TEST_TMPDIR/readme" 3
}

# key_vectors DIRECTORY: each table of keys in unseen.5, as printf writes its bytes, to 01, 02, ...:
# the lines to 01.lines, what unseen key --tag prints for them to 01.keys, the recipe to 01.recipe.
key_vectors() {
    mkdir -p "$1"
    awk -v to="$1" '
        function put(line, key) {
            key = key == "(itself)" ? "line\\t" line : "key\\t" key
            gsub(/\(empty\)/, "", line)
            gsub(/\(empty\)/, "", key)
            print line >(file ".lines")
            print key >(file ".keys")
        }
        /^\.\\" keys: / {
            file = sprintf("%s/%02d", to, ++count)
            print substr($0, length(".\\\" keys: ") + 1) >(file ".recipe")
            next
        }
        /^\.Ed/ { file = "" }
        /^\./ || file == "" { next }
        {
            gsub(/\\&/, "")
            gsub(/\\e/, "\\")
        }
        !/ => / { line = $0; next }
        /^ / { put(line, substr($0, index($0, "=> ") + 3)); next }
        { put(substr($0, 1, index($0, " => ") - 1), substr($0, index($0, " => ") + 4)) }
    ' "$repository/man/unseen.5"
}

# vectors_hold FILE: of one table.
vectors_hold() {
    local recipe line
    read -ra recipe <"$1.recipe"
    while IFS= read -r line; do printf '%b\n' "$line"; done <"$1.lines" >lines
    while IFS= read -r line; do printf '%b\n' "$line"; done <"$1.keys" >wanted
    succeeds unseen key --tag "${recipe[@]}" lines
    same "$out" wanted || {
        echo "unseen key ${recipe[*]}"
        return 1
    }
}

@test "the test vectors of keys in unseen(5)" {
    local recipe vectors failed=0
    key_vectors "$BATS_TEST_TMPDIR/vectors"
    for recipe in "$BATS_TEST_TMPDIR"/vectors/*.recipe; do
        vectors_hold "${recipe%.recipe}" || failed=$((failed + 1))
    done
    vectors=$(cat "$BATS_TEST_TMPDIR"/vectors/*.keys | wc -l)
    echo "$vectors vectors, $failed tables with a wrong one"
    [[ $failed -eq 0 && $vectors -ge 60 ]]
    # A wrong one is told.
    sed '$s/.$/~/' "${recipe%.recipe}.keys" >wrong.keys
    cp "${recipe%.recipe}.lines" wrong.lines
    cp "$recipe" wrong.recipe
    run ! vectors_hold wrong
}

# options_of COMMAND: the long options in its help.
options_of() {
    # shellcheck disable=SC2086 # no command: the filter form
    unseen help $1 | grep -Eo -- '--[a-z][a-z-]*' | sort -u
}

@test "the manual has every command and every option that help has" {
    [[ -e $manual ]] || skip "there is no man/unseen.1"
    local command option commands missing=0
    commands=$(unseen help | sed -n 's/^  *unseen \([a-z][a-z]*\)\( .*\)\{0,1\}$/\1/p' | sort -u)
    [[ $(wc -w <<<"$commands") -ge 7 ]]
    for command in '' $commands; do
        [[ -z $command ]] || grep -Eq "^\\.(It )?Cm $command( |$)" "$manual" || {
            echo "no command $command in the manual"
            missing=1
        }
        for option in $(options_of "$command"); do
            # --null is written "Fl -null"
            grep -Eq -e "Fl ${option#-}( |$)" "$manual" || {
                echo "no option $option (of '$command') in the manual"
                missing=1
            }
        done
    done
    [[ $missing -eq 0 ]]
}

@test "the manual has every exit code, and the caveat in its first paragraph" {
    [[ -e $manual ]] || skip "there is no man/unseen.1"
    awk '/^\.Sh EXIT STATUS/ { inside = 1; next } /^\.Sh / { inside = 0 } inside && /^\.It / { print $2 }' \
        "$manual" >codes
    printf '0\n1\n2\n3\n' >wanted
    same codes wanted
    awk '/^\.Sh DESCRIPTION/ { inside = 1; next } inside && /^\.Pp/ { exit } inside' "$manual" >first
    grep -q 'false-positive' first
}

@test "the manual is well-formed" {
    [[ -e $manual ]] || skip "there is no man/unseen.1"
    need mandoc
    local page
    for page in "$repository"/man/*.[1-8]; do
        mandoc -T lint -W warning "$page"
    done
}
