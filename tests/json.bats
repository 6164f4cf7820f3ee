#!/usr/bin/env bats
# JSON: one object a line, with these members in this order, and one name for one thing.

load helper

# shapes FILE: what each line of FILE is, as {name:type ...}.
shapes() {
    python3 - "$1" <<'END'
import json, sys
KINDS = {str: "string", bool: "flag", int: "number", float: "number", type(None): "null"}
def members(pairs):
    names = [name for name, _ in pairs]
    assert len(set(names)) == len(names), names
    return "{" + " ".join(name + ":" + value for name, value in pairs) + "}"
def shape(value):
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return members([(name, shape(inner)) for name, inner in value])
    if isinstance(value, list):
        return "[" + "|".join(sorted({shape(inner) for inner in value})) + "]"
    return KINDS[type(value)]
def refuse(constant):
    raise ValueError(constant)
for line in open(sys.argv[1], encoding="utf-8"):
    value = json.loads(line, object_pairs_hook=list, parse_constant=refuse)
    assert line.startswith("{") and line.endswith("}\n"), line
    print(shape(value))
END
}

# is_shaped: each line of ./said is JSON, and of the shape in the same line of ./wanted.
is_shaped() {
    need python3
    shapes said >got
    diff wanted got
}

filter='filter:string lines:number capacity:number layer_count:number fixed:flag counting:flag'
now='rate:number false_positive_rate:number fill:number fuller_pages:number emptier_pages:number lines_left:number'
size='size_bytes:number size_bytes_staged:number bits_per_key:number'
layer='lines:number capacity:number pages:number cache_lines:number hashes:number fill:number rate:number false_positive_rate:number'
state="$layer state:string"
began="$state generation:number began:number"
hash='hash:string seed:number secret:null created:number uuid:string'

@test "stats: every kind of filter" {
    local options shape input n=0
    seq 300 >in
    seq 300000 >many
    seq 300 | sed 's,.*,http://a/& &,' >>in
    # What makes it, and then its shape.
    while IFS='|' read -r options shape; do
        n=$((n + 1))
        input=in
        [[ $options != create* ]] || input=
        [[ $options != *0.5 ]] || input=many
        exits 0 unseen $options $n.bf $input
        echo "{$shape}" >>wanted
    done <<END
add --create|$filter $now $size key:null $hash layers:[{$layer}]
add --create -n 100|$filter $now $size key:null $hash layers:[{$layer}]
add --create --fixed -n 100|$filter $now $size key:null $hash layers:[{$layer}]
add --create --counting|$filter $now $size key:null $hash layers:[{$layer}]
add --create --seed 18446744073709551615|$filter $now $size key:null $hash layers:[{$layer}]
add --create --secret|$filter $now $size key:null ${hash/seed:number secret:null/seed:null secret:string} layers:[{$layer}]
add --create --by url|$filter $now $size key:{trim:flag by:string ignore_case:flag} $hash layers:[{$layer}]
add --create --trim -f 2 -t / -i|$filter $now $size key:{trim:flag fields:string separator:string by:string ignore_case:flag} $hash layers:[{$layer}]
create --csv|$filter $now $size key:{trim:flag format:string separator:string by:string ignore_case:flag} $hash layers:[{$layer}]
create -i --without a --without b|$filter $now $size key:{trim:flag by:string ignore_case:flag without:[string]} $hash layers:[{$layer}]
create --jsonl -f id|$filter $now $size key:{trim:flag format:string fields:string by:string ignore_case:flag} $hash layers:[{$layer}]
push --create|$filter $now $size key:null $hash waiting:number held:number given_up:number layers:[{$layer}]
add --create --window 100|$filter window:number forgotten_next:{lines:number after:number} $now $size key:null $hash layers:[{$began}]
add --create --window 10k|$filter window:number forgotten_next:{lines:number after:number} $now $size key:null $hash layers:[{$began}|{$state}]
add --create --forget-after 7d|$filter forget_after:number forgotten_next:{lines:number time:number} $now $size key:null $hash layers:[{$began}|{$state}]
add --create --fixed -n 9 -p 0.5|${filter/lines:number/lines:null lines_at_least:number} $now $size key:null $hash layers:[{${layer/lines:number/lines:null lines_at_least:number}}]
create --shard 1/4 --window 9|$filter window:number forgotten_next:null $now $size key:null shard:string $hash layers:[{$state}]
END
    succeeds unseen stats --json {1..17}.bf
    cp "$out" said
    is_shaped
}

