#!/usr/bin/env bash
# Subject: MariaDB 10.11.18 (Debian 12: 1:10.11.18-0+deb12u1), SELECT ... INTO OUTFILE
# Question: ENCLOSED BY '"' puts fields in quotes, and a backslash before each quote in them. The
#     usual advice for CSV is ESCAPED BY '"', which doubles them. Is the file CSV then?
# One would guess: yes, but for NULL, which becomes "N: within quotes, a newline needs no escape.
# What happens: a newline gets the escape character, too, which is a quote now. The field ends
#     there, and so does the row; the rest of the text is a row of its own. With ESCAPED BY '',
#     neither quotes nor newlines are escaped. Only what the default writes can be turned into CSV,
#     by sed.
# Why it matters: the first half is a whole row to every parser, even a strict one. The rest becomes
#     rows of their own, and no message says so: what is compared, and counted, is no row.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"
version=1:10.11.18-0+deb12u1
{ apt-get download -qq "mariadb-server-core=$version" libaio1 liburing2 2>/dev/null &&
    for package in ./*.deb; do dpkg -x "$package" . || exit; done; } ||
    { echo "skipped: no MariaDB $version from Debian here"; exit 77; }
LD_LIBRARY_PATH=$(dirname usr/lib/*/liburing.so.2):$(dirname lib/*/libaio.so.1)
export LD_LIBRARY_PATH

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

# written VALUES OPTION...: what is written of one row, its newlines as |.
written() {
    rm -rf data file.csv
    mkdir data
    echo "SELECT $1 INTO OUTFILE '$here/file.csv'" \
        "FIELDS TERMINATED BY ',' ENCLOSED BY '\"' ${*:2};" |
        usr/sbin/mariadbd --no-defaults --bootstrap --skip-grant-tables --user="$(id -un)" \
            --datadir="$here/data" --lc-messages-dir="$here/usr/share/mysql/english" \
            --character-sets-dir="$here/usr/share/mysql/charsets" >log 2>&1
    tr '\n' '|' <file.csv
}

usr/sbin/mariadbd --no-defaults --version
row="7, 'say \"hi\"\\nto all', 9"
shows "the default" "$(written "$row")" '"7","say \"hi\"\|to all","9"|'
shows "ESCAPED BY '\"'" "$(written "$row" "ESCAPED BY '\"'")" '"7","say ""hi"""|to all","9"|'
shows "  as Python reads it, strictly" "$(python3 -c 'import csv
print(list(csv.reader(open("file.csv", newline=""), strict=True)))')" \
    "[['7', 'say \"hi\"'], ['to all\"', '9']]"
shows "  NULL" "$(written "7, NULL, 9" "ESCAPED BY '\"'")" '"7","N,"9"|'
shows "ESCAPED BY ''" "$(written "$row" "ESCAPED BY ''")" '"7","say "hi"|to all","9"|'
