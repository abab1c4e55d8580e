# Cases of two_networks.sh: a firewall on the only path between two hosts that rejects for some seconds, and processes that end meanwhile.
# Each host has a daemon, which mpirun reaches by another wire, or by the same.
oob=2

# Two ranks on two hosts, which talk over the first wire alone; mpirun and the daemon talk over wire $oob.
by_daemons() { # parameters of mpirun and the program
    cat >"$work/agent" <<END
#!/bin/sh
export SSH_CONNECTION="10.77.$oob.1 40000 10.77.$oob.2 22"
exec ip netns exec $space sh -c "\$2"
END
    chmod +x "$work/agent"
    timeout 120 "$dist/bin/mpirun" --host localhost:1,far.invalid:1 --mca plm_ssh_agent "$work/agent" --mca oob_tcp_if_include "10.77.$oob.0/24" \
        --mca btl tcp,self --mca btl_tcp_if_include 10.77.1.0/24 --mca btl_base_verbose 10 "$@" >"$work/out" 2>"$work/said"
}

# A host of the same address takes what one host sends to the other: its system resets each connection and refuses new ones, since it
# knows none.
impostor() { # the wire's end at the host that is replaced, in which namespace, its address, at whom: ip's words for that, and the wire's end
    ip netns add "$space-$1"
    # shellcheck disable=SC2086
    ip $2 link add link "$1" name "$1i" type macvlan mode bridge
    # shellcheck disable=SC2086
    ip $2 link set "$1i" netns "$space-$1"
    ip -n "$space-$1" addr add "$3/24" dev "$1i"
    ip -n "$space-$1" link set "$1i" up
    mac=$(ip netns exec "$space-$1" cat "/sys/class/net/$1i/address" 2>/dev/null) ||
        mac=$(ip -n "$space-$1" -o link show "$1i" | sed 's/.*link.ether \([0-9a-f:]*\) .*/\1/')
    # shellcheck disable=SC2086
    ip $4 neigh replace "$3" lladdr "$mac" dev "$5" nud permanent
}

unmask() { # as above, without the namespace
    # Before anybody asks again who has the address.
    ip -n "$space-$1" link del "$1i"
    ip netns del "$space-$1"
    # shellcheck disable=SC2086
    ip $3 neigh del "$2" dev "$4"
}

reject() { # there, back
    [ "$1" = no ] || impostor "or$$b" "-n $space" 10.77.1.2 '' "$one"
    [ "$2" = no ] || impostor "$one" '' 10.77.1.1 "-n $space" "or$$b"
}

let_through() {
    [ "$1" = no ] || unmask "or$$b" 10.77.1.2 '' "$one"
    [ "$2" = no ] || unmask "$one" 10.77.1.1 "-n $space" "or$$b"
}

# Resets and refusals for three seconds in the middle of a message, in one direction, the other and both: nothing is lost, and nobody.
rejects() {
    both_wires
    ip link add link "$one" name "${one}i" type macvlan mode bridge 2>"$work/said" || skip "this system makes no macvlan interfaces"
    ip link del "${one}i"
    shape "$one" "or$$b" 200mbit 256kb
    by_daemons --report-pid "$work/pid" --stats="$work/stats.json" "$work/two_pairs" "$bytes" 40 &
    job=$!
    for way in 'yes no' 'no yes' 'yes yes'; do
        until_sent "$one" $(($(sent "$one") + 20000000))
        # shellcheck disable=SC2086
        reject $way
        sleep 3
        kill -0 "$job" 2>/dev/null || fail "rejected $way: the job ended"
        "$dist/bin/mpirun" --status "$(cat "$work/pid")" >"$work/status" 2>&1 || fail "rejected $way: $(cat "$work/status")"
        grep -q "waits for rank [01]: the connection to it broke [0-9]* s ago and is made again: 10.77.1.[12] to 10.77.1.[12], [0-9]* attempt" \
            "$work/status" || fail "rejected $way: nobody says what is waited for: $(cat "$work/status")"
        ! grep -q "a cycle" "$work/status" || fail "rejected $way: nobody waits in a cycle: $(cat "$work/status")"
        # shellcheck disable=SC2086
        let_through $way
    done
    wait "$job" || fail "somebody rejected for three seconds, and the job failed"
    resumed=$(grep -c "the connection goes on" "$work/said" || true)
    [ "$resumed" -ge 3 ] || fail "only $resumed connections went on"
    grep -q '"btl_tcp_resumed": [1-9]' "$work/stats.json" || fail "nobody counts them"
    echo "$case: $resumed connections went on; $(cat "$work/out")"
}

