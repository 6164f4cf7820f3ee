# The examples of the manual's pages, as files; tests/examples.bats says how a page marks them.

# shellcheck shell=bash

# page_examples PAGE DIRECTORY: each example to DIRECTORY/01, 02, ..., where it stands to 01.line; a
# block that is a file, to DIRECTORY/NAME.
page_examples() {
    mkdir -p "$2"
    awk -v to="$2" '
        /^\.\\" shown: / { shown = 1; next }
        /^\.\\" needs: / { shown = system("command -v " $3 " >/dev/null") != 0; next }
        /^\.\\" file: / { name = $3; next }
        /^\.\\" with: / { before = before "cp \047" to "/" $3 "\047 .\n"; next }
        /^\.\\" before: / { before = before substr($0, length(".\\\" before: ") + 1) "\n"; next }
        /^\.Bd -literal/ && !shown {
            file = name != "" ? to "/" name : sprintf("%s/%02d", to, ++count)
            printf "%s", before >file
            print FILENAME ":" FNR >(file ".line")
            next
        }
        /^\.Ed/ { file = "" }
        { before = name = ""; shown = 0 }
        file != "" {
            rest = $0
            gsub(/\\(&|-|e|\((dq|aq|ti|ha|ga|rs))/, "", rest)
            if ($0 ~ /^[.\047]/ || rest ~ /\\/) {
                print FILENAME ":" FNR ": a macro or an escape inside an example: " $0
                exit 1
            }
            gsub(/\\&/, "")
            gsub(/\\-/, "-")
            gsub(/\\\(dq/, "\"")
            gsub(/\\\(aq/, "\047")
            gsub(/\\\(ti/, "~")
            gsub(/\\\(ha/, "^")
            gsub(/\\\(ga/, "`")
            gsub(/\\(\(rs|e)/, "\\")
            print >file
        }' "$1"
}
