#!/usr/bin/env bats
# --header, or --csv with names of columns: the first line of each input is a header line, never a key, and
# printed once a run. And a row of CSV that is an error.

load helper
load crash

@test "once a run, with the first new line: neither judged nor remembered nor counted" {
    local form
    mixed_lines 20000 9000 >lines
    { echo name,id; head -n 12000 lines; } >a
    { echo name,id; tail -n 8000 lines; } >b
    { echo name,id; lines_unique lines; } >new
    for form in '' '-j 1' '-j 2' --durable '--pending keys'; do
        exits 0 unseen create --force -n 1000 -p 1e-9 f.bf
        exits 0 to got unseen --header $form f.bf a b
        same got new
        [[ $form != --pending* ]] || exits 0 unseen commit f.bf keys
        has f.bf lines
        exits 1 unseen query -q f.bf < <(echo name,id)
        succeeds unseen --header f.bf a b
        prints ''
    done
    { cat a; tail -n +2 b; } | unseen --header -p 1e-9 | cmp - new
    printf 'h\n1\n2\n' >a
    printf h >short
    : >empty
    runs <<'END'
0|--header f.bf <(printf 'h\nx\nh\n\xef\xbb\xbfh\r\r\nx\nh')|h\nx\n|
0|--header --tag f.bf <(printf 'h\n1\nh\n\xef\xbb\xbfh\r\r\n1\n') <(printf 'h\nh\n')|h\nnew\t1\nh\n\xef\xbb\xbfh\r\r\nseen\t1\nh\n|1
0|--header --dropped dropped f.bf <(printf 'h\n1\nh\r\n1\nh\n2\n') >got; also dropped|h\nh\r\n1\nh\n|1 2
0|--header --summary --json f.bf <(printf 'h\n1\nh\r\n1\nh\n2\n') 2>got; also <(grep -o '"read":3,"printed":2' got; grep -o '"headers_again":2' got)|h\n1\n2\n"read":3,"printed":2\n"headers_again":2\n|1 2
0|--header -m 2 f.bf <(printf 'h\nh\n1\nh\n2\n3\n')|h\n1\n2\n|1 2
0|push --header f.bf <(printf 'h\nh\n1\nh\n2\n'); unseen pop f.bf -m 9|1\n2\n|1 2
0|--header f.bf <(printf 'h\nh\n1\nh\n') -x cat|h\n1\n|1
0|key --header <(printf 'h\n1\nh\n1\n')|1\n1\n|
0|plan --header --json <(printf 'h\n1\nh\n1\n') >got; also <(cut -d , -f 1 got)|{"read":2\n|
0|add f.bf a && unseen query --header -c f.bf <(printf 'h\n1\nh\n')|1\n|1 2
0|add f.bf a && unseen query --header --tag f.bf <(printf 'h\n1\nh\n3\n')|h\nseen\t1\nh\nnew\t3\n|1 2
0|shard --header 1/1 <(printf 'h\n1\nh\n1\n')|h\n1\n1\n|
0|--header f.bf empty short a empty short a|h\n1\n2\n|1 2
1|-e --header f.bf short short||
0|--header f.bf <(printf '\n1') <(printf '\n')|\n1\n|1
2|--header f.bf missing a|h\n1\n2\n|1 2|missing: No such file or directory
0|--header -m 1 f.bf a a|h\n1\n|1
0|--header -m 0 f.bf a||
0|--header -z f.bf <(printf 'h\n1\0001\0002\n\0001\0')|h\n1\x001\x002\n\x00|1
0|--header -d -p 1e-9 < <(printf 'h\nh\nx\nx\n')|h\nx\n|
0|--header -f 2 -t , -p 1e-9 < <(printf '1\n1,2\n3,2\n')|1\n1,2\n|
0|--header --summary --json f.bf a a 2>got; also <(cut -d , -f 2-4 got)|h\n1\n2\n"read":4,"printed":2,"dropped":2\n|1 2
END
    # what comes after the last line wanted is left
    { exits 0 unseen --header -m 1 -p 1e-9; cat >rest; } <a
    prints 'h\n1\n'
    echo 2 | cmp - rest
}

@test "-a, --dropped: into an empty file, or one that is none; --tag: at once; query, add, remove, push, plan" {
    printf 'h\n1\n2\n1\n' >a
    printf 'h\r\n9\n' >full
    printf 'h,i\n9\n' >other
    touch empty none
    runs <<'END'
0|--header -a new f.bf a; also new|h\n1\n2\n|1 2
0|--header -a none f.bf a; also none|h\n1\n2\n|1 2
0|--header -a full f.bf a; also full|h\r\n9\n1\n2\n|1 2
0|help >got; cat <(unseen --header -a /dev/stdout f.bf a)|h\n1\n2\n|1 2
2|--header -a other f.bf a; also other|h,i\n9\n||a: columns differ from other's
0|--header --dropped dropped f.bf a; also dropped|h\n1\n2\nh\n1\n|1 2
0|--header --dropped full f.bf a; also full|h\n1\n2\nh\r\n9\n1\n2\n1\n|1 2
2|--header --dropped other -a new f.bf a; also new other|h,i\n9\n||a: columns differ from other's
2|--header --dropped other -a full f.bf a|||other: columns differ from full's
0|add --header --dropped dropped f.bf a; also dropped|h\n1\n|1 2
0|--header --tag f.bf empty a a|h\nnew\t1\nnew\t2\nseen\t1\nseen\t1\nseen\t2\nseen\t1\n|1 2
0|--header --tag -p 1e-9 < <(echo h)|h\n|
0|add --header f.bf a other||1 2 9
0|push --header f.bf a a; unseen pop f.bf -m 9|1\n2\n|1 2
2|push --header f.bf a other; also <(unseen pop f.bf -m 9)|1\n2\n|1 2|other: columns differ from a's
0|plan --header --json a other >got; also <(cut -d , -f 1 got)|{"read":4\n|
0|add f.bf a && unseen remove --header f.bf a <(printf 'x\n1\n') && unseen query f.bf a|h\n||f.bf: 2 of 4 lines were not in the filter
0|add f.bf a && unseen query --header -c f.bf a other|3\n|1 2
1|query --header -q f.bf a other||
0|query --header -v f.bf a a|h\n1\n2\n1\n1\n2\n1\n|
2|query --header -v f.bf a other|h\n1\n2\n1\n||other: columns differ from a's
0|add f.bf <(echo 1); unseen query --header --tag f.bf a a|h\nseen\t1\nnew\t2\nseen\t1\nseen\t1\nnew\t2\nseen\t1\n|1
END
}

@test "a FILE of -a that is emptied before its header line is read gets one, as an empty one does" {
    need_strace
    exits 0 unseen create f.bf
    printf 'h\n9\n' >full
    printf 'h\n1\n' >in
    succeeds strace -qq -o trace -P "$PWD/full" -e trace=read -e inject=read:retval=0 "$UNSEEN" \
        --header f.bf in -a full
    grep -q INJECTED trace
    same full <(printf 'h\n9\nh\n1\n')
}

# begun_by OTHER CODE MESSAGE ARGUMENT...: a run that has seen `got` empty, and waits to append to it, until another
# run has appended what OTHER prints; it exits with CODE, and says MESSAGE or nothing.
begun_by() {
    local other=$1 wanted=$2 message=$3 feed
    shift 3
    rm -f got
    mkfifo go
    "$UNSEEN" "$@" <go >"$out" 2>"$err" 3>&- &
    exec {feed}>go
    rm go
    echo id,n >&"$feed"
    asleep $!
    eval "$other" >>got
    echo 9,z >&"$feed"
    exec {feed}>&-
    ended "$wanted" $! || return 1
    same "$err" <(printf '%s' "${message:+unseen: $message$'\n'}")
}

@test "a file that another run has begun meanwhile has its header line; other columns are refused, and nothing remembered" {
    local form
    for form in '-a got' '--tee got'; do
        exits 0 unseen create --force --csv -f id f.bf
        begun_by 'printf "id,n\r\n1,x\n"' 0 '' $form f.bf
        printf 'id,n\r\n1,x\n9,z\n' | cmp - got
        exits 0 unseen create --force --csv -f id f.bf
        begun_by 'printf "n,id\nx,1\n"' 2 "got: columns are in another order than standard input's (each order needs an output of its own)" $form f.bf
        printf 'n,id\nx,1\n' | cmp - got
        begun_by 'printf id,' 2 'got: its header line is cut off (it has no other lines; to start over: rm got)' $form f.bf
        exits 1 unseen query -q --header f.bf < <(printf 'id,n\n9,z\n')
    done
    exits 0 unseen add f.bf < <(printf 'id,n\n9,z\n')
    begun_by 'printf "id,n\n1,x\n"' 0 '' --dropped got f.bf
    printf 'id,n\n1,x\n9,z\n' | cmp - got
}

@test "a header line that a full disk has cut off: told, with the way out" {
    printf 'id,name\n1\n' >in
    runs <<'END'
2|--header -a cut f.bf in <<<"$(printf id,na >cut)"; also cut|id,na||cut: its header line is cut off (it has no other lines; to start over: rm cut)
2|--header --tee cut f.bf in|||cut: its header line is cut off (it has no other lines; to start over: rm cut)
2|--header --dropped cut f.bf in|||cut: its header line is cut off (it has no other lines; to start over: rm cut)
0|--header -a whole f.bf in <<<"$(printf id,name >whole)"; also whole|id,name\n1\n|1
2|--header -a other f.bf in <<<"$(printf i >other; echo 5 >>other)"|||in: columns differ from other's
2|--header -a no f.bf in <<<"$(printf x >no)"|||in: columns differ from no's
END
}

@test "names of columns: that moved, there twice, missing; marks, quotes, blanks and ends of header lines" {
    local columns='(columns: nr, '
    printf 'id,n\n1,x\n2,y\n1,z\n' >a.csv
    printf 'n,id\nx,1\nw,3\n' >moved.csv
    printf 'id,n,id\n5,x,6\n' >twice.csv
    printf 'nr,"n,""m"""\n7,x\n' >none.csv
    printf '\xef\xbb\xbfid,"n"\r\r\n8,x\r\n' >bom.csv
    printf 'n,"id"\nx,9' >quoted.csv
    printf ' id, "n" \n7,x\n' >blanks.csv
    printf '\n' >blank.csv
    printf 'id,n' >only.csv
    : >empty.csv
    runs --csv -f id <<END
0|f.bf a.csv|id,n\n1,x\n2,y\n|1 2
0|f.bf - <quoted.csv|n,"id"\nx,9\n|9
0|f.bf only.csv empty.csv bom.csv a.csv|\xef\xbb\xbfid,"n"\r\r\n8,x\r\n1,x\n2,y\n|1 2 8
2|f.bf a.csv moved.csv - <a.csv|id,n\n1,x\n2,y\n|1 2|moved.csv: *columns*a.csv*order
2|f.bf - moved.csv <only.csv|||moved.csv: *columns*standard input*order
2|f.bf a.csv <(printf 'id,m\n3,x\n')|id,n\n1,x\n2,y\n|1 2|/dev/*: columns differ from a.csv's
2|f.bf a.csv <(printf 'id,n,n\n3,x\n')|id,n\n1,x\n2,y\n|1 2|/dev/*: columns differ from a.csv's
2|f.bf none.csv a.csv|id,n\n1,x\n2,y\n|1 2|none.csv: no column 'id' $columns
2|f.bf blank.csv a.csv|id,n\n1,x\n2,y\n|1 2|blank.csv: no column 'id'
2|f.bf a.csv twice.csv|id,n\n1,x\n2,y\n|1 2|twice.csv: two columns are named 'id' (rename one, or
2|f.bf none.csv -x cat|||none.csv: no column 'id' $columns
0|f.bf a.csv && unseen f.bf moved.csv|id,n\n1,x\n2,y\nn,id\nw,3\n|1 2 3
0|add f.bf a.csv moved.csv||1 2 3
0|add f.bf a.csv && unseen query -c f.bf moved.csv a.csv|4\n|1 2
0|add f.bf a.csv && unseen query -q f.bf moved.csv||1 2
2|add f.bf a.csv && unseen query --tag f.bf moved.csv a.csv|n,id\nseen\tx,1\nnew\tw,3\n|1 2|a.csv: *columns*moved.csv*order
0|add f.bf a.csv && unseen remove f.bf moved.csv||2|f.bf: 1 of 2 *not in the filter
0|--tag f.bf a.csv|id,n\nnew\t1,x\nnew\t2,y\nseen\t1,z\n|1 2
0|push f.bf a.csv; unseen pop f.bf -m 9|1,x\n2,y\n|1 2
2|push f.bf a.csv moved.csv; also <(unseen pop f.bf -m 9)|1,x\n2,y\n|1 2|moved.csv: *columns*a.csv*order
2|f.bf a.csv -a new <<<"\$(cat moved.csv >new)"; also new|n,id\nx,1\nw,3\n||a.csv: *columns*new*order
2|--dropped new f.bf a.csv <<<"\$(cat moved.csv >new)"; also new|n,id\nx,1\nw,3\n||a.csv: *columns*new*order
0|-m 1 f.bf a.csv moved.csv|id,n\n1,x\n|1
0|-z f.bf <(printf 'n,id\0"a\nb",1\0"c\nd",1\0')|n,id\x00"a\nb",1\x00|1
0|f.bf a.csv a.csv -x cat|id,n\n1,x\n2,y\n|1 2
0|key --csv -f id --header a.csv moved.csv|1\n2\n1\n1\n3\n|
0|key --csv -f 'i"d' < <(printf 'x,"i""d"\na,1\n')|1\n|
0|plan --json --csv -f id a.csv moved.csv >got; also <(cut -d , -f 1,2 got)|{"read":5,"distinct":3\n|
0|shard 1/1 --csv -f id a.csv only.csv a.csv|id,n\n1,x\n2,y\n1,z\n1,x\n2,y\n1,z\n|
2|shard 1/1 --csv -f id a.csv moved.csv a.csv|id,n\n1,x\n2,y\n1,z\n||moved.csv: *columns*a.csv*order
0|shard 2 --files s.%d --csv -f id a.csv bom.csv && head -qn 1 s.1 s.2|id,n\nid,n\n|
0|--pending keys f.bf a.csv; unseen --pending keys f.bf a.csv 2>got && unseen commit f.bf keys|id,n\n1,x\n2,y\nid,n\n1,x\n2,y\n|1 2
0|--tag f.bf <(printf 'id,n\n1,x\n"id","n"\r\n2,y\nn,id\n\xef\xbb\xbfid,n\n1,z\n')|id,n\nnew\t1,x\n"id","n"\r\nnew\t2,y\nnew\tn,id\n\xef\xbb\xbfid,n\nseen\t1,z\n|1 2
2|f.bf a.csv blanks.csv|id,n\n1,x\n2,y\n|1 2|blanks.csv: no column 'id' (columns: ' id', 
END
    runs --csv --trim -f id <<'END'
0|f.bf a.csv blanks.csv <(printf 'id,n\n "id" ,n\n3, id\n')|id,n\n1,x\n2,y\n7,x\n3, id\n|1 2 3 7
END
    # names with commas, of digits, with LF; all but some; without --csv
    printf '"last, first",id,2019\n"Lee, Ann",1,x\nLee,2,x\n"Lee, Ann",3,y\n' >names.csv
    printf 'id,exported_at,n,etl_id\n1,mon,x,7\n1,tue,x,8\n2,wed,x,9\n,wed,x,9\n' >etl.csv
    printf 'etl_id,n,id,exported_at\n3,x,1,thu\n4,x,3,fri\n' >etl2.csv
    printf 'id\tn\n1\t5" disk\n2\t"x\n\t"x\n1\t"\n' >a.tsv
    printf 'n\tid\n"y\t3\n,\t4\n' >moved.tsv
    runs <<'END'
0|key --csv -f '"last, first",id' names.csv|"Lee, Ann",1\nLee,2\n"Lee, Ann",3\n|
0|key --csv -f 'id,"last, first"' names.csv|1,"Lee, Ann"\n2,Lee\n3,"Lee, Ann"\n|
0|key --csv -f '"2019"' names.csv|x\nx\ny\n|
0|key --csv -f '"id"' names.csv|1\n2\n3\n|
2|key --csv -f 'last, first' names.csv|||names.csv: no column 'last' (columns: "last, first", id, "2019")
2|key --csv -f '"a""b, c"' names.csv|||names.csv: no column '"a""b, c"' (columns: "last, first", id, "2019")
2|key --csv -f no <(echo 'x y,!a,,-,"a""b"')|||/dev/*: no column 'no' (columns: 'x y', "!a", '', "-", "a""b")
2|key --csv -f no <(seq -s ,x 3000)|||/dev/*: no column 'no' (columns: "1", x2, *, ...)
2|key --csv -f '"2019",2' names.csv|||-f *
2|key --csv -f '"id' names.csv|||-f *
0|key --tag --csv -f '!exported_at,etl_id' etl.csv etl2.csv|key\t1,x\nkey\t1,x\nkey\t2,x\nnone\t,wed,x,9\nkey\t1,x\nkey\t3,x\n|
0|--csv -f '!exported_at,etl_id' -p 1e-9 <etl.csv|id,exported_at,n,etl_id\n1,mon,x,7\n2,wed,x,9\n,wed,x,9\n||filter in memory: 1 of 4 lines has no value in that field (first: line 5)
0|key --csv -f '!2,4-5' <(echo 1,2,3,4,5,6,7)|1,3,6,7\n|
0|key --csv -f '!2-' <(echo 1,2,3)|1\n|
2|key --csv -f '!1-' names.csv|||-f *
2|key --csv -f '!id,"last, first",2019' names.csv|||-f *
2|key --csv -f '!id,nosuch' names.csv|||names.csv: no column 'nosuch' (columns: 
0|key -t '\t' --header -f id a.tsv moved.tsv|1\n2\n\t"x\n1\n3\n4\n|
0|key -t '\t' --header -f n,id a.tsv moved.tsv|5" disk\t1\n"x\t2\n"x\t\n"\t1\n"y\t3\n,\t4\n|
0|key -t '\t' --header -f '!n' a.tsv|1\n2\n\t"x\n1\n|
2|key -t '\t' --header -f nosuch a.tsv|||a.tsv: no column 'nosuch' (columns: id, n)
2|key --csv -f id a.tsv|||a.tsv: no column 'id' (columns: 'id\\tn'; to separate them: -t '\\t')
0|--header -t '\t' -f id -p 1e-9 <a.tsv|id\tn\n1\t5" disk\n2\t"x\n\t"x\n||filter in memory: 1 of 4 lines has no 'id' (first: line 4)
0|--create -t '\t' --header -f n,id -p 1e-9 n.bf a.tsv 2>got && unseen --header n.bf moved.tsv|id\tn\n1\t5" disk\n2\t"x\n\t"x\n1\t"\nn\tid\n"y\t3\n,\t4\n|
2|--header n.bf a.tsv moved.tsv|||moved.tsv: *columns*a.tsv*order
2|key --header -f id a.tsv|||-f id: *
END
}

@test "-x: CMD gets the header line with the first lines, once; without a new line it is not started" {
    printf 'h\n1\n2\n' >a
    printf 'h\n2\n3\n' >b
    runs <<'END'
0|--header f.bf a b -x cat|h\n1\n2\n3\n|1 2 3
0|add f.bf a && unseen --header f.bf a a -x touch started; also <(echo start*)|start*\n|1 2
3|--header f.bf a b -x sh -c 'cat >/dev/null; exit 1'|||sh: exited with 1 (its lines are not remembered)
END
    # header line and line arrive apart
    exits 0 unseen create --force -p 1e-9 f.bf
    converse "$UNSEEN" --header f.bf -x cat
    say h
    asleep "$pid"
    say 7
    hear h
    hear 7
    farewell
}

@test "header lines are equal if their fields are, of inputs and files; a row of several lines; the same columns in another order are told" {
    printf '\xef\xbb\xbf"id","a\nb"\r\n1,x\n' >one
    printf 'id,"a\nb"\n2,"y\nz"\n' >two
    printf '"a\nb",id\nw,3\n' >moved
    runs --csv -f id <<'END'
0|f.bf one two|\xef\xbb\xbf"id","a\nb"\r\n1,x\n2,"y\nz"\n|1 2
2|f.bf two moved|id,"a\nb"\n2,"y\nz"\n|2|moved: columns are in another order than two's (each order needs an output of its own)
0|add f.bf two moved||2 3
0|-a new f.bf two && unseen -a new f.bf one; also new|id,"a\nb"\n2,"y\nz"\n1,x\n|1 2
2|-a new f.bf moved <<<"$(cp two new)"; also new|id,"a\nb"\n2,"y\nz"\n||moved: columns are in another order than new's (each order needs an output of its own)
2|--dropped new f.bf two <<<"$(printf 'id,"a\n' >new)"; also new|id,"a\n||new: line 1: quoted field is not closed (what is appended would be part of it; to look at it: tail -n +1 new; if a run was stopped there, it comes again, and can be cut off: truncate -s 0 new)
2|--tee new f.bf two <<<"$(printf id >new)"|||new: its header line is cut off (it has no other lines; to start over: rm new)
0|-a new f.bf two <<<"$(printf 'id,"a\nb"' >new)"; also new|id,"a\nb"\n2,"y\nz"\n|2
0|f.bf one two -x cat|\xef\xbb\xbf"id","a\nb"\r\n1,x\n2,"y\nz"\n|1 2
0|f.bf one -x sh -c 'head -c 14 >/dev/null; sleep 0.1'|||sh: exited with 0, but took only 0 lines (the rest will come again)
END
    # quotes, names that are there twice, blanks, and no name at all
    local a b said run rows=
    while IFS='|' read -r a b said; do
        run="|--header f.bf <(printf '$a\\n1\\n') <(printf '$b\\n2\\n')|$a\\n1\\n"
        if [[ $said ]]; then
            rows+="2$run|1|/dev/*: columns $said /dev/*"$'\n'
        else
            rows+="0${run}2\\n|1 2"$'\n'
        fi
    done <<'END'
5" disk,a|"5"" disk","a"\r|
"a""""b",c|a""b,c|
|\r|
a""b,c|"a""b",c|differ from
"a"""|a|differ from
a,b,b|a,a,b|differ from
id,n|id,n,|differ from
id, n|id,n|differ from
a,"b,""c","b,""c"|"b,""c",a,"b,""c"|are in another order than
END
    runs --csv -f 1 <<<"${rows%?}"
    runs -t '\t' -f 1 <<'END'
2|--header f.bf <(printf '"a"\tb\n1\n') <(printf 'a\tb\n2\n')|"a"\tb\n1\n|1|/dev/*: columns differ from /dev/*
2|--header f.bf <(printf '"a"\tb\n1\n') <(printf 'b\t"a"\n2\n')|"a"\tb\n1\n|1|/dev/*: columns are in another order than /dev/*
END
}

@test "-x: a CMD that reads only some has taken what it read whole; the header line, short or long, is no line" {
    local length lines command
    for length in 1 6000; do
        { head -c "$length" /dev/zero | tr '\0' h; printf '\n%s\n' 1 2 3; } >in
        while IFS='|' read -r lines command; do
            exits 0 unseen create --force -p 1e-9 f.bf
            exits 0 unseen --header f.bf in in -x sh -c "$command" </dev/null
            [[ $lines -eq 3 ]] || says "^unseen: sh: exited with 0, but took only $lines lines? "
            capture unseen query -c f.bf <(seq 3)
            prints "$lines\n" || complain "$length, $command"
        done <<END
3|cat >got
0|read -r header
0|dd bs=1 count=$length status=none >got
0|dd bs=1 count=1 status=none >got; exec <&-; sleep 0.1
1|read -r header; read -r line
$([[ $length -gt 4096 ]] && echo 1 || echo 3)|exit 0
END
    done
}

@test "with --tag the header line is printed at once, else with the first line, which is not waited for" {
    local form
    exits 0 unseen create -p 1e-9 f.bf
    for form in '-p 1e-9' 'query -v f.bf' f.bf; do
        converse "$UNSEEN" $form --header
        say h
        say 2
        hear h
        hear 2
        farewell
        converse "$UNSEEN" ${form/-v/} --header --tag
        say h
        hear h
        farewell || [[ $? -eq 1 && $form == query* ]]
    done
}
