#!/usr/bin/env bash
# Subject: Gson 2.15.0 (Maven), its tree of JsonElement
# Question: does equals() tell the parsed numbers 9007199254740993 and 9007199254740992 apart?
# One would guess: yes. The tree keeps every digit: both print as they were read.
# What happens: they are equal, and so are their hashes. A number from a parser is compared as a
#     double. An object {"id":...} inherits that, so of two such ids a HashSet keeps one.
# Why it matters: ids of 64 bits (Twitter, Discord, snowflakes) are all beyond 2^53. A set of parsed
#     lines loses neighbours, and since what is left prints right, it looks like deduplication.
set -euo pipefail

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
mvn -q -B dependency:copy -Dartifact=com.google.code.gson:gson:2.15.0 \
    -DoutputDirectory="$here" >"$here/log" 2>&1 || { cat "$here/log" >&2; exit 1; }

# shows WHAT GOT EXPECTED
shows() {
    printf '%s: %s\n' "$1" "$2"
    [[ $2 == "$3" ]] || { echo "not as described above, which says: $3" >&2; exit 1; }
}

cat >"$here/Ids.java" <<'JAVA'
import com.google.gson.*;
import java.util.*;

public class Ids {
    public static void main(String[] args) {
        Set<JsonElement> set = new LinkedHashSet<>();
        for (String id : args) set.add(JsonParser.parseString("{\"id\":" + id + "}"));
        System.out.println(set);
    }
}
JAVA
find "$here" -name '*.jar' -printf '%f\n'
java -version 2>&1 | sed -n 1p
set_of() { java -cp "$here/gson-2.15.0.jar" "$here/Ids.java" "$@"; }
shows "set of 9007199254740993 and 9007199254740992" \
    "$(set_of 9007199254740993 9007199254740992)" '[{"id":9007199254740993}]'
shows "set of 1 and 2" "$(set_of 1 2)" '[{"id":1}, {"id":2}]'
