# Hosts that can be unplugged, for the tests of engines. Load it after helper.bash and engines.bash.
#
# Each host is a set of namespaces (network, mounts, processes, name) with an sshd as its first
# process, and is on a bridge in the namespaces of the controller. Nothing of it is seen outside, and
# nothing has a name outside, so that test runs do not collide. What a host writes to its home, /tmp
# or /run is kept in $hosts/hI, and outlives a crash as a disk does.
#
# The controller waits for the test to end, and takes all down even if the test was killed.

# shellcheck shell=bash

# hosts_up N: h1 to hN, and the controller. Sets hosts_shared, a directory that all see.
hosts_up() {
    local i see
    need_hosts
    hosts=$BATS_TEST_TMPDIR/hosts
    [[ -n ${BATS_TEST_TMPDIR-} ]] || hosts=$BATS_FILE_TMPDIR/hosts
    hosts_shared=$hosts/shared
    export hosts hosts_shared
    mkdir -p "$hosts/bin" "$hosts/shared" "$hosts/ssh" "$hosts/home/.parallel"
    : >"$hosts/home/.parallel/will-cite"
    cp "$UNSEEN" "$hosts/bin/unseen"
    ssh-keygen -q -t ed25519 -N '' -f "$hosts/ssh/key"
    printf '127.0.0.1 localhost\n10.77.0.254 controller\n' >"$hosts/names"
    # A locked account of root could not log in by its key either.
    echo 'root:*:20000:0:99999:7:::' >"$hosts/shadow"
    cat >"$hosts/ssh/config" <<END
Host *
User root
IdentityFile $hosts/ssh/key
IdentitiesOnly yes
UserKnownHostsFile $hosts/ssh/known_hosts
StrictHostKeyChecking yes
BatchMode yes
END
    for ((i = 1; i <= $1; i++)); do
        echo "10.77.0.$i h$i" >>"$hosts/names"
        mkdir -p "$hosts/h$i/tmp" "$hosts/h$i$hosts_root" "$hosts/h$i/run/sshd"
        chmod 1777 "$hosts/h$i/tmp"
        for see in "$hosts/shared" "$hosts/bin"; do mkdir -p "$hosts/h$i$see"; done
        ssh-keygen -q -t ed25519 -N '' -f "$hosts/h$i/run/sshd/key"
        echo "h$i,10.77.0.$i $(cut -d ' ' -f 1,2 "$hosts/h$i/run/sshd/key.pub")" >>"$hosts/ssh/known_hosts"
        cp "$hosts/ssh/key.pub" "$hosts/h$i/run/sshd/authorized_keys"
        cat >"$hosts/h$i/run/sshd/config" <<END
HostKey /run/sshd/key
AuthorizedKeysFile /run/sshd/authorized_keys
StrictModes no
PermitRootLogin prohibit-password
UsePAM no
PidFile none
MaxStartups 100
Subsystem sftp internal-sftp
SetEnv PATH=$hosts/bin:$hosts_path LC_ALL=C
END
    done
    start_controller "$$"
    for ((i = 1; i <= $1; i++)); do boot "$i"; done
    for ((i = 1; i <= $1; i++)); do answers "$i"; done
}

hosts_path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
hosts_root=~root

need_hosts() {
    need ip nsenter ssh /usr/sbin/sshd
    need_namespaces unshare --net --mount --pid --uts --fork ip link add try type bridge
}

# start_controller PID: as long as PID lives. The user's own settings of ssh are out of its sight.
start_controller() {
    setsid unshare --net --mount --uts --propagation private bash -c '
        mount --bind "$hosts/names" /etc/hosts
        mount --bind "$hosts/ssh/config" /etc/ssh/ssh_config
        if [[ -d ~root/.ssh ]]; then mount --bind "$hosts/ssh" ~root/.ssh; fi
        hostname controller
        ip link set lo up
        # Its own address: else it is that of a port, and changes for all hosts as one goes.
        ip link add bridge address 02:77:0:0:0:fe type bridge
        ip address add 10.77.0.254/24 dev bridge
        ip link set bridge up
        echo "$$" >"$hosts/new" && mv "$hosts/new" "$hosts/controller"
        tail --pid="$1" -f /dev/null
        '"$(declare -f sweep)"'
        sweep' keeper "$1" </dev/null >"$hosts/log" 2>&1 3>&- &
    disown
    wait_until 60 test -e "$hosts/controller" || { cat "$hosts/log"; return 1; }
}

