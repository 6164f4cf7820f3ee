#!/usr/bin/env bats
# Keys: the test vectors of unseen(5), and more examples; then the program against two oracles: a
# model of all rules in Python, and a library that knows URLs.

load helper

tools=${UNSEEN_TOOLS:-${UNSEEN%/*}/tests/tools}

# keys_are: the table on stdin holds: after a row "> RECIPE [# WORDS]", rows "LINE => KEY", "LINE => ''" for an empty
# key, or "LINE itself" for a line without a key; with printf's escapes in both.
keys_are() {
    local row line key recipe=
    while IFS= read -r row; do
        line=${row%% => *}
        line=${line% itself}
        if [[ $row == '> '* ]]; then
            [[ -z $recipe ]] || these_keys "$recipe" || return 1
            recipe=${row#> }
            : >lines
            : >wanted
            continue
        fi
        case $row in
        *" => ''") printf 'key\t\n' ;;
        *' => '*) shown "${row#* => }" "$recipe" && printf 'key\t%b\n' "$key" ;;
        *) printf 'none\t%b\n' "$line" ;;
        esac >>wanted
        printf '%b\n' "$line" >>lines
    done
    these_keys "$recipe"
}

# shown KEY RECIPE: sets `key` to KEY as `unseen key` prints it, both in printf's escapes: one with
# CR or LF is quoted.
shown() {
    printf -v key %b "$1"
    [[ $key == *[$'\r\n']* ]] || { key=$1 && return; }
    key=${key//\\/\\\\}
    key='"'${key//'"'/'""'}'"'
    [[ " $2 " == *' -z '* ]] || key=${key//$'\n'/'\\n'}
}

# these_keys RECIPE: of ./lines they are as in ./wanted.
these_keys() {
    [[ -s lines ]] || complain "no table"
    succeeds eval "unseen key --tag lines $1"
    same "$out" wanted || complain "unseen key $1"
    succeeds eval "unseen key lines $1"
    cut -f 2- wanted >plain
    same "$out" plain || complain "unseen key $1, without --tag"
}

# --- the test vectors of unseen(5) -------------------------------------------

vectors=$repository/tests/key/vectors

# rows FILE: its rows, without comments; `word LINE`: the line that a row has as a word.
rows() { sed '/^#/d; /^$/d' "$vectors/$1"; }
word() { [[ $1 == '(empty)' ]] || printf %s "$1"; }

@test "vectors: keys" {
    rows keys | sed "s/^(empty)//; s/ => (no key)$/ itself/; s/ => (empty)$/ => ''/" >table
    [[ $(grep -c ' => \| itself' table) -eq 139 && $(grep -c '^>' table) -eq 27 ]]
    keys_are <table
    # a wrong one is told
    sed '0,/ => a$/s// => b/' table >wrong
    run ! keys_are <wrong
}

# inputs_are: the table on stdin, `LINE => KEY` after "> RECIPE", as vectors/csv explains it.
inputs_are() {
    local row input wanted key recipe end failed=0
    while IFS= read -r row; do
        if [[ $row == '> '* ]]; then
            recipe=${row#> }
            end='\n'
            [[ " $recipe " != *' -z '* ]] || end='\0'
            continue
        fi
        input=${row% => *}
        [[ $input != '(empty)' ]] || input=
        printf '%b' "$input$end" >lines
        case ${row##* => } in
        'error '*) wanted= ;;
        '(no key)') wanted="none\t${input##*\\n}$end" ;;
        '(empty)') wanted="key\t$end" ;;
        *) shown "${row##* => }" "$recipe" && wanted="key\t$key$end" ;;
        esac
        if [[ -z $wanted ]]; then
            fails_with 2 "${row##* => error }" eval "unseen key --tag $recipe lines"
        else
            exits 0 eval "unseen key --tag $recipe lines" && prints "$wanted"
        fi || complain "$recipe: $row" || failed=1
    done
    return "$failed"
}

@test "vectors: csv" {
    [[ $(rows csv | grep -c ' => ') -eq 94 ]]
    inputs_are < <(rows csv)
    run ! inputs_are < <(rows csv | sed 's/ => 7$/ => 8/')
}

@test "vectors: jsonl" {
    [[ $(rows jsonl | grep -c ' => ') -eq 158 ]]
    inputs_are < <(rows jsonl)
    run ! inputs_are < <(rows jsonl | sed 's/ => 7$/ => 8/')
}

@test "--jsonl: all of a line must be JSON, nested 1000 deep at most" {
    local kind tag deep row
    # with the object around it
    while read -r kind tag deep; do
        rows "jsonl_$kind" | sed 's/^[^ ]* //; s/^(empty)//; s/.*/{"id":1,"x":&}/' >texts
        awk -v deep="$deep" '
            function many(text,   all, i) { for (i = 1; i < deep; i++) all = all text; return all }
            BEGIN {
                print "{\"id\":1,\"x\":" many("[") 1 many("]") "}"
                print "{\"id\":1,\"x\":" many("{\"a\":") "\"\"" many("}") "}"
            }' >>texts
        while IFS= read -r row; do printf '%b\n' "$row"; done <texts >lines
        exits 0 unseen key --tag --jsonl -f id lines
        [[ $(wc -l <lines) -ge 30 && $(wc -l <"$out") -eq $(wc -l <lines) ]]
        cut -f 1 "$out" | paste - texts | awk -v tag="$tag" '$1 != tag' >wrong
        [[ ! -s wrong ]] || complain "not $kind: $(cat wrong)"
    done <<<$'valid key 1000\ninvalid none 1001'
}

# hash_is SEED HASH [OPTION...]: of the line on stdin; the file of --pending has it, the lo half first.
hash_is() {
    local seed=$1 hash=$2 pending
    shift 2
    exits 0 unseen create --force --seed "$seed" "$@" f.bf
    rm -f pending
    exits 0 unseen --pending pending f.bf
    pending=$(od -An -v -tx8 --endian=little -j 4096 -N 16 pending)
    [[ ${pending# } == "$hash" ]] || complain "seed $seed $*: $pending, not $hash"
}

@test "vectors: hashes, with a key and without" {
    local line seed d hi lo count=0
    while read -r line seed d hi lo; do
        # no line here has a field 9
        if [[ $d -eq 0 ]]; then set --; else set -- -f 9; fi
        hash_is "$seed" "$lo $hi" "$@" < <(word "$line"; echo)
        count=$((count + 1))
    done < <(rows hashes)
    [[ $count -eq 6 ]]
}

# bits_are LINE KIND [OPTION...]: that LINE sets in a new layer, as the table has them.
bits_are() {
    local line=$1 kind=$2
    shift 2
    exits 0 unseen create --force -n 1e6 --bits-per-key 32.768 --hashes 18 "$@" f.bf
    exits 0 unseen add f.bf < <(word "$line"; echo)
    layer f.bf >bytes
    # each byte that is not 0, as cmp -l has it: its place, from 1 on, and its value in octal
    cmp -l bytes /dev/zero 2>/dev/null | awk '{
        for (byte = int($2 / 100) * 64 + int($2 / 10) % 10 * 8 + $2 % 10; byte > 0; byte = int(byte / 2)) {
            if (byte % 2 == 1)
                print ($1 - 1) * 8 + bit[$1]
            bit[$1]++
        }
    }' >got
    # a cell is four bits, of which a first line sets the lowest
    rows bits | awk -v line="$line" -v kind="$kind" '$1 == line && $2 == kind {
        for (i = 6; i <= NF; i++)
            print ($3 * 64 + $4) * 512 + $i * (kind == "cells" ? 4 : 1)
    }' | sort -nu >wanted
    [[ $(wc -l <wanted) -ge 17 ]] && same got wanted
}

@test "vectors: bits and cells" {
    bits_are '(empty)' bits
    bits_are http://example.com/ bits
    bits_are '(empty)' cells --counting
}

@test "vectors: shards, and the hash that makes them" {
    local line k two three hundred million n count=0
    while read -r line k two three hundred million; do
        for n in 2:$two 3:$three 100:$hundred 1000000:$million; do
            exits 0 unseen shard "${n%:*}" < <(word "$line"; echo)
            [[ $(cut -f 1 "$out") == "${n#*:}" ]] || complain "$line, $n"
        done
        # d = 2 is the same as this seed
        exits 0 unseen create --force --seed $((2 * 0x9e3779b97f4a7c15)) f.bf
        rm -f pending
        exits 0 unseen --pending pending f.bf < <(word "$line"; echo)
        [[ $(od -An -v -tx8 --endian=little -j 4096 -N 8 pending) == " $k" ]] || complain "$line: not $k"
        count=$((count + 1))
    done < <(rows shards)
    [[ $count -eq 4 ]]
}

# --- the whole line, blanks, case --------------------------------------------

@test "the whole line counts unless told, byte for byte" {
    local recipe
    printf 'a\n A \t\r\n\n\xff\0\x01\nend' >lines
    printf 'a\n" A \t\r"\n\n\xff\0\x01\nend\n' >wanted
    for recipe in "" "--by line"; do
        succeeds unseen key $recipe lines
        same "$out" wanted
    done
    succeeds unseen key --tag lines
    sed 's/^/key\t/' wanted >tagged
    same "$out" tagged
}

@test "--trim: blanks at both ends; -i: A to Z alone" {
    keys_are <<'END'
> --trim
a\r => a
 \t\v\f\r a b \r\f\v\t  => a b
a => a
 \r => ''
\xc2\xa0a => \xc2\xa0a
\x08a\x1f => \x08a\x1f
> -i
aBCxYZ09 => abcxyz09
@[`{ => @[`{
%C3%9C => %c3%9c
\xc3\x9c => \xc3\x9c
> -i --by url
HTTP://User@A/B?C=%c3 => http://user@a/b?c=%c3
Mailto:A itself
> -i --trim
 A  => a
END
}

# --- fields ------------------------------------------------------------------

@test "-f: runs of anything but blanks, joined with a space; -t: each separator separates" {
    keys_are <<'END'
> -f 2
a b c => b
 \t a \t\t b => b
a itself
a  itself
 itself
\t  itself
a\r b\v\fx => b\v\fx
> -f 1
a => a
 a  => a
 itself
> -f 2-
a b\t\tc  d  => b c d
a b => b
a itself
> -f-2
a b c => a b
a => a
 itself
> -f 1,3
a b c d => a c
a b => a
 itself
> -f 2-3,5-
a b c d e f g => b c e f g
a b c d => b c
a itself
> -f 2 -t ,
a,b,c => b
a,,c itself
a, itself
, itself
a, B\r => \x20B\r
a itself
 itself
> -f 1 -t ,
 itself
a => a
,a itself
\x20a ,b => \x20a\x20
> -f 1,3- -t '\t'
a\tb\tc\td => a\tc\td
a\tb\t => a\t
a\tb => a
a b c => a b c
\tb\tc itself
> -f 2- -t ' '
a  b itself
a b  c => b  c
END
}

@test "-t: one byte, and how it is written" {
    local separator byte
    while read -r separator byte; do
        printf 'a%bb\n' "$byte" >lines
        succeeds unseen key -f 2 -t "$separator" lines || return 1
        prints 'b\n' || complain "-t $separator"
    done <<'END'
; ;
\t \t
\0 \0000
\\ \\
\x7c |
\x7C |
\xff \0377
\x00 \0000
END
    printf 'a\xffb\n' >lines
    succeeds unseen key -f 2 -t $'\xff' lines
    prints 'b\n'
    # the first line of a record of several
    printf 'a\nb\0' >lines
    succeeds unseen key -z -f 1 -t '\x0a' lines
    prints 'a\0'
}

@test "-f: very many fields; a list in any order" {
    { seq 100000 | paste -sd ' ' && seq 3 | paste -sd ' '; } >lines
    succeeds unseen key --tag -f 3-4,1,2 lines
    printf 'key\t1 2 3 4\nkey\t1 2 3\n' | same "$out" -
    succeeds unseen key -f 65534- lines
    { seq 65534 100000 | paste -sd ' ' && echo 1 2 3; } | same "$out" -
}

@test "--trim and -f: blanks at the ends of the line and of each field; a separator is no blank" {
    keys_are <<'END'
> --trim -f 2 -t ,
 a,b\r => b
a, b ,c => b
a,\f\r\v\t b \t c \t\v\r\f,d => b \t c
a,\xc2\xa0b\x1f,c => \xc2\xa0b\x1f
 , \r itself
a , itself
 a itself
> --trim -f 3-,1 -t , -i
 A , B , C ,\tD\r => a,c,d
> --trim -f 2 -t , --by url
x, HTTP://A\x20\x01,y => http://a/
> --trim -f 1 -t '\t'
\ta itself
 \ta itself
 a\t  => a
> --trim -f 2- -t '\t'
a\t b\r\t \tc => b\t\tc
> --trim -f 3 -t '\t'
a\t\t\r itself
a\tb\r itself
> --trim -f 2-4 -t ' '
\t  \ta\t \r b itself
x \ta\t \r b => a  b
> --trim -f 2 -t '\x0d'
a\r \tb\r => b
a\r\r itself
> --trim -f 2
\ta b\r => b
a\r \vb\f c => b
a \r b itself
a\r itself
> --trim -f 1-
 a\v \fb \r\t c\r => a b  c
END
}

# --- url ---------------------------------------------------------------------

@test "--by url: each part" {
    keys_are <<'END'
> --by url # ends, fragments, schemes
\x01 http://a/x\x1f\r => http://a/x
http://a/\x7f => http://a/%7F
http://a/ #x  => http://a/%20
http://a/x\xc2\xa0 => http://a/x%C2%A0
#http://a/ itself
http:#//a/ itself
h+t.p-1://A => h+t.p-1://a/
1http://a/ itself
+x://a/ itself
h_t://a/ itself
://a/ itself
//a/ itself
http:/a/ itself
http:\\\\a/ => http://a/
ht tp://a/ itself
 itself
\r itself
file:///etc itself
http://#a itself
http:// itself
http://? itself
> --by url # user info
http://@@a/ => http://@@a/
http://[u]:\x20%7e%c3%zz@a/ => http://%5Bu%5D:%20~%C3%zz@a/
http://u:80@a:80/ => http://u:80@a/
http://a/@b => http://a/@b
http://a?@b => http://a/?@b
http://u%40b@a/ => http://u%40b@a/
http://a:80@/ itself
> --by url # hosts
http://A%2fB%2E/ => http://a%2Fb./
http://A%C3%9c/ => http://xn--a-kfa/
http://%4/ => http://%254/
http://A_b c<>\x7f/ => http://a_b%20c%3C%3E%7F/
http://a\\b/ => http://a/b/
http://%5b::1%5d/ itself
http://%5bv1%5D/ => http://%5Bv1%5D/
http://[::FFFF:1.2.3.4]:8080?x => http://[::ffff:102:304]:8080/?x
http://[:]/ itself
http://[::1]: => http://[::1]/
http://u@[::1]:080/ => http://u@[::1]/
http://[::1%25eth0]/ itself
http://[]/ itself
http://[::1/ itself
http://::1]/ itself
http://[::1]]/ itself
http://[::1]:[/ itself
http://[::1]80/ itself
http://.../ => http://.../
http://\x01/ => http://%01/
http:// / => http://%20/
> --by url # addresses
http://[::]/ => http://[::]/
http://[1::]/ => http://[1::]/
http://[2001:DB8:0:0:1:0:0:1]/ => http://[2001:db8::1:0:0:1]/
http://[1::2:3:4:5:6:7]/ => http://[1:0:2:3:4:5:6:7]/
http://[1:2:3:4:5:6:255.0.0.10]/ => http://[1:2:3:4:5:6:ff00:a]/
http://[1]/ itself
http://[:::]/ itself
http://[1:2:3:4:5:6:7:]/ itself
http://[:1:2:3:4:5:6:7]/ itself
http://[1:2:3:4::5:6:7:8]/ itself
http://[::1::]/ itself
http://[::g]/ itself
http://[1.2.3.4]/ itself
http://[::1.2.3]/ itself
http://[::1.2.3.4.]/ itself
http://[::1.2.3.256]/ itself
http://[1:2:3:4:5:6:7:1.2.3.4]/ itself
http://[::1.2.3.4:5]/ itself
> --by url # labels
http://3\xe5\xb9\xb4b\xe7\xb5\x84\xe9\x87\x91\xe5\x85\xab\xe5\x85\x88\xe7\x94\x9f/ => http://xn--3b-ww4c5e180e575a65lsy2b/
http://\xf4\x8f\xbf\xbf/ => http://xn--dn32g/
http://\xc0\x80/ => http://%C0%80/
http://\xf4\x90\x80\x80/ => http://%F4%90%80%80/
http://\xe0\x9f\xbf/ => http://%E0%9F%BF/
http://\xf0\x8f\xbf\xbf/ => http://%F0%8F%BF%BF/
> --by url # ports
http://a:80 => http://a/
http://a:0080 => http://a/
http://a:443/ => http://a:443/
HTTPS://a:443/ => https://a/
ws://a:80/ => ws://a/
ftp://a:21/ => ftp://a/
x://a:80/ => x://a:80/
http://a:0/ => http://a:0/
http://a:65536/ => http://a:65536/
http://a:18446744073709551696/ => http://a:18446744073709551696/
http://a:00000000000000000000000000000000080/ => http://a/
http://a:? => http://a/?
http://a:-1/ itself
http://a:8a/ itself
http://:80/ itself
http://a:80\\/ => http://a//
> --by url # paths
http://a/. => http://a/
http://a/b/. => http://a/b/
http://a/b/../ => http://a/
http://a/b/c/.. => http://a/b/
http://a/./b => http://a/b
http://a/.../..b/.c => http://a/.../..b/.c
http://a/b%2f..%2fc/.. => http://a/
http://a//.. => http://a/
http://a///../b => http://a//b
http://a/b;c=1/../d => http://a/d
http://a/.\x20#b => http://a/.%20
http://a/.\x20/b => http://a/.%20/b
http://a/%25%32%65 => http://a/%252e
http://a/%%341 => http://a/%%341
http://a/%4%31 => http://a/%4%31
http://a/%e2%98%83%aF => http://a/%E2%98%83%AF
http://a/% => http://a/%
http://a/%30%39%41%5a%61%7a%2d%2e%5f%7e => http://a/09AZaz-._~
http://a/%2F%3a%40%5b%60%7B%2b%2C%00%7f%80 => http://a/%2F%3A%40%5B%60%7B%2B%2C%00%7F%80
http://a/"<>\\^`{|}[] => http://a/%22%3C%3E/%5E%60%7B%7C%7D%5B%5D
http://a/!$&'()*+,;=:@-._~ => http://a/!$&'()*+,;=:@-._~
http://a/\t\x01\v => http://a/
http://a/\t\x01\vx => http://a/%01%0Bx
> --by url # queries
http://a?b/../c => http://a/?b/../c
http://a/??=& => http://a/??=&
http://a/?b=2&a=1&b=2 => http://a/?b=2&a=1&b=2
http://a/?%7e%3d%26[x]\x20% => http://a/?~%3D%26%5Bx%5D%20%
http://a/?/./%2e%2e => http://a/?/./..
END
}

# --- host --------------------------------------------------------------------

@test "--by host: of URLs, and of what is none" {
    keys_are <<'END'
> --by host
http://User:pw@WWW.Example.COM:8080/x?y#z => www.example.com
https://a. => a
http://[2001:DB8::1]:80/ => [2001:db8::1]
http://%41%c3/ => a%C3
x://a_b/ => a_b
 http://A => a
http://a#b => a
http:///x itself
http://a:b/ itself
1x://a/ itself
x y://a/ itself
> --by host # no URLs
Example.COM => example.com
 example.com.\r => example.com
a?http://b/ => a
a#http://b/ => a
a:80?b => a
a: => a
a@b@C:1/ => c
u:p@a => a
@a => a
a_b-c.9:80/ => a_b-c.9
-  => -
a:b itself
a:8b itself
:80 itself
/a itself
//a/b itself
?a itself
#a itself
a@ itself
a@:80 itself
a b itself
a,b itself
a%41 => aa
b\xc3\xbccher.example => xn--bcher-kva.example
a\\b itself
 itself
http:?//a itself
END
}

# --- endpoint ----------------------------------------------------------------

@test "--by endpoint: each part" {
    keys_are <<'END'
> --by endpoint # hosts and segments
https://U:p@A.Example:443 => a.example/
https://a:80/ => a:80/
http://[::1]:8080/7 => [::1]:8080/{0}
example.com/7 itself
http://a/7/./8/../9//x7/7x/%37 => a/{0}/{0}//x7/7x/{0}
http://a/2024-01-01/2024-12-31/2024-00-01/2024-13-01/2024-01-00/2024-01-32 => a/{d}/{d}/2024-00-01/2024-13-01/2024-01-00/2024-01-32
http://a/20240101/20241231/20240001/20240100/20240132/2024010/202401011 => a/{d}/{d}/{0}/{0}/{0}/{0}/{0}
http://a/00000101/99991231.x/2024-0101/2024-1-1/x2024-01-01/2024-10-20 => a/{d}/{d}.x/2024-0101/2024-1-1/x2024-01-01/{d}
http://a/550e8400-e29b-41d4-a716-446655440000.tar.Gz/550e8400-e29b-41d4-a716-446655440000.7z => a/550e8400-e29b-41d4-a716-446655440000.tar.Gz/{u}.7z
http://a/550e8400-e29b-41d4-a716-44665544000/550e8400e29b41d4a716446655440000/g50e8400-e29b-41d4-a716-446655440000 => a/550e8400-e29b-41d4-a716-44665544000/{h}/g50e8400-e29b-41d4-a716-446655440000
http://a/0123456789abcdef/0123456789ABCDEF.js/0123456789abcde/abcdefabcdefabcd/abcdefabcdefabc0/0123456789abcdefg => a/{h}/{h}.js/0123456789abcde/abcdefabcdefabcd/{h}/0123456789abcdefg
http://a/7.html%20/7.h_l/7.%2e/7.%41/7%2e5/7.\xc3\xa4 => a/7.html%20/7.h_l/7../{0}.A/{0}.5/7.%C3%A4
http://a/..7/.7/7..7/%2e7 => a/..7/.7/7..7/.7
http://a/{0}/%7Bd%7D => a/%7B0%7D/%7Bd%7D
http://a/7? => a/{0}
http://a/7;x/-7/+7 => a/7;x/-7/+7
> --by endpoint # names of parameters
http://a/?b&a&B&aa&a-&a => a/?B&a&a-&aa&b
http://a/?b=1=2&%62=3&%c3=4&\xc3 => a/?%C3&b
http://a/?=&&= => a/
http://a/? => a/
http://a/??a=/7/../ => a/??a
http://a/?a;b=1&[x]=2&7=x => a/?%5Bx%5D&7&a;b
http://a/?a%3d1&a%26b => a/?a%26b&a%3D1
http://a/7.7?7.7=7#a&b => a/{0}.7?7.7
END
}

@test "--by endpoint: very many parameters, in a moment" {
    # 5,900 names, backwards, each twice.
    awk 'BEGIN { printf "http://a/?"; for (i = 5900; i; i--) printf "%04d&%04d=&", i, i }' >lines
    awk 'BEGIN { printf "key\ta/?0001"; for (i = 2; i <= 5900; i++) printf "&%04d", i; print "" }' >wanted
    succeeds unseen key --tag --by endpoint lines
    same "$out" wanted
}

# --- profiles with all else --------------------------------------------------

@test "--by url: of a field, of a trimmed line" {
    keys_are <<'END'
> -f 2 -t , --by url
x,HTTP://A,y => http://a/
x, http://a/\r,y => http://a/
x,a,y itself
 HTTP://A itself
x,,y itself
> -f 2- -t , --by url -i
X,HTTP://A/B,c => http://a/b,c
X,Y itself
> -f 2 --trim --by host -i
X HTTP://A/B\r => a
X A/B\r => a
X Y,Z\r itself
> -f 2-3 --by endpoint
x http://a/7 7 => a/7%207
> --by host --without '^.*$'
http://a/ => ''
> -f 2 --by host --without '^.*$'
x http://a/ itself
> --jsonl -f a --by url --without '/$'
{"a":"HTTP:\\/\\/B\\/"} => http://b
> -f 1- -t , --trim --without '^x+'
 xa, x ,,xb\r => a,,,b
END
}

@test "--by: 65,536 bytes may be a URL, and one more is none" {
    local profile
    for profile in url host endpoint; do
        # The last one: blanks count as long as they are there.
        awk 'BEGIN { while (length(a) < 65600) a = a "aaaaaaaa"
            print substr("http://A/" a, 1, 65536)
            print substr("http://A/" a, 1, 65537)
            print substr("http://A/" a, 1, 65536) " " }' >lines
        succeeds unseen key --tag --by "$profile" lines
        [[ $(cut -f 1 "$out" | paste -sd ' ') == "key none none" ]] || complain "$profile"
        # What is trimmed, or no field, does not count.
        sed 's/^/x\t/; s/$/\ty/' lines >rows
        succeeds unseen key --tag -f 2 -t '\t' --by "$profile" rows
        [[ $(cut -f 1 "$out" | paste -sd ' ') == "key none none" ]] || complain "fields, $profile"
        succeeds unseen key --tag --trim --by "$profile" lines
        [[ $(cut -f 1 "$out" | paste -sd ' ') == "key none key" ]] || complain "trim, $profile"
    done
    # A key may be longer than its line.
    awk 'BEGIN { printf "http://a/"; for (i = 9; i < 65536; i++) printf "^" }' >lines
    succeeds unseen key --by url lines
    [[ $(wc -c <"$out") -eq $((9 + 3 * (65536 - 9) + 1)) ]] || complain "$(wc -c <"$out") bytes"
    # Without a profile there is no such limit.
    succeeds unseen key --tag -f 1 -i lines
    [[ $(wc -c <"$out") -eq $((4 + 65536 + 1)) ]]
}

# --- the model ---------------------------------------------------------------

@test "the model in Python says the same of hostile lines; of JSON, Python's own json says what the model does" {
    need python3 xargs
    if sanitized; then export MODEL=no; fi
    UNSEEN_TOOLS=$tools capture "$repository/tests/key/compare" "$(fewer 4000)" 1
    [[ $code -eq 0 ]] || complain "the program and the model differ"
    [[ $(wc -l <"$out") -ge 25 ]] || complain "too few recipes"
}

# bats test_tags=oracle
@test "--without, odd patterns and what is none: as PCRE2, Python and the rules have it" {
    need python3
    python3 -c 'import ctypes; ctypes.CDLL("libpcre2-8.so.0")' || skip "libpcre2-8.so.0 is not installed"
    succeeds "$repository/tests/key/oracle_without.py" "${UNSEEN%/*}/tests/key/oracle_without" 10000 1
}

# bats test_tags=oracle
@test "rows of several lines: Python's csv and the model say the same as the program" {
    need python3
    succeeds "$repository/tests/key/oracle_rows.py" "${UNSEEN%/*}/tests/key/oracle_rows" 10000 1
}
