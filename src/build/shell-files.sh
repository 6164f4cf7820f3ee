#!/bin/sh
# Prints the name of every shell script of the project, bats files included, one per line. They are
# recognized by their first line, because most have no suffix; files that are only sourced have one.
find src tests .ci findings -type f -size -400k 2>/dev/null | LC_ALL=C sort | while IFS= read -r file; do
    case $file in
    *.sh | *.bash | *.bats) echo "$file" ;;
    *)
        IFS= read -r first <"$file" 2>/dev/null
        case $first in
        '#!'*sh | '#!'*'sh '* | '#!'*bats) echo "$file" ;;
        esac
        ;;
    esac
done