keyless='without_key:number without_key_first:null not_json:number not_json_first:null'
plan="capacity:number false_positive_rate:number rate:number $size hashes:number cache_lines:number pages:number fixed:flag counting:flag classic_rate:number curve:[{lines:number rate:number}]"

@test "plan: for a number of lines, and for those of a file" {
    local options shape
    printf '%s a\n' {1..9} >in
    while IFS='|' read -r options shape; do
        succeeds unseen plan --json $options
        cat "$out" >>said
        echo "{$shape}" >>wanted
    done <<END
-n 1M|$plan
-n 1 -p 0.5 --fixed|$plan
-n 1e12 -p 1e-12|$plan
--window 1000|$plan
--forget-after 7d -n 1M|$plan
in|read:number distinct:number bytes_per_line:number $plan command:string
-f 2 in|read:number distinct:number bytes_per_line:number $keyless $plan command:string
END
    is_shaped
}

drops='false_drops:number rate:number'
rows="$keyless several_lines:number several_lines_first:null headers_again:number"

@test "--summary: of every command that has one" {
    local options shape
    seq 9 >in
    exits 0 unseen create --counting c.bf
    exits 0 unseen create q.bf
    exits 0 unseen create f.bf
    while IFS='|' read -r options shape; do
        capture unseen --summary --json $options <in
        [[ $code -le 1 ]] || complain "$options"
        cat "$err" >>said
        echo "{$shape}" >>wanted
    done <<END
-p 1e-9|filter:null read:number printed:number dropped:number $rows $drops
f.bf in|filter:string read:number printed:number dropped:number $rows $drops
--pending keys f.bf in|filter:string read:number printed:number dropped:number $rows $drops
add c.bf|filter:string read:number new:number seen:number $rows $drops
push q.bf|filter:string read:number new:number seen:number $rows $drops
pop q.bf -m 9|filter:string popped:number put_back:number given_up:number
remove c.bf|filter:string read:number removed:number absent:number ambiguous:number $rows
commit f.bf keys|filter:string new:number
merge -o m.bf f.bf q.bf|filter:string layer_count:number rate:number false_positive_rate:number
verify f.bf|filter:string notes:number
shard 1/4|shard:string read:number printed:number $rows
shard 4|shard:string read:number $rows
END
    is_shaped
}

# Of all that the tests above want.
@test "no name has two types, and the manual lists each" {
    local name
    grep -oE '\b[a-z_]+:(string|number|flag|[{[])' "$repository/tests/json.bats" | sort -u | tr : ' ' >types
    [[ $(wc -l <types) -gt 50 ]]
    cut -d ' ' -f 1 types | uniq -d | diff /dev/null -
    while read -r name _; do
        grep -Eq "^\.It( Li [a-z_]+ ,)* Li $name( |$)" "$repository/man/unseen.5" || complain "not in the manual: $name"
    done <types
}

# A name, and how JSON has it.
names_in_json=(
    $'\xc3\xbcber \xe2\x86\x92 \xf0\x9f\x98\x80' $'\xc3\xbcber \xe2\x86\x92 \xf0\x9f\x98\x80'
    $'a"b\\c\td\x01\x7f' 'a\"b\\c\u0009d\u0001\u007f'
    $'next\xc2\x85line\xc2\xa0' $'next\\u0085line\xc2\xa0'
    # neither a character, nor one that is cut off, too long for what it says, or a half
    $'\xff\xfe' '\\xff\\xfe'
    $'\xe2\x82' '\\xe2\\x82'
    $'\xc0\xaf\xe0\x80\xaf' '\\xc0\\xaf\\xe0\\x80\\xaf'
    $'\xed\xa0\x80' '\\xed\\xa0\\x80'
    $'\xf4\x90\x80\x80' '\\xf4\\x90\\x80\\x80'
)

@test "--json: names are UTF-8, and what is none is shown as \\xHH" {
    need python3
    local i
    for ((i = 0; i < ${#names_in_json[@]}; i += 2)); do
        exits 0 unseen create "./${names_in_json[i]}"
        succeeds unseen stats --json "./${names_in_json[i]}"
        cat "$out" >>said
        exits 0 unseen --summary --json "./${names_in_json[i]}"
        cat "$err" >>said
        [[ $(LC_ALL=C grep -acF "{\"filter\":\"./${names_in_json[i + 1]}\"," said) -eq 2 ]] || complain "not ${names_in_json[i + 1]}"
    done
    shapes said
}
