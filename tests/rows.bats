#!/usr/bin/env bats
# Rows of CSV as programs write them, many of several lines, in each form; and rows that are errors.

# shellcheck disable=SC2094 # that a file is read and written is what some are about
# shellcheck disable=SC2238,SC2258 # of CSV
load helper
load crash

# Each file has the habits of a program that writes such files. What comes out, and the keys, were
# checked by hand against the rules.
@test "twelve files as they are exported: what is printed, remembered and said" {
    cp "$repository"/tests/key/csv-files/*.csv .
    # Excel's UTF-8: a byte order mark, CRLF, LF within a cell
    runs --csv -f id <<'END'
0|f.bf excel.csv excel.csv|\xef\xbb\xbfid,name,address\r\n101,Ida Brook,"4 Mill Lane\nOldby"\r\n102,"Lund, Per",12 Elm Road\r\n|
0|key --tag --csv -f address excel.csv|key\t"4 Mill Lane\\nOldby"\nkey\t12 Elm Road\nkey\t9 Quay Street\n|
0|key --csv -f name,id excel.csv|Ida Brook,101\n"Lund, Per",102\nIda Brook,101\n|
END
    # Python on Windows, without newline='': CRCRLF; an empty row at the end
    runs --csv -f tree <<'END'
0|f.bf crcrlf.csv|id,tree\r\r\n7,oak\r\r\n8,"elm"\r\r\n\r\r\n|
0|key --tag --csv -f tree crcrlf.csv|key\toak\nkey\telm\nkey\toak\nnone\t\r\r\n|
0|add f.bf <(printf 'tree\noak\n') && unseen f.bf crcrlf.csv|id,tree\r\r\n8,"elm"\r\r\n\r\r\n|
END
    # old Macs, and Excel's "Macintosh": CR alone. And what the message advises.
    runs --csv -f id <<'END'
2|f.bf mac.csv <(printf 'id,n\n7,x\n')|id,n\n7,x\n|7|mac.csv: line 1: lines end with CR (tr '\\r' '\\n' <mac.csv
0|f.bf < <(tr '\r' '\n' <mac.csv)|id,n\n1,x\n2,y\n|1 2
END
    # phpMyAdmin: all in quotes; and columns in another order
    runs --csv -f id <<'END'
0|f.bf quoted.csv|"id","name"\n"7","Ann ""Bo"" Lee"\n"8","Cy\nDee"\n|7 8
2|f.bf quoted.csv moved.csv|"id","name"\n"7","Ann ""Bo"" Lee"\n"8","Cy\nDee"\n|7 8|moved.csv: *columns*quoted.csv*order
0|add f.bf quoted.csv && unseen f.bf moved.csv|name,id\n"Eve, Fay",9\n|7 8 9
0|key --csv -f name,id quoted.csv moved.csv|"Ann ""Bo"" Lee",7\n"""Cy\\nDee"",8"\nAnn,7\nCy,8\n"Eve, Fay",9\n|
END
    # a shop: addresses of several lines, one like a row, one like the header line, one empty
    runs --csv -f address <<'END'
0|f.bf addresses.csv|order,address,note\n1,"Ida Brook\n4 Mill Lane\n\nOldby","call first"\n2,"Per Lund\n1,same street\norder,address,note",\n3,"",\n||f.bf: 1 of 4 lines has no 'address' (first: line 9)
0|key --tag --csv -f address addresses.csv|key\t"Ida Brook\\n4 Mill Lane\\n\\nOldby"\nkey\t"Per Lund\\n1,same street\\norder,address,note"\nnone\t3,"",\nkey\t"Ida Brook\\n4 Mill Lane\\n\\nOldby"\n|
END
    # by hand: blank lines, a line of one blank
    runs --csv -f id <<'END'
0|f.bf blank.csv|id,n\n\n1,x\n2,y\n \n|1 2
0|key --tag --csv -f id blank.csv|none\t\nkey\t1\nnone\t\nkey\t2\nkey\t \nkey\t1\nnone\t\nnone\t\n|
0|key --tag --trim --csv -f id <(sed -n '1p; 6p' blank.csv)|none\t \n|
END
    # a CRM: customers without an id
    runs --csv -f id <<'END'
0|f.bf ids.csv|id,email\n,a@example.org\n"",b@example.org\n7,c@example.org\n  ,d@example.org\n,\n|7|f.bf: 4 of 7 lines have no 'id' (first: line 2)
0|key --tag --csv -f id,email ids.csv|none\t,a@example.org\nnone\t"",b@example.org\nkey\t7,c@example.org\nnone\t,a@example.org\nkey\t  ,d@example.org\nkey\t7,e@example.org\nnone\t,\n|
0|key --tag --csv -f email,id ids.csv|key\ta@example.org,\nkey\tb@example.org,\nkey\tc@example.org,7\nkey\ta@example.org,\nkey\td@example.org,  \nkey\te@example.org,7\nnone\t,\n|
0|key --tag --trim --csv -f id <(sed -n '1p; 6p' ids.csv)|none\t  ,d@example.org\n|
END
    # cat *.csv: header lines amid the rows, with a byte order mark, in quotes
    runs --csv -f id <<'END'
0|f.bf cat.csv|id,n\n1,x\n2,"y\nz"\n3,w\r\n4,id\n|1 2 3 4
0|key --csv -f id cat.csv|1\n2\n2\n3\n4\n|
0|--header --csv -f 1 -p 1e-9 <cat.csv|id,n\n1,x\n2,"y\nz"\n3,w\r\n4,id\n|
END
    # blanks around all: an error, but with --trim
    runs --csv -f 1 <<'END'
2|--header f.bf padded.csv|||padded.csv: line 2: *--trim
END
    runs --csv -f id <<'END'
2|f.bf padded.csv|||padded.csv: no column 'id' (columns: ' id ', ' name ')
END
    runs --csv --trim -f id <<'END'
0|f.bf padded.csv| id , name \n 7 , "Ann, Bo" \n 8 ,Cy\n|7 8
0|key --csv --trim -f name padded.csv|Ann, Bo\nCy\nDee\n|
END
    # Excel in half of Europe: semicolons, decimal commas
    runs --csv -t ';' -f id <<'END'
0|f.bf semicolons.csv|id;price\r\n1;"2,50"\r\n2;3,75\r\n|1 2
0|key --csv -t ';' -f price semicolons.csv|2,50\n3,75\n2;50\n|
2|key --csv -f id semicolons.csv|||semicolons.csv: no column 'id' (columns: id;price; to separate them: -t ';')
END
    # MySQL's INTO OUTFILE: quotes not doubled. Without --csv it goes, if no field before has commas.
    runs --csv -f 1 <<'END'
2|f.bf mysql.csv <(echo 3)|3\n|3|mysql.csv: line 1: bytes follow the closing quote
0|-t , -f 1 -p 1e-9 <mysql.csv|"1","a disk of 5\\" or 3"\n"2","plain"\n|
END
}

@test "rows of several lines in every form: whole, byte for byte, as they came" {
    # a.csv: ids 1, 2, 1, 3; the value of the last has quotes, and a line like a row
    printf 'id,n\n1,"x\ny"\n2,y\n1,"z\n\n"\n3,"""a\n1,x"\n' >a.csv
    printf 'id,n\n1,"other\n"\n9,"q\n\nr"' >b.csv
    runs --csv -f id <<'END'
0|f.bf a.csv|id,n\n1,"x\ny"\n2,y\n3,"""a\n1,x"\n|1 2 3
0|--csv -f id -p 1e-9 <a.csv|id,n\n1,"x\ny"\n2,y\n3,"""a\n1,x"\n|
0|f.bf - b.csv <a.csv|id,n\n1,"x\ny"\n2,y\n3,"""a\n1,x"\n9,"q\n\nr"\n|1 2 3 9
0|--csv -f n -p 1e-9 <a.csv|id,n\n1,"x\ny"\n2,y\n1,"z\n\n"\n3,"""a\n1,x"\n|
0|-d --csv -f id -p 1e-9 <a.csv|id,n\n1,"z\n\n"\n|
0|--tag f.bf a.csv|id,n\nnew\t1,"x\ny"\nnew\t2,y\nseen\t1,"z\n\n"\nnew\t3,"""a\n1,x"\n|1 2 3
0|-a new f.bf a.csv; also new|id,n\n1,"x\ny"\n2,y\n3,"""a\n1,x"\n|1 2 3
0|--tee new f.bf a.csv >got; also got new|id,n\n1,"x\ny"\n2,y\n3,"""a\n1,x"\nid,n\n1,"x\ny"\n2,y\n3,"""a\n1,x"\n|1 2 3
0|--dropped dropped f.bf a.csv >got; also dropped|id,n\n1,"z\n\n"\n|1 2 3
0|--durable f.bf a.csv b.csv|id,n\n1,"x\ny"\n2,y\n3,"""a\n1,x"\n9,"q\n\nr"\n|1 2 3 9
0|--progress f.bf b.csv|id,n\n1,"other\n"\n9,"q\n\nr"\n|1 9
0|f.bf a.csv -x cat|id,n\n1,"x\ny"\n2,y\n3,"""a\n1,x"\n|1 2 3
0|--pending keys f.bf a.csv; unseen --pending keys f.bf a.csv && unseen commit f.bf keys|id,n\n1,"x\ny"\n2,y\n3,"""a\n1,x"\nid,n\n1,"x\ny"\n2,y\n3,"""a\n1,x"\n|1 2 3|keys: this task was run before
0|add f.bf b.csv; unseen --pending keys f.bf a.csv; unseen --pending keys f.bf b.csv a.csv|id,n\n2,y\n3,"""a\n1,x"\nid,n\n2,y\n3,"""a\n1,x"\n|1 9|keys: this task was run before
0|-m 1 f.bf a.csv b.csv|id,n\n1,"x\ny"\n|1
0|-m 3 f.bf a.csv b.csv|id,n\n1,"x\ny"\n2,y\n3,"""a\n1,x"\n|1 2 3
2|--max-line 6 f.bf a.csv b.csv|||a.csv: *longer than 6 bytes|b.csv: *longer than 6 bytes
2|--max-line 7 f.bf a.csv b.csv|id,n\n1,"x\ny"\n2,y\n|1 2|a.csv: *longer than 7 bytes|b.csv: *longer than 7 bytes
0|add f.bf a.csv b.csv||1 2 3 9
0|add --dropped dropped f.bf a.csv b.csv; also dropped|id,n\n1,"z\n\n"\n1,"other\n"\n|1 2 3 9
0|add f.bf b.csv && unseen query f.bf a.csv|id,n\n1,"x\ny"\n1,"z\n\n"\n|1 9
0|add f.bf b.csv && unseen query -v f.bf a.csv|id,n\n2,y\n3,"""a\n1,x"\n|1 9
0|add f.bf b.csv && unseen query -c f.bf a.csv b.csv|4\n|1 9
0|add f.bf b.csv && unseen query -q f.bf a.csv||1 9
1|query -q f.bf a.csv||
0|add f.bf b.csv; unseen query --tag f.bf a.csv|id,n\nseen\t1,"x\ny"\nnew\t2,y\nseen\t1,"z\n\n"\nnew\t3,"""a\n1,x"\n|1 9
0|add f.bf a.csv && unseen remove f.bf b.csv||2 3|f.bf: 1 of 2 *not in the filter
0|plan --json --csv -f id a.csv b.csv >got; also <(cut -d , -f 1,2 got)|{"read":6,"distinct":4\n|
0|key --csv -f n a.csv b.csv|"x\\ny"\ny\n"z\\n\\n"\n"""a\\n1,x"\n"other\\n"\n"q\\n\\nr"\n|
0|key --tag --csv -f id,n a.csv|key\t"1,""x\\ny"""\nkey\t2,y\nkey\t"1,""z\\n\\n"""\nkey\t"3,""""""a\\n1,x"""\n|
0|key -z --csv -f 2 <(printf '1,"x\ny"\0"2",z\0')|"x\ny"\x00z\x00|
0|key --tag --csv -f 1 <(printf '"","x\ny"\n')|none\t"","x\ny"\n|
0|-z --csv -f 1 -p 1e-9 < <(printf '1,"x\n\ny"\0"1",z\0002\n,\0')|1,"x\n\ny"\x002\n,\x00|
0|--csv -f 1 -p 1e-9 < <(printf '\n,real\n1,x\n\n\xef\xbb\xbf"1",y\n,real\n,other\n""\r\n')|\n,real\n1,x\n,other\n""\r\n|
0|-f 1,2 -t , -p 1e-9 < <(printf '\n,real\n1\n\n1\n,real\n,other\n1,\n')|\n,real\n1\n,other\n1,\n|
0|--csv --header -f 3 -p 1e-9 < <(printf '"i\nd",n\n1,x\n')|"i\nd",n\n1,x\n||filter in memory: *1 of 1 line has no value in that field (first: line 3)
2|--create --shard 1/2 --csv -f 1 ./new 2>got < <(printf '1,"\n"\n2,\n'); also <(grep -o 'line 3' got)|1,"\n"\nline 3\n|
0|shard 1/1 --csv -f id b.csv|id,n\n1,"other\n"\n9,"q\n\nr"\n|
0|shard 1 --csv -f id b.csv|id,n\n1\t1,"other\n"\n1\t9,"q\n\nr"\n|
0|shard 1 --files new.%d --csv -f id b.csv && cat new.1|id,n\n1,"other\n"\n9,"q\n\nr"\n|
2|push f.bf a.csv; also <(unseen pop -m 9 f.bf)|2,y\n|2|a.csv: line 2: *several lines* (3 
2|push f.bf b.csv <(printf 'id,n\n"4",\n'); also <(unseen pop -m 9 f.bf)|"4",\n|4|b.csv: line 2: *several lines* (2 
0|--summary f.bf a.csv 2>got; also <(grep -o 'line 2\b' got)|id,n\n1,"x\ny"\n2,y\n3,"""a\n1,x"\nline 2\n|1 2 3
0|--summary --json f.bf a.csv 2>got; also <(cut -d , -f 2-4 got; grep -o '"sev[^,]*,[^,]*2[,}]' got)|id,n\n1,"x\ny"\n2,y\n3,"""a\n1,x"\n"read":4,"printed":3,"dropped":1\n"several_lines":3,"several_lines_first":2,\n|1 2 3
END
    # what comes after the last row wanted is left, where the input can be sought in
    { exits 0 unseen --csv -f id -m 1 -p 1e-9; cat >rest; } <a.csv
    prints 'id,n\n1,"x\ny"\n'
    printf '2,y\n1,"z\n\n"\n3,"""a\n1,x"\n' | cmp - rest
    # a header line of several lines, and a name that has them
    printf '"i\nd","a ""b"""\n1,"x\ny"\n2,z\n"i\nd","a ""b"""\n2,w\n' >head.csv
    runs --csv -f $'"i\nd"' <<'END'
0|f.bf head.csv|"i\nd","a ""b"""\n1,"x\ny"\n2,z\n|
0|f.bf head.csv -x cat|"i\nd","a ""b"""\n1,"x\ny"\n2,z\n|
END
    runs --csv -f 1 <<'END'
0|--header --tag f.bf head.csv|"i\nd","a ""b"""\nnew\t1,"x\ny"\nnew\t2,z\n"i\nd","a ""b"""\nseen\t2,w\n|1 2
0|key --header --csv -f 'a "b"' head.csv|"x\\ny"\nz\nw\n|
0|-m 0 --header f.bf head.csv||
END
}

@test "-x: CMD that reads all there is, nothing, or a part of a row longer than its pipe; what it has not taken comes again" {
    local rows bytes length command
    # rows of 10 bytes, in one write
    printf '%s,"a\nbcd"\n' {1..9} >in
    while IFS='|' read -r rows command; do
        exits 0 unseen create --force -p 1e-9 --csv -f 1 f.bf
        exits 0 unseen f.bf in -x $command </dev/null
        exits 0 unseen f.bf in -x sh -c 'cat >rest'
        touch rest
        cmp rest <(tail -c +$((rows * 10 + 1)) in) || { echo "$command"; return 1; }
        rm rest
    done <<<$'9|true\n9|cat\n9|head -n 1\n0|head -c 9\n1|head -c 10\n4|head -c 49'
    for length in 5000 1000000; do
        { printf '1,"'; head -c "$length" /dev/zero | tr '\0' '\n'; printf '"\n2,"x\n"\n3,z\n'; } >in
        while read -r rows bytes; do
            exits 0 unseen create --force -p 1e-9 --csv -f 1 f.bf
            exits 0 unseen f.bf in -x head -c $((length + bytes))
            remembers "$rows" || { echo "$length: $rows|$bytes"; return 1; }
        done <<<$'0 4\n1 5\n1 11\n2 12\n2 15\n3 16'
    done
}

@test "a row that is an error: what came before is printed and remembered, the next FILE goes on" {
    local end='quoted field is not closed' after='bytes follow the closing quote' options
    printf 'id,n\n1,x\n2,y\n1,"z\n"\n' >a.csv
    printf 'id,n\n1,x\n3,"y\n"\n4,"q\n5,z\n' >open.csv
    printf 'id,n\n"6"7,x\n' >after.csv
    printf 'id,n\n1,x\n3,"y\n4,z\n5,"w"\n6,v\n' >stray.csv
    printf 'id,"n\n1,x\n' >head.csv
    printf 'id,n\n1,x\n3, "a,c"\n4,w\n' >blanks.csv
    printf 'id,n\n1,x\n3, "a"\n4, "b" or "c,\n5,5" disk\n6,\t"c" d\n' >bytes.csv
    printf 'id,n\n1,x\n4, "b\n5,"c"\n' >blanks2.csv
    printf 'id,n\r1,x\r' >cr.csv
    printf '\r1\r\n1,x\n' >cr2.csv
    runs --csv -f id <<END
2|f.bf open.csv a.csv|id,n\n1,x\n3,"y\n"\n2,y\n|1 2 3|open.csv: line 5: $end
2|f.bf after.csv a.csv|id,n\n1,x\n2,y\n|1 2|after.csv: line 2: $after
2|f.bf stray.csv a.csv|id,n\n1,x\n2,y\n|1 2|stray.csv: line 3: $after
2|f.bf head.csv a.csv|id,n\n1,x\n2,y\n|1 2|head.csv: line 1: $end
2|f.bf blanks.csv a.csv|id,n\n1,x\n2,y\n|1 2|blanks.csv: line 3: *--trim
2|f.bf blanks2.csv a.csv|id,n\n1,x\n2,y\n|1 2|blanks2.csv: line 3: *--trim
0|f.bf bytes.csv|id,n\n1,x\n3, "a"\n4, "b" or "c,\n5,5" disk\n6,\t"c" d\n|1 3 4 5 6
2|f.bf cr.csv a.csv|id,n\n1,x\n2,y\n|1 2|cr.csv: line 1: lines end with CR (tr '\\\\r' '\\\\n' <cr.csv
2|f.bf <(cat open.csv) - a.csv <cr.csv 2>got; also <(grep -c 'CR (tr' got)|id,n\n1,x\n3,"y\n"\n2,y\n1\n|1 2 3
2|--csv -f 1 --header -p 1e-9 <head.csv|||standard input: line 1: $end
2|--csv -f 1 -p 1e-9 <cr2.csv|||standard input: line 1: lines end with CR (tr '\\\\r' '\\\\n'
2|--csv -f 1 -z -p 1e-9 < <(printf '1,"a\nb"\0002,"a\0b"\0')|1,"a\nb"\x00||standard input: line 2: $end
2|--csv --trim -f 1 -p 1e-9 < <(printf '3, "a,c"\r\n7, "hello" he said\n')|3, "a,c"\r\n||standard input: line 2: $after
0|--csv -f 1 -p 1e-9 < <(printf '1,"a\r\nb"\r')|1,"a\r\nb"\r\n|
0|--csv -f 1 -p 1e-9 < <(printf '1,"x"\r\r\n2\r,"x\n"\n3\r3\n2\r,')|1,"x"\r\r\n2\r,"x\n"\n3\r3\n|
2|--csv -f 1 -p 1e-9 < <(printf '1,x\n2,y""\n3,"""\n""')|1,x\n2,y""\n||standard input: line 3: $end
2|--csv -f 1 -p 1e-9 < <(printf '1,x\n3,"y" \n')|1,x\n||standard input: line 2: $after
2|--tag f.bf open.csv a.csv|id,n\nnew\t1,x\nnew\t3,"y\n"\nseen\t1,x\nnew\t2,y\nseen\t1,"z\n"\n|1 2 3|open.csv: line 5: $end
2|-a new f.bf open.csv a.csv; also new|id,n\n1,x\n3,"y\n"\n2,y\n|1 2 3|open.csv: line 5: $end
2|add f.bf open.csv a.csv||1 2 3|open.csv: line 5: $end
2|add f.bf a.csv; unseen query f.bf open.csv a.csv|id,n\n1,x\n1,x\n2,y\n1,"z\n"\n|1 2|open.csv: line 5: $end
2|push f.bf open.csv a.csv 2>got; also <(unseen pop -m 9 f.bf; grep -c 'open.csv: line 5: $end' got)|1,x\n2,y\n1\n|1 2
2|f.bf open.csv a.csv -x cat|id,n\n1,x\n3,"y\n"\n2,y\n|1 2 3|open.csv: line 5: $end
3|f.bf open.csv a.csv -x sh -c 'cat; exit 1'|id,n\n1,x\n3,"y\n"\n2,y\n||open.csv: line 5: $end|sh: exited with 1
2|f.bf head.csv -x touch started; also <(echo start*)|start*\n||head.csv: line 1: $end
2|key --csv -f id open.csv a.csv|1\n3\n1\n2\n1\n||open.csv: line 5: $end
2|plan --json --csv -f id open.csv a.csv >got; also <(cut -d , -f 1,2 got)|{"read":5,"distinct":3\n||open.csv: line 5: $end
2|shard 1/1 --csv -f id open.csv a.csv|id,n\n1,x\n3,"y\n"\n||open.csv: line 5: $end
2|shard 1 --csv -f id blanks.csv a.csv|id,n\n1\t1,x\n||blanks.csv: line 3: *--trim
2|shard 2 --files s.%d --csv -f id open.csv a.csv; also <(echo s.*)|s.*\n||open.csv: line 5: $end|s.%d: no shards were kept
2|--pending keys f.bf open.csv; also <(echo key*)|id,n\n1,x\n3,"y\n"\nkey*\n||open.csv: line 5: $end
0|--pending keys f.bf open.csv; unseen --pending keys f.bf a.csv && unseen commit f.bf keys|id,n\n1,x\n3,"y\n"\nid,n\n1,x\n2,y\n|1 2|open.csv: line 5: $end
END
    # as late as in the second thread
    awk 'BEGIN { print "id,n"; for (i = 1; i < 60000; i++) print i ",\"http://example.org/page" (i % 2 ? "\n" : "/") i "\"" }' >large
    { cat large; echo '0,"'; seq 60000 61000; } >b.csv
    for options in '-j 1' '-j 2'; do
        exits 0 unseen create --force --csv -f id -p 1e-9 f.bf
        exits 2 to got unseen $options f.bf b.csv <(printf 'id,n\n60000,\n')
        says "^unseen: b\.csv: line 90001: $end"
        cmp got <(cat large; echo 60000,)
        succeeds unseen query -c f.bf large
        prints '59999\n'
        exits 1 unseen query -c f.bf <(echo id,n; seq -f %g, 60001 61000)
    done
}

@test "a row is whole wherever a read, a vector or a batch ends, and comes out as soon as its newline has come" {
    local base n form c rest=$'1,"a\n""b"\n1,"""c"\n2,"\n\n"""\n2,\n'
    for base in 1 262070 524220; do
        for ((n = base; n < base + 75; n++)); do
            printf '0,"%0*d\n"\n%s' "$n" 0 "$rest" >in
            "$UNSEEN" --csv -f 1 -p 1e-9 <in | tail -c +$((n + 4)) | cmp - <(printf '\n"\n1,"a\n""b"\n2,"\n\n"""\n') ||
                complain "a first row of $n bytes"
        done
    done
    # as many rows as a batch has, or two, and the beginning of another
    for n in 2047 2048 4096 4097; do
        { seq "$n" && printf '"a\n%0300000d"\nz\n' 0; } >in
        "$UNSEEN" --csv -p 1e-9 <in | cmp - in || complain "$n rows, and one more"
    done
    # 40,000 rows of all lengths; \1 is a newline
    awk 'BEGIN {
        x = 7
        split("a|,|\1|\"\"|\1\1b\"\"|12345678901234567890123456789012345678901234567890|\r\1", piece, "|")
        for (i = 0; i < 40000; i++) {
            x = x * 16807 % 2147483647
            printf "%d,\"", x % 17000
            for (n = x % 11; n; n--) printf piece[1 + (x + n * 5) % 7]
            print "\",\"\1\"," i
        }
    }' >flat
    tr '\1' '\n' <flat >in
    awk -F, '!seen[$1]++' flat | tr '\1' '\n' >wanted
    for form in '-j 1' '-j 2' '-j 1 f.bf -' '-j 2 f.bf in' '--durable f.bf in' '-j 2 f.bf in -x cat'; do
        exits 0 unseen create --force --csv -f 1 -p 1e-9 f.bf
        [[ $form != '-j '? ]] || form+=' --csv -f 1 -p 1e-9'
        exits 0 unseen $form < <(cat in)
        same "$out" wanted || complain "$form"
    done
    for form in 1 2; do
        { unseen -j "$form" --csv -p 1e-12 -m 29000 && cat; } <in | cmp - in
    done
    cmp <(dd bs=1 count=3000 status=none <in | "$UNSEEN" --csv -f 2- -p 1e-9 2>&1) \
        <(head -c 3000 in | "$UNSEEN" --csv -f 2- -p 1e-9 2>&1)
    converse "$UNSEEN" --csv -f 1 -p 1e-9
    for n in 1 2; do
        for c in $'\xef' $'\xbb' $'\xbf' '"' $'\n' "$n" '"' ',' '"' $'\n' ',' '"' '"' '"'; do
            printf %s "$c" >&"$ask"
            asleep "$pid"
            if read -r -t 0 -u "$answer"; then complain "printed at $c"; fi
        done
        say ,x
        hear $'\xef\xbb\xbf"'
        hear "$n\",\""
        hear ',""",x'
    done
    farewell
}

@test "long rows, and rows made to break it: a key or an error, in little memory" {
    need_memory_figures
    local fill j
    # a quote that opens 50 MB: of lines, of no lines, of quotes
    for fill in "yes ''" "yes y,z" "yes '\"\"'" "tr '\0' x </dev/zero"; do
        for j in 1 2; do
            { printf '1,"x\n"\n2,"'; eval "$fill" | head -c 50000000; } |
                { peak_of sh -c '"$UNSEEN" -j "$1" --csv -f 1 -p 1e-9; echo $? >code' sh "$j" >got 2>said; [[ $peak -lt 40000 ]]; }
            [[ $(cat code) -eq 2 ]]
            same got <(printf '1,"x\n"\n')
            grep -q '^unseen: standard input: line 3: .*longer than 16777216 bytes' said
        done
    done
    quotes() { head -c "$1" /dev/zero | tr '\0' '"'; }
    { printf 1,; quotes 1000000; printf '\n2,'; quotes 999999; } | exits 2 unseen key --csv -f 2
    cmp "$out" <(quotes 499999; echo)
    says 'standard input: line 2: quoted field is not closed'
    yes '"' | head -n 1000000 | exits 0 unseen --csv -p 1e-9
    prints '"\n"\n'
    { printf x; head -c 1000000 /dev/zero | tr '\0' ,; echo; } >row
    for fill in '-f 1-' ''; do
        succeeds unseen key --csv $fill row
        cmp "$out" row
    done
    succeeds unseen key --tag --csv -f 2- row
    cmp "$out" <(printf 'none\t'; cat row)
    # a long header line is not read again for each row that begins like it, which would take an hour
    { printf id; head -c 8000000 /dev/zero | tr '\0' '\r'; echo; seq -f id%.0f 1000000; } >row
    exits 0 unseen --csv --header -f 1 -p 1e-12 <row
    cmp "$out" row
    # nor is more asked of each row than there are numbers of columns
    { seq -s , 70000 && echo 7; } | exits 2 unseen --csv -f '!"7"'
    says 'leaves 69999 columns, more than 65535'
    # rows of 1 MB, of lines and of quotes, twice
    for fill in "yes ''" "yes y,z" "yes '\"\"'" "tr '\0' x </dev/zero"; do
        { printf '1,"'; eval "$fill" | head -c 1048572; echo '"'; } >row
        exits 0 unseen --csv -f 2 -p 1e-9 < <(cat row row row)
        cmp "$out" row
    done
}
