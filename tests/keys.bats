#!/usr/bin/env bats
# What counts in a line: every example of the rules, then the program against two oracles: a model
# of all rules in Python, and libraries that know URLs.

# shellcheck disable=SC2154 # repository, out, err and code are set by helper.bash
load helper

tools=${UNSEEN_TOOLS:-${UNSEEN%/*}/tests/tools}

# keys_are RECIPE...: the table on stdin holds: "LINE => KEY", "LINE => ''" for an empty key, or
# "LINE itself" for a line that counts as itself; with printf's escapes in both.
keys_are() {
    local row line
    : >lines
    : >wanted
    while IFS= read -r row; do
        line=${row%% => *}
        line=${line% itself}
        printf '%b\n' "$line" >>lines
        case $row in
        *" => ''") printf 'key\t\n' ;;
        *' => '*) printf 'key\t%b\n' "${row#* => }" ;;
        *) printf 'none\t%b\n' "$line" ;;
        esac >>wanted
    done
    [[ -s lines ]] || complain "no table"
    succeeds unseen key "$@" --tag lines
    same "$out" wanted || complain "unseen key $*"
    succeeds unseen key "$@" lines
    cut -f 2- wanted | same "$out" - || complain "unseen key $*, without --tag"
}

# --- the whole line, blanks, case --------------------------------------------

@test "the whole line counts unless told, byte for byte" {
    local recipe
    printf 'a\n A \t\r\n\n\xff\0\x01\nend' >lines
    printf 'a\n A \t\r\n\n\xff\0\x01\nend\n' >wanted
    for recipe in "" "--by line"; do
        # shellcheck disable=SC2086 # words of their own
        succeeds unseen key $recipe lines
        same "$out" wanted
    done
    succeeds unseen key --tag lines
    sed 's/^/key\t/' wanted >tagged
    same "$out" tagged
}

@test "files one after the other, and standard input among them" {
    printf 'http://B' >one
    printf 'http://C\n' >two
    capture unseen key --by url one - two <<<"http://A"
    prints 'http://b/\nhttp://a/\nhttp://c/\n'
}

@test "--trim: blanks at both ends" {
    keys_are --trim <<'END'
a\r => a
 \t\v\f\r a b \r\f\v\t  => a b
a => a
 \r => ''
\xc2\xa0a => \xc2\xa0a
\x08a\x1f => \x08a\x1f
END
}

@test "-i: A to Z alone" {
    keys_are -i <<'END'
aBCxYZ09 => abcxyz09
@[`{ => @[`{
%C3%9C => %c3%9c
\xc3\x9c => \xc3\x9c
END
    keys_are -i --by url <<'END'
HTTP://User@A/B?C=%c3 => http://user@a/b?c=%c3
Mailto:A itself
END
    keys_are -i --trim <<'END'
 A  => a
END
}

# --- fields ------------------------------------------------------------------

@test "-f: runs of anything but blanks, joined with a space" {
    keys_are -f 2 <<'END'
a b c => b
 \t a \t\t b => b
a itself
a  itself
 itself
\t  itself
a\r b\v\fx => b\v\fx
END
    keys_are -f 1 <<'END'
a => a
 a  => a
 itself
END
    keys_are -f 2- <<'END'
a b\t\tc  d  => b c d
a b => b
a itself
END
    keys_are -f-2 <<'END'
a b c => a b
a => a
 itself
END
    keys_are -f 1,3 <<'END'
a b c d => a c
a b itself
a itself
END
    keys_are -f 2-3,5- <<'END'
a b c d e f g => b c e f g
a b c d itself
END
}

@test "-f -t: each separator separates" {
    keys_are -f 2 -t , <<'END'
a,b,c => b
a,,c => ''
a, => ''
, => ''
a, B\r => \x20B\r
a itself
 itself
END
    keys_are -f 1 -t , <<'END'
a => a
,a => ''
\x20a ,b => \x20a\x20
END
    keys_are -f 1,3- -t '\t' <<'END'
a\tb\tc\td => a\tc\td
a\tb\t => a\t
a\tb itself
a b c itself
END
    keys_are -f 2- -t ' ' <<'END'
a  b => \x20b
END
}

@test "-f: an empty line has a field if a separator is given, and none otherwise" {
    printf '\n' >lines
    succeeds unseen key --tag -f 1 -t , lines
    prints 'key\t\n'
    succeeds unseen key --tag -f 1 lines
    prints 'none\t\n'
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
    for separator in '' ab ü \\ '\x9' '\xg0' '\x123' '\n' '\t\t'; do
        fails_with 2 '-t' unseen key -f 2 -t "$separator" lines || complain "-t '$separator'"
    done
}

@test "-f: what is no list" {
    local list
    touch lines
    for list in 0 3-2 '' - ',' '1,' ',1' 1,,2 a 1-a 1-2-3 0-2 -0 ' 1' +1 65536 1-65536 65536- \
        1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31,33; do
        fails_with 2 '-f' unseen key "-f$list" lines || complain "-f '$list'"
    done
    for list in 65535 65535- 1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31 \
        1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18; do
        succeeds unseen key -f "$list" lines || complain "-f $list"
    done
}

@test "-f: the order and the way in which a list is written do not matter" {
    local lists list
    seq 100000 | paste -sd ' ' >lines
    seq 3 | paste -sd ' ' >>lines
    while read -r lists; do
        for list in $lists; do
            succeeds unseen key --tag "-f$list" lines
            [[ -e wanted ]] || cp "$out" wanted
            same "$out" wanted || complain "-f $list, of $lists"
        done
        rm wanted
    done <<'END'
1-3 1,2,3 3,1-2 1,1-3,2 -3 -2,3 2-3,1-2
2- 2,3- 3-,2 2-,5-7,9
1,3- 3-,1 1,1,3,4-
5-7,9 9,7,6,5 5,6,7,9-9
65535 65535-65535
END
    # One line has all of these fields, the other one of them.
    succeeds unseen key --tag -f 1,2,3,4 lines
    printf 'key\t1 2 3 4\nkey\t1 2 3\n' >wanted
    same "$out" wanted
    succeeds unseen key -f 65534- lines
    { seq 65534 100000 | paste -sd ' ' && echo 1 2 3; } >wanted
    same "$out" wanted
}

@test "--trim and -f: blanks go first, and a separator is no blank" {
    keys_are --trim -f 2 -t , <<'END'
 a,b\r => b
a, b , c => \x20b\x20
 , \r => ''
END
    keys_are --trim -f 1 -t '\t' <<'END'
\ta => ''
 \ta => ''
 a\t  => a
END
    keys_are --trim -f 3 -t '\t' <<'END'
a\t\t\r => ''
a\tb\r itself
END
    keys_are --trim -f 2 <<'END'
\ta b\r => b
a\r itself
END
}

# --- url ---------------------------------------------------------------------

@test "--by url: the examples of the rules" {
    keys_are --by url <<'END'
HTTP://User@WWW.Example.COM:80/%7efoo/../a/./b/%2e%2e/c?q=%c3%a9#x => http://User@www.example.com/a/c?q=%C3%A9
http://example.com => http://example.com/
https://example.com:443?x => https://example.com/?x
https://example.com:00080/ => https://example.com:80/
http://example.com:/ => http://example.com/
http://a/b c?d=[1]&e=100% => http://a/b%20c?d=%5B1%5D&e=100%25
http://a/%41%2f%zz => http://a/A%2F%25zz
http://a/%2f../x => http://a/%2F../x
http://a/%25%34%31 => http://a/%2541
http://a//b/../../c => http://a/c
http://a//b/./c => http://a//b/c
http://[2001:DB8::1]:80/ => http://[2001:db8::1]/
http://%41%c3/ => http://a%C3/
http://bücher.example/ü => http://b%C3%BCcher.example/%C3%BC
http://u@x@h/ => http://u@x@h/
http://a/? => http://a/?
http://a/../../b => http://a/b
http:///x itself
http://u@/ itself
mailto:a@b itself
example.com/x itself
http://a:b/ itself
http://a:1:80/ itself
http://a:%38/ itself
http://a[b/ itself
http://[v1.x]/ itself
http://[::1]x/ itself
END
}

@test "--by url: ends, fragments, schemes" {
    keys_are --by url <<'END'
http://a/x #f => http://a/x%20
http://a#@b/ => http://a/
\x01 http://a/x\x1f\r => http://a/x
http://a/\x7f => http://a/%7F
http://a/ #x  => http://a/%20
http://a/x\xc2\xa0 => http://a/x%C2%A0
#http://a/ itself
http:#//a/ itself
h+t.p-1://A => h+t.p-1://a/
X://a => x://a/
1http://a/ itself
+x://a/ itself
h_t://a/ itself
://a/ itself
//a/ itself
http:/a/ itself
http:\\\\a/ itself
ht tp://a/ itself
http ://a/ itself
 itself
\r itself
file:///etc itself
http://#a itself
http:// itself
http://? itself
END
}

@test "--by url: user info" {
    keys_are --by url <<'END'
http://@a/ => http://@a/
http://@@a/ => http://@@a/
http://u:@a/ => http://u:@a/
http://U:P@A/ => http://U:P@a/
http://[u]:\x20%7e%c3%zz@a/ => http://%5Bu%5D:%20~%C3%25zz@a/
http://u:80@a:80/ => http://u:80@a/
http://a/@b => http://a/@b
http://a?@b => http://a/?@b
http://u%40b@a/ => http://u%40b@a/
http://a:80@/ itself
END
}

@test "--by url: hosts" {
    keys_are --by url <<'END'
http://a./ => http://a./
http://A%2fB%2E/ => http://a%2Fb./
http://A%C3%9c/ => http://a%C3%9C/
http://A%/ => http://a%25/
http://%4/ => http://%254/
http://A_b c<>\x7f/ => http://a_b%20c%3C%3E%7F/
http://a\\b/ => http://a%5Cb/
http://%5b::1%5d/ itself
http://%5bv1%5D/ => http://%5Bv1%5D/
http://[::FFFF:1.2.3.4]:8080?x => http://[::ffff:1.2.3.4]:8080/?x
http://[:]/ => http://[:]/
http://[::1]: => http://[::1]/
http://u@[::1]:080/ => http://u@[::1]/
http://[::1%25eth0]/ itself
http://[]/ itself
http://[::1/ itself
http://::1]/ itself
http://a]/ itself
http://[::1]]/ itself
http://[::1]:[/ itself
http://[::1]80/ itself
http://.../ => http://.../
http://\x01/ => http://%01/
http:// / => http://%20/
END
}

@test "--by url: ports" {
    keys_are --by url <<'END'
http://a:80 => http://a/
http://a:0080 => http://a/
http://a:443/ => http://a:443/
HTTPS://a:443/ => https://a/
https://a:80/ => https://a:80/
ws://a:80/ => ws://a/
wss://a:443/ => wss://a/
WSS://a:80/ => wss://a:80/
ws://a:443/ => ws://a:443/
ftp://a:21/ => ftp://a/
ftp://a:80/ => ftp://a:80/
x://a:80/ => x://a:80/
http://a:0/ => http://a:0/
http://a:000/ => http://a:0/
http://a:00800/ => http://a:800/
http://a:65536/ => http://a:65536/
http://a:18446744073709551696/ => http://a:18446744073709551696/
http://a:00000000000000000000000000000000080/ => http://a/
http://a:? => http://a/?
http://a:-1/ itself
http://a:8a/ itself
http://a:80:/ itself
http://a::/ itself
http://a: 80/ itself
http://:80/ itself
http://a:80\\/ itself
END
}

@test "--by url: paths" {
    keys_are --by url <<'END'
http://a/. => http://a/
http://a/.. => http://a/
http://a/b/. => http://a/b/
http://a/b/.. => http://a/
http://a/b/../ => http://a/
http://a/b/c/.. => http://a/b/
http://a/./b => http://a/b
http://a/.../..b/.c => http://a/.../..b/.c
http://a/b/%2E%2e/c => http://a/c
http://a/b/.%2e => http://a/
http://a/b%2f..%2fc/.. => http://a/
http://a//.. => http://a/
http://a///../b => http://a//b
http://a/b//.. => http://a/b/
http://a/../..//b => http://a//b
http://a/b;c=1/../d => http://a/d
http://a/.\x20#b => http://a/.%20
http://a/.\x20/b => http://a/.%20/b
http://a/%25%32%65 => http://a/%252e
http://a/%%341 => http://a/%2541
http://a/%4%31 => http://a/%2541
http://a/%2%65%2e => http://a/%252e.
http://a/%e2%98%83%aF => http://a/%E2%98%83%AF
http://a/% => http://a/%25
http://a/%% => http://a/%25%25
http://a/%4 => http://a/%254
http://a/%30%39%41%5a%61%7a%2d%2e%5f%7e => http://a/09AZaz-._~
http://a/%2F%3a%40%5b%60%7B%2b%2C%00%7f%80 => http://a/%2F%3A%40%5B%60%7B%2B%2C%00%7F%80
http://a/"<>\\^`{|}[] => http://a/%22%3C%3E%5C%5E%60%7B%7C%7D%5B%5D
http://a/!$&'()*+,;=:@-._~ => http://a/!$&'()*+,;=:@-._~
http://a/\t\x01\v => http://a/
http://a/\t\x01\vx => http://a/%09%01%0Bx
http://a/B/%43 => http://a/B/C
END
}

@test "--by url: queries" {
    keys_are --by url <<'END'
http://a? => http://a/?
http://a?b/../c => http://a/?b/../c
http://a/??=& => http://a/??=&
http://a/?b=2&a=1&b=2 => http://a/?b=2&a=1&b=2
http://a/?%7e%3d%26[x]\x20% => http://a/?~%3D%26%5Bx%5D%20%25
http://a/?/./%2e%2e => http://a/?/./..
http://a/?x? => http://a/?x?
http://a/?# => http://a/?
END
}

# --- host --------------------------------------------------------------------

@test "--by host: of URLs" {
    keys_are --by host <<'END'
http://User:pw@WWW.Example.COM:8080/x?y#z => www.example.com
https://a. => a.
http://[2001:DB8::1]:80/ => [2001:db8::1]
http://%41%c3/ => a%C3
x://a_b/ => a_b
 http://A => a
http://a#b => a
http:///x itself
://a/ itself
http://a:b/ itself
1x://a/ itself
x y://a/ itself
END
}

@test "--by host: of what is no URL" {
    keys_are --by host <<'END'
example.com/r?u=http://b/ => example.com
user@Host:8080 => host
tel:5 => tel
http:/a => http
[::1]:80 itself
Example.COM => example.com
 example.com.\r => example.com.
a?http://b/ => a
a#http://b/ => a
a:80?b => a
a: => a
a@b@C:1/ => c
u:p@a => a
@a => a
a_b-c.9:80/ => a_b-c.9
-  => -
a:1:2 itself
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
a%41 itself
b\xc3\xbccher.example itself
a\\b itself
 itself
http:?//a => http
END
}

# --- endpoint ----------------------------------------------------------------

@test "--by endpoint: the examples of the rules" {
    keys_are --by endpoint <<'END'
https://shop.example/item/123.html?id=7&ref=x => shop.example/item/{0}.html?id&ref
http://shop.example/item/99.html?ref=&id=8&id=9 => shop.example/item/{0}.html?id&ref
http://a/u/550E8400-e29b-41d4-a716-446655440000/2024-02-31/ => a/u/{u}/{d}/
http://a/f/9f86d081884c7d65/20241301/1234567890123456 => a/f/{h}/{0}/{0}
http://a/article-123/.html/1.2.3/123.tar.gz/1.5/123. => a/article-123/.html/1.2.3/123.tar.gz/{0}.5/123.
http://a/x?&&a=1&&=y => a/x?a
END
}

@test "--by endpoint: hosts and segments" {
    keys_are --by endpoint <<'END'
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
END
}

@test "--by endpoint: names of parameters" {
    keys_are --by endpoint <<'END'
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
    awk 'BEGIN { printf "key\ta/?0001"; for (i = 2; i <= 5900; i++) printf "&%04d", i }' >wanted
    echo >>wanted
    succeeds unseen key --tag --by endpoint lines
    same "$out" wanted
}

# --- profiles with all else --------------------------------------------------

@test "--by url: of a field, of a trimmed line" {
    keys_are -f 2 -t , --by url <<'END'
x,HTTP://A,y => http://a/
x, http://a/\r,y => http://a/
x,a,y itself
 HTTP://A itself
x,,y itself
END
    keys_are -f 2- -t , --by url -i <<'END'
X,HTTP://A/B,c => http://a/b,c
X,Y itself
END
    keys_are -f 2 --trim --by host -i <<'END'
X HTTP://A/B\r => a
X A/B\r => a
X Y,Z\r itself
END
    keys_are -f 2-3 --by endpoint <<'END'
x http://a/7 7 => a/7%207
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
    awk 'BEGIN { printf "http://a/"; for (i = 9; i < 65536; i++) printf "\\" }' >lines
    succeeds unseen key --by url lines
    [[ $(wc -c <"$out") -eq $((9 + 3 * (65536 - 9) + 1)) ]] || complain "$(wc -c <"$out") bytes"
    # Without a profile there is no such limit.
    succeeds unseen key --tag -f 1 -i lines
    [[ $(wc -c <"$out") -eq $((4 + 65536 + 1)) ]]
}

# --- first occurrences -------------------------------------------------------

@test "of lines with the same key the first is printed, as it came" {
    printf '%s\n' 'HTTP://A:80/%7e#x' http://a/~ http://b ' http://A/~ ' x http://b/ 'x ' x >lines
    capture unseen --by url <lines
    [[ $code -eq 0 ]]
    prints 'HTTP://A:80/%7e#x\nhttp://b\nx\nx \n'
}

@test "a line that counts as itself is not taken for another one's key" {
    printf '%s\n' 'x,b' b 'y,b' b c 'z,c' c >lines
    capture unseen -f 2 -t , <lines
    [[ $code -eq 0 ]]
    prints 'x,b\nb\nc\nz,c\n'
}

# --- the model ---------------------------------------------------------------

# model_agrees SEED: all recipes that compare knows.
model_agrees() {
    need python3 xargs
    UNSEEN_TOOLS=$tools capture "$repository/tests/key/compare" 20000 "$1"
    [[ $code -eq 0 ]] || complain "the program and the model differ"
    [[ $(wc -l <"$out") -ge 15 ]] || complain "too few recipes"
}

@test "the model in Python says the same of hostile lines" {
    model_agrees 1
}

@test "one byte that differs is found" {
    need python3 xargs
    local where
    for where in key -p; do
        cat >wrong <<END
#!/bin/sh
case \$1 in
$where) "$UNSEEN" "\$@" | sed '500s/\$/x/' ;;
*) "$UNSEEN" "\$@" ;;
esac
END
        chmod +x wrong
        UNSEEN=$PWD/wrong UNSEEN_TOOLS=$tools exits 1 \
            "$repository/tests/key/compare" 3000 1 '--by host'
        grep -q 'differ: .*line 500' "$out" || complain "not that of $where"
    done
}

@test "url applied twice is url applied once" {
    "$tools/genhostile" 30000 2 >lines
    succeeds unseen key --tag --by url lines
    # Encoded, a URL may have become too long for one.
    sed -n 's/^key\t//p' "$out" | awk 'length($0) <= 65536' >once
    [[ $(wc -l <once) -ge 10000 ]] || complain "too few URLs"
    succeeds unseen key --tag --by url once
    sed 's/^key\t//' "$out" | same - once
}

# --- libraries ---------------------------------------------------------------

# library_agrees NAME LEAST: on well-formed URLs, wherever the library has a say, which is for LEAST
# of them or more.
library_agrees() {
    local oracle=${UNSEEN%/*}/tests/key/oracle_$1
    [[ -x $oracle ]] || skip "was built without the library (src/build/deps.sh check installs it; then make check)"
    "$tools/genhostile" -w 50000 3 >lines
    succeeds unseen key --tag --by url lines
    sed 's/^key\t//' "$out" >keys
    succeeds "$oracle" <lines
    paste keys "$out" | awk -F '\t' '$2 != "-"' >said
    [[ $(wc -l <said) -ge $2 ]] || complain "it has a say on $(wc -l <said) lines"
    awk -F '\t' '$1 != $2 { print "key " $1 ", library " $2 }' said >different
    [[ ! -s different ]] || complain "$(head -n 5 different)"
}

@test "uriparser makes the same of well-formed URLs" {
    library_agrees uriparser 20000
}

@test "libcurl makes the same of well-formed URLs" {
    library_agrees curl 5000
}
