# Cases of two_networks.sh: hosts that reach each other only through a third one, or not at all, and what is said of it; hosts joined by
# wires of different families of addresses; btl/tcp and btl/eth between the same two hosts.

# Has the ranks run on hosts of different names, host0 and host1.
named_hosts() {
    # shellcheck disable=SC2016
    printf '#!/bin/sh\nhostname "host$OMPI_COMM_WORLD_RANK"\nexec "$@"\n' >"$work/named"
    chmod +x "$work/named"
    pair="unshare --uts $work/named $work/two_pairs $bytes $times"
}

# Two hosts and a third one between them.
between() {
    middle=$space-middle
    ip netns add "$middle"
    ip link add "$one" type veth peer name "or$$b" netns "$middle"
    ip -n "$space" link add "$two" type veth peer name "or$$d" netns "$middle"
    ip link set "$one" up && ip addr add 10.77.1.1/24 dev "$one"
    ip -n "$middle" link set "or$$b" up && ip -n "$middle" addr add 10.77.1.9/24 dev "or$$b"
    ip -n "$space" link set "$two" up && ip -n "$space" addr add 10.77.2.2/24 dev "$two"
    ip -n "$middle" link set "or$$d" up && ip -n "$middle" addr add 10.77.2.9/24 dev "or$$d"
    named_hosts
}

# Who gives up first ends the job: one of both says it.
says_of_peer() { # what goes on after both ends
    grep -q -e "cannot connect from 10.77.1.1 (interface $one) to 10.77.2.2:[0-9]*, process 1 on host1: $1" \
        -e "cannot connect from 10.77.2.2 (interface $two) to 10.77.1.1:[0-9]*, process 0 on host0: $1" "$work/said"
}

# A router that passes nothing on swallows everything, which the job is told. Then it passes everything on.
gateway() {
    between
    ip route add 10.77.2.0/24 via 10.77.1.9 && ip -n "$space" route add 10.77.1.0/24 via 10.77.2.9
    ip netns exec "$middle" sh -c 'echo 0 >/proc/sys/net/ipv4/ip_forward' || skip "this system's namespaces have no routers"
    run --mca btl_tcp_connect_timeout_s 2 && fail "the router passes nothing on, and the job ran"
    says_of_peer "no answer within 2 s .*a router between the two that does not forward.*btl_tcp_if_include says which" ||
        fail "the message does not name host, addresses and what to do"
    ip netns exec "$middle" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
    first=$(sent "$one")
    run || fail "the router passes everything on, and the job failed"
    first=$(($(sent "$one") - first))
    echo "$case: $first bytes left for the router, $least were sent each way"
    [ "$first" -ge "$least" ] || fail "less left than was sent"
    ip netns del "$middle"
    pair=''
}

# Two addresses on different networks, and no route from one to the other.
no_route() {
    between
    run --mca btl_tcp_connect_timeout_s 2 && fail "no route leads there, and the job ran"
    says_of_peer "there is no route to it; add one on both hosts, or name interfaces that join them with btl_tcp_if_include" ||
        fail "the message does not name host, addresses and what to do"
    ip netns del "$middle"
    pair=''
}

# One host has an IPv4 address on the wire, the other one an IPv6 address.
other_family() {
    named_hosts
    # Both ends have one name: btl_tcp_if_include names what each host has.
    ip link add "$one" type veth peer name "$one" netns "$space"
    ip link set "$one" addrgenmode none up && ip -n "$space" link set "$one" addrgenmode none up
    ip addr add 10.77.1.1/24 dev "$one" && ip -n "$space" addr add fd77:0:0:1::2/64 dev "$one" nodad
    run --mca btl_tcp_if_include "$one" && fail "addresses of different families reach each other"
    grep -q -e "none of the addresses of process 1 on host1 (fd77:0:0:1::2) can be reached from one of this process (10.77.1.1)" \
        -e "none of the addresses of process 0 on host0 (10.77.1.1) can be reached from one of this process (fd77:0:0:1::2)" "$work/said" ||
        fail "the message does not name host and addresses"
    grep -q "name interfaces that join the two" "$work/said" || fail "nobody says what to do"
    pair=''
}

# There are only IPv4 addresses on one wire and only IPv6 addresses on the other: long messages take both.
two_families() {
    wire "$one" "or$$b" 1
    ip link add "$two" type veth peer name "or$$d" netns "$space"
    ip link set "$two" up && ip -n "$space" link set "or$$d" up
    ip addr add fd77:0:0:2::1/64 dev "$two" nodad && ip -n "$space" addr add fd77:0:0:2::2/64 dev "or$$d" nodad
    shape "$one" "or$$b" 400mbit 64kb
    shape "$two" "or$$d" 400mbit 64kb
    crossed --mca btl_tcp_if_include 10.77.0.0/16,fd77::/16
    [ "$first" -ge $((least / 4)) ] && [ "$second" -ge $((least / 4)) ] || fail "two equal wires, one of them hardly used"
}

# btl/tcp over one wire and btl/eth over the other, in the background.
by_both() { # how many messages
    wire "$one" "or$$b" 1
    ip link add "$two" type veth peer name "or$$d" netns "$space"
    ip link set "$two" mtu 9000 up && ip -n "$space" link set "or$$d" mtu 9000 up
    shape "$one" "or$$b" 400mbit 64kb
    shape "$two" "or$$d" 400mbit 64kb
    # shellcheck disable=SC2016
    timeout 240 "$dist/bin/mpirun" -n 2 --mca btl tcp,eth,self --mca smsc ^cma,map --mca btl_eth_exclusivity 100 --mca pml_ob1_checksum 1 \
        --mca btl_tcp_if_include 10.77.0.0/16 --mca netif_packet_if "$two,or$$d" --mca btl_eth_silence_timeout_s 3 \
        --mca btl_tcp_path_timeout_s 1 --mca btl_tcp_connect_timeout_s 2 --mca btl_tcp_silence_timeout_s 3 sh -c '
        [ "$OMPI_COMM_WORLD_RANK" = 0 ] && exec $1
        exec ip netns exec "$0" $1' "$space" "$work/two_pairs $bytes $1" >"$work/out" 2>"$work/said" &
    job=$!
}

# Long messages take both transports. When one wire is pulled for good, all goes by the other one: nothing is lost, and no byte differs.
two_transports() {
    for pulled in "$one" "$two"; do
        [ "$pulled" = "$one" ] && { other=$two name=eth; } || { other=$one name=tcp; }
        by_both 14
        until_sent "$pulled" 10000000
        [ "$(sent "$other")" -ge 2000000 ] || fail "$(sent "$other") bytes took the wire of btl/$name, and 10000000 the other one"
        ip link set "$pulled" down
        before=$(sent "$other")
        wait "$job" || fail "the wire beside that of btl/$name was pulled, and the job failed"
        after=$(($(sent "$other") - before))
        grep -q "messages to process [01] on .* go by btl/$name from now on" "$work/said" || fail "nobody says that btl/$name goes on"
        [ "$after" -ge 20000000 ] || fail "only $after bytes took the wire of btl/$name afterwards"
        echo "$case: $after bytes went by btl/$name after the other wire was pulled; $(cat "$work/out")"
        ip link del "$one"
        ip link del "$two"
    done
}