# There is one wire, for ranks, mpirun and its daemon. Each end in turn resets and refuses whatever comes for three seconds, and both do,
# while ranks write: nothing is lost, and the job goes on.
rejects_mpirun() {
    wire "$one" "or$$b" 1
    ip link add link "$one" name "${one}i" type macvlan mode bridge 2>"$work/said" || skip "this system makes no macvlan interfaces"
    ip link del "${one}i"
    oob=1
    # shellcheck disable=SC2016
    by_daemons --verbose sh -c 'for i in $(seq 1500); do echo $OMPI_COMM_WORLD_RANK $i; sleep 0.01; done; exec "$@"' sh "$work/two_pairs" 65536 4 &
    job=$!
    for way in 'yes no' 'no yes' 'yes yes'; do
        before=$(grep -c '^1 ' "$work/out" || true)
        for _ in $(seq 600); do
            [ "$(grep -c '^1 ' "$work/out")" -lt $((before + 50)) ] || break
            kill -0 "$job" 2>/dev/null || fail "rejected $way: the job ended before that"
            sleep 0.05
        done
        # shellcheck disable=SC2086
        reject $way
        sleep 3
        kill -0 "$job" 2>/dev/null || fail "rejected $way: the job ended"
        # shellcheck disable=SC2086
        let_through $way
    done
    wait "$job" || fail "the path of mpirun was rejected for three seconds, and the job failed"
    for rank in 0 1; do
        grep "^$rank " "$work/out" >"$work/ranks.$rank"
        seq 1500 | sed "s/^/$rank /" | cmp - "$work/ranks.$rank" || fail "what rank $rank wrote did not arrive once and in order"
    done
    resumed=$(grep -c "the connection to the daemon of host far.invalid broke and goes on" "$work/said" || true)
    [ "$resumed" -ge 3 ] || fail "the connection went on $resumed times"
    echo "$case: mpirun's connection went on $resumed times"
    oob=2
}

# A router that says for five seconds that it passes nothing on (ICMP).
prohibits() {
    between
    ip route add 10.77.2.0/24 via 10.77.1.9 && ip -n "$space" route add 10.77.1.0/24 via 10.77.2.9
    # What Linux limits twice, from one account, is said to nobody who asks each second.
    ip netns exec "$middle" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward && echo 0 >/proc/sys/net/ipv4/icmp_ratelimit' ||
        skip "this system's namespaces have no routers"
    tc qdisc add dev "$one" root tbf rate 200mbit burst 256kb latency 50ms
    times=30 && named_hosts
    run --mca btl_tcp_path_timeout_s 1 --mca btl_base_verbose 20 &
    job=$!
    for kind in prohibit unreachable; do
        until_sent "$one" $(($(sent "$one") + 20000000))
        ip -n "$middle" rule add from 10.77.1.1 to 10.77.2.2 "$kind" && ip -n "$middle" rule add from 10.77.2.2 to 10.77.1.1 "$kind"
        sleep 5
        kill -0 "$job" 2>/dev/null || fail "$kind: the job ended"
        ip -n "$middle" rule del from 10.77.1.1 to 10.77.2.2 && ip -n "$middle" rule del from 10.77.2.2 to 10.77.1.1
    done
    wait "$job" || fail "a router rejected for five seconds, and the job failed"
    grep -q "tries to go on .* after: no host has this address there, or a router" "$work/said" || fail "nobody was told by ICMP"
    echo "$case: $(grep -c 'the connection goes on' "$work/said") connections went on; $(cat "$work/out")"
    ip netns del "$middle"
    pair='' times=16
}

# A rank is killed: the other one is told soon, whether its connection was reset and refused before, or is by the end of the process.
dies() {
    both_wires
    "$dist/bin/mpicc" -O2 "$here/dies.c" -o "$work/dies"
    for way in 'no no' 'yes yes'; do
        rm -f "$work/go" "$work/ready" "$work/waits" "$work/died"
        by_daemons --disable-auto-cleanup "$work/dies" "$work" &
        job=$!
        for _ in $(seq 600); do
            [ ! -e "$work/ready" ] || break
            kill -0 "$job" 2>/dev/null || fail "the job ended before anybody died"
            sleep 0.05
        done
        # shellcheck disable=SC2086
        reject $way
        [ "$way" = 'no no' ] || sleep 2
        kill -0 "$job" 2>/dev/null || fail "rejected $way: the job ended"
        touch "$work/go"
        wait "$job" && fail "a rank was killed, and mpirun says that all is well"
        # shellcheck disable=SC2086
        let_through $way
        noticed=$(sed -n 's/^noticed after \([0-9]*\) ms$/\1/p' "$work/out")
        echo "$case: rejected $way: noticed after $noticed ms"
        [ -n "$noticed" ] && [ "$noticed" -lt 1000 ] || fail "the end of a rank was noticed after '$noticed' ms"
        [ "$way" = 'no no' ] || grep -q "is made again" "$work/said" || fail "no connection broke before the rank ended"
    done
}
