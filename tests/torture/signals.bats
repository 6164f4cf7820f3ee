#!/usr/bin/env bats
# Signals to writers at every moment of their work.

load ../helper
load ../crash

# signalled RUN: some writers over ./in, of which the first is sent a signal, or two, in the midst of its
# work; then all is run again. Adds to `hits`, `forgotten` and `again`.
signalled() {
    local i to signals pids=() moment status=0 writers=$(($1 / 3 % 8 + 1))
    local kinds=('' --durable push) sizes=('' '-n 500') ends=(:2 :15 :1 :15:15 :2:15 :1:1)
    local kind=${kinds[$1 % 3]} size=${sizes[$1 / 144 % 2]}
    signals=${ends[$1 / 24 % 6]}
    rm -rf f.bf* out.* err.*
    exits 0 unseen create -p 1e-9 $size f.bf
    # What push puts into the queue is in this file.
    [[ $kind != push ]] || exits 0 unseen push f.bf < <(head -n 1 in)
    for ((i = 0; i < writers; i++)); do
        moment $(($(bytes_of in) / writers))
        [[ $i -eq 0 ]] || moment=(0 600000000)
        to=out.$i
        [[ $kind != push ]] || to=f.bf.queue/0000000001
        env --default-signal=HUP,INT,TERM "$tools/killed" "${moment[0]}" "${moment[1]}$signals" \
            "$UNSEEN" ${kind:+"$kind"} f.bf in >>"$to" 2>"err.$i" 3>&- &
        pids+=($!)
    done
    for i in "${!pids[@]}"; do
        status=0
        wait "${pids[i]}" || status=$?
        [[ $status -eq 0 || ($i -eq 0 && $status -gt 128 && $status -lt 144) ]] ||
            { echo "writer $i: exit code $status"; cat "err.$i"; return 1; }
        [[ $status -eq 0 ]] || hits=$((hits + 1))
    done
    [[ $kind != push ]] || unseen pop f.bf -m 100000 >out.0
    whole out.* >printed
    forgotten=$((forgotten + $(unseen query -vc f.bf printed || true)))
    unseen ${kind/--durable/} f.bf in >>printed 2>err.again
    [[ $kind != push ]] || unseen pop f.bf -m 100000 >>printed || true
    again=$((again + $(sort printed | uniq -d | wc -l)))
    none_lost in printed
}

@test "2000 signals to one of 1 to 8 writers, plain, --durable and push: 0 lines forgotten, 0 come again" {
    need_signals
    local run hits=0 forgotten=0 again=0 wanted
    wanted=$(scaled 2000)
    input 6000 >in
    for ((run = 0; hits < wanted; run++)); do
        signalled $run || { echo "run $run"; false; }
    done
    echo "$hits of $run runs were ended by a signal: $forgotten lines forgotten, $again came again"
    [[ $forgotten -eq 0 && $again -eq 0 ]]
}
