#!/bin/sh
# Prints the name of every shell script of the project, bats files among them, one a line: by the
# first line, since most have no suffix, or by a suffix for those that are only sourced.
find src tests .ci -type f -size -400k | LC_ALL=C sort | while IFS= read -r file; do
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
