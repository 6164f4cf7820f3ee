#!/usr/bin/env bats
# A large stage, before a layer larger than a tenth of memory is likely to be: 10^8 lines through it. (Kills and
# signals while one fills and is emptied: stage.bats.)

load ../helper
load ../crash

with_stages

# How often the stage of layer 1 of f.bf got room and was emptied, twice for both.
era() { od -An -v -tu8 -j 9224 -N 8 f.bf | tr -d ' '; }

@test "10^8 lines and their repeats: each once, with one thread and two, in one run and in ten" {
    local lines distinct threads piece
    lines=$(scaled 130000000)
    distinct=$(scaled 100000000)
    "$tools/genlines" "$lines" "$distinct" 17 24 32 | split -d -l $(((lines + 9) / 10)) - piece.
    for threads in 1 2; do
        exits 0 unseen create --force -p 1e-12 -n "$distinct" f.bf
        "$UNSEEN" "-j$threads" f.bf piece.?? >all
        exits 0 unseen create --force -p 1e-12 -n "$distinct" g.bf
        for piece in piece.??; do
            "$UNSEEN" "-j$threads" g.bf <"$piece"
        done | same all -
        [[ $(wc -l <all) -eq $distinct && $(era) -gt 1 ]]
        exits 0 unseen verify f.bf g.bf
    done
}
