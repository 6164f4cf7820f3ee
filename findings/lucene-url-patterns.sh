#!/usr/bin/env bash
# Subject: Lucene 9.12.3, RegExp (the `regexp` query of Elasticsearch and OpenSearch), and the
#     library it came from, dk.brics.automaton 1.12-4 (Maven)
# Question: does the pattern `http://a/\?b=1&c=2` match that URL, as nothing but `.` and `?` is
#     special in it?
# One would guess: yes. `&`, `#`, `@` and `~` are letters like others in every regular expression.
# What happens: no, and nothing is raised. `&` asks for text that matches both sides, and nothing is
#     both a URL and `c=2`; `#` is the pattern that matches no text at all; `@` is any text, and
#     `~x` is all that is not x. Within [] they are letters; elsewhere each needs a backslash.
# Why it matters: URLs and addresses are made of these. A list of URL patterns to leave out leaves
#     nothing out, or, with a `~` or an `@`, more than it says, and nothing tells of it.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
type mvn java >/dev/null 2>&1 || { echo "skipped: no mvn and java here"; exit 77; }
for jar in org.apache.lucene:lucene-core:9.12.3 dk.brics:automaton:1.12-4; do
    mvn -q -B dependency:copy -Dartifact="$jar" -DoutputDirectory="$here" >"$here/log" 2>&1 ||
        { cat "$here/log" >&2; exit 1; }
done

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

cat >"$here/Matches.java" <<'JAVA'
import org.apache.lucene.util.automaton.CharacterRunAutomaton;
import org.apache.lucene.util.automaton.Operations;
import org.apache.lucene.util.automaton.RegExp;

public class Matches {
    public static void main(String[] arguments) {
        String pattern = arguments[0], text = arguments[1];
        var automaton = Operations.determinize(new RegExp(pattern).toAutomaton(), 10_000);
        System.out.println("java " + text.matches(pattern)
            + ", lucene " + new CharacterRunAutomaton(automaton).run(text)
            + ", brics " + new dk.brics.automaton.RegExp(pattern).toAutomaton().run(text));
    }
}
JAVA
find "$here" -name '*.jar' -printf '%f\n' | sort
java -version 2>&1 | sed -n 1p
jars=$here/lucene-core-9.12.3.jar:$here/automaton-1.12-4.jar
try() { shows "$1 on $2" "$(java -cp "$jars" "$here/Matches.java" "$1" "$2")" "$3"; }
try 'http://a/\?b=1&c=2' 'http://a/?b=1&c=2' 'java true, lucene false, brics false'
try '.*[?&]utm_source=[^&]*&.*' '/?utm_source=x&b=2' 'java true, lucene false, brics false'
try '.*[?&]utm_source=[^&]*\&.*' '/?utm_source=x&b=2' 'java true, lucene true, brics true'
try 'http://a/#.*' 'http://a/#top' 'java true, lucene false, brics false'
try 'bob@a\.example' 'bob at a.example' 'java false, lucene true, brics true'
try '/~[a-z]+/.*' '/images/x' 'java false, lucene true, brics true'
