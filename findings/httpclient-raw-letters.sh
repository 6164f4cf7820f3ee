#!/usr/bin/env bash
# Subject: Apache HttpClient 4.5.14 (Maven), URLEncodedUtils.parse(text, UTF_8)
# Question: what does it make of letters that are not escaped (links have them): ?q=é, ?q=中?
# One would guess: they are kept, so that format() writes %C3%A9 and %E4%B8%AD, as for escaped ones.
# What happens: each letter beyond U+007F is cut to its lowest 8 bits, and the bytes are read as
#     UTF-8. So q=é and q=è are both q=%EF%BF%BD (U+FFFD), and q=中, which is U+4E2D, is q=- (0x2D).
# Why it matters: who sorts parameters with it, or leaves some out (StormCrawler 3.4.0 does in new
#     projects), gives different pages one URL. The one that is then fetched is another's, or none.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
for jar in httpclient:4.5.14 httpcore:4.4.16; do
    mvn -q -B dependency:copy -Dartifact="org.apache.httpcomponents:$jar" \
        -DoutputDirectory="$here" >"$here/log" 2>&1 ||
        { cat "$here/log" >&2; exit 1; }
done

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

cat >"$here/Query.java" <<'JAVA'
import static java.nio.charset.StandardCharsets.UTF_8;
import org.apache.http.client.utils.URLEncodedUtils;

public class Query {
    public static void main(String[] arguments) {
        String letter = Character.toString(Integer.parseInt(arguments[0], 16));
        if (arguments.length > 1) letter = java.net.URLEncoder.encode(letter, UTF_8);
        var parameters = URLEncodedUtils.parse("q=" + letter, UTF_8);
        System.out.println(URLEncodedUtils.format(parameters, UTF_8));
    }
}
JAVA
find "$here" -name '*.jar' -printf '%f\n' | sort
java -version 2>&1 | sed -n 1p
jars=$here/httpclient-4.5.14.jar:$here/httpcore-4.4.16.jar
query() { java -cp "$jars" "$here/Query.java" "$@"; }
shows "q=é, as %C3%A9" "$(query e9 escaped)" 'q=%C3%A9'
shows "q=é, as it is" "$(query e9)" 'q=%EF%BF%BD'
shows "q=è, as it is" "$(query e8)" 'q=%EF%BF%BD'
shows "q=中, as it is" "$(query 4e2d)" 'q=-'