# boot I: plugs host I in and starts it; `answers` waits until it can be used.
boot() {
    local i=$1 disk=$hosts/h$1 pid
    # Its first process tells its number outside, as long as it sees the /proc from there. /tmp, or
    # whatever else has $hosts in it, goes out of sight last.
    setsid unshare --net --mount --uts --pid --fork --kill-child --propagation private bash -c '
        set -e
        read -r pid _ </proc/self/stat
        hostname "$1"
        disk=$hosts/$1
        mount --bind "$hosts/names" /etc/hosts
        [[ ! -e /etc/shadow ]] || mount --bind "$hosts/shadow" /etc/shadow
        for see in "$hosts/shared" "$hosts/bin"; do mount --bind "$see" "$disk$see"; done
        last=
        for own in /run ~root /tmp; do
            if [[ $hosts/ == "$own"/* ]]; then last=$own; else mount --rbind "$disk$own" "$own"; fi
        done
        ip link set lo up
        mount -t tmpfs tmpfs /dev/shm
        echo "$pid" >"$disk/new" && mv "$disk/new" "$disk/pid"
        mount -t proc proc /proc
        [[ -z $last ]] || mount --rbind "$disk$last" "$last"
        cd ~root
        exec /usr/sbin/sshd -D -e -f /run/sshd/config' host "h$i" </dev/null >>"$disk/log" 2>&1 3>&- &
    disown
    wait_until 60 test -e "$disk/pid" || { cat "$disk/log"; return 1; }
    pid=$(<"$disk/pid")
    # The same address each time: others remember it.
    in_controller ip link add "v$i" type veth peer name eth0 address "02:77:0:0:0:$i" netns "$pid"
    in_controller ip link set "v$i" master bridge up
    nsenter -t "$pid" -n ip address add "10.77.0.$i/24" dev eth0
    nsenter -t "$pid" -n ip link set eth0 up
}

answers() {
    wait_until 60 controller ssh -o ConnectTimeout=1 "h$1" true 2>>"$hosts/log" && return
    cat "$hosts/log" "$hosts/h$1/log"
    return 1
}

in_controller() {
    nsenter -t "$(<"$hosts/controller")" --net --mount --uts --root --wd="$PWD" "$@"
}

# controller COMMAND...: there, ssh, scp and the names of the hosts work as they stand in a recipe.
controller() {
    in_controller env HOME="$hosts/home" PATH="$hosts/bin:$PATH:/usr/sbin:/sbin" "$@"
}

# on I COMMAND...: on host I, in root's home.
on() {
    local pid
    pid=$(<"$hosts/h$1/pid")
    shift
    nsenter -t "$pid" --net --mount --uts --pid --root env HOME="$hosts_root" \
        PATH="$hosts/bin:$hosts_path" sh -c 'cd && exec "$@"' on "$@"
}

# host_kill I: the plug is pulled. It says nothing to anybody any more; then all its processes die.
host_kill() {
    local pid
    pid=$(<"$hosts/h$1/pid")
    in_controller ip link delete "v$1"
    rm "$hosts/h$1/pid"
    kill -9 "$pid"
    # Its first process goes last.
    wait_until 60 test ! -e "/proc/$pid"
}

# host_start I: after host_kill; what is on its disk is there again.
host_start() {
    boot "$1" && answers "$1"
}

# Everything on the hosts and on the controller dies.
sweep() {
    local pid file process
    for file in "$hosts"/h*/pid; do
        [[ ! -e $file ]] || kill -9 "$(<"$file")" 2>/dev/null
        rm -f "$file"
    done
    pid=$(<"$hosts/controller")
    for process in /proc/[0-9]*; do
        [[ ! $process/ns/net -ef /proc/$pid/ns/net || ${process#/proc/} -eq $pid ]] ||
            kill -9 "${process#/proc/}" 2>/dev/null
    done
    rm -f "$hosts/controller"
    kill -9 "$pid" 2>/dev/null
}

# hosts_down: for teardown; also where there are none.
hosts_down() {
    [[ -n ${hosts-} && -e $hosts/controller ]] || return 0
    sweep || true
}
