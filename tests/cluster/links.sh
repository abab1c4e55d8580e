# Cases of two_networks.sh, which has the wires, their counters and the jobs: which addresses lead to the other host, how a long message
# is shared among links, and programs on links that fail.

# 200 bridges without anybody on them on both hosts, on networks of the same number, as containers and VPNs make them, seven of which
# claim to be the fastest; 200 more addresses on one of them. One wire leads there. All wrong guesses together cost one deadline.
many_addresses() {
    wire "$one" "or$$b" 1
    for end in 1 2; do
        for number in $(seq 200); do
            echo "link add name nowhere$number type ifb"
            echo "link set nowhere$number up"
            echo "addr add 10.78.$number.$end/24 dev nowhere$number"
            echo "addr add 10.79.$number.$end/24 dev nowhere1"
        done >"$work/links$end"
    done
    ip -batch "$work/links1" && ip -n "$space" -batch "$work/links2" || fail "no interfaces that lead nowhere"
    fastest=$(seq -s, -f 'nowhere%g=20000' 7)
    start=$(date +%s)
    first=$(sent "$one")
    run --mca btl_tcp_if_include 10.76.0.0/14 --mca btl_tcp_if_speed "$fastest" --mca btl_tcp_connect_timeout_s 4 || fail "the job failed"
    took=$(($(date +%s) - start))
    first=$(($(sent "$one") - first))
    echo "$case: $first bytes crossed the wire, $least were sent each way, after $took s"
    [ "$first" -ge "$least" ] || fail "less crossed the wire than was sent"
    grep -q "cannot connect from 10\.78\..*another path leads there" "$work/said" || fail "nothing was guessed wrong, so nothing was tested"
    # Seven deadlines, one after the other, would be 28 s.
    [ "$took" -lt 16 ] || fail "wrong guesses took $took s with a deadline of 4 s"
    sed -n 's/^link add name \(nowhere[0-9]*\) .*/link del \1/p' "$work/links1" | ip -batch -
}

# Two hosts whose addresses are on different networks: a fast interface that leads nowhere, and a wire with a route.
unlike() { # a fast interface
    ip link add "$one" type veth peer name "or$$b" netns "$space"
    ip link set "$one" up && ip -n "$space" link set "or$$b" up
    ip addr add 10.77.1.1/24 dev "$one" && ip -n "$space" addr add 10.77.2.2/24 dev "or$$b"
    ip route add 10.77.2.0/24 dev "$one" && ip -n "$space" route add 10.77.1.0/24 dev "or$$b"
    ip link add name nowhere1 type ifb && ip link set nowhere1 up && ip addr add 10.78.1.1/24 dev nowhere1
    ip -n "$space" link add name nowhere1 type ifb && ip -n "$space" link set nowhere1 up
    ip -n "$space" addr add 10.78.2.1/24 dev nowhere1
}

# The system's routes say which of them leads there: nothing is guessed wrong. Without them it is found by trying.
routes() {
    unlike
    set -- --mca btl_tcp_if_include 10.76.0.0/14 --mca btl_tcp_if_speed nowhere1=20000 --mca btl_tcp_connect_timeout_s 3
    start=$(date +%s)
    first=$(sent "$one")
    run "$@" --mca btl_base_verbose 20 || fail "the job failed"
    ! grep -q "cannot connect" "$work/said" || fail "the routes were there, and somebody tried another way"
    run "$@" --mca reachable weighted || fail "the job failed without the system's routes"
    grep -q "cannot connect .*Other pairs of addresses are tried" "$work/said" || fail "nothing was guessed wrong without routes"
    # Now the system believes that the fast interface leads there, and it swallows everything.
    ip route add 10.78.2.0/24 dev nowhere1 && ip -n "$space" route add 10.78.1.0/24 dev nowhere1
    run "$@" || fail "the job failed with a route that swallows everything"
    grep -q "no answer within 3 s.*Other pairs of addresses are tried" "$work/said" || fail "nobody was told of the wrong guess"
    first=$(($(sent "$one") - first))
    echo "$case: $first bytes crossed the wire in $(($(date +%s) - start)) s"
    [ "$first" -ge $((3 * least)) ] || fail "less crossed the wire than was sent"
    ip link del nowhere1
}

# Both directions of a wire carry so much. After each rest it carries a burst at once, which is more than its share where it is slow.
shape() { # near end, far end, rate, burst
    tc qdisc replace dev "$1" root tbf rate "$3" burst "$4" latency 50ms
    tc -n "$space" qdisc replace dev "$2" root tbf rate "$3" burst "$4" latency 50ms
}

# Long messages over these wires; leaves in $shares how much of it took each, in per mille.
share() { # wires
    for wire in "$@"; do sent "$wire" >"$work/before.$wire"; done
    run --mca btl_tcp_protect none || fail "the job failed"
    all=0 shares=''
    for wire in "$@"; do
        echo $(($(sent "$wire") - $(cat "$work/before.$wire"))) >"$work/crossed.$wire"
        all=$((all + $(cat "$work/crossed.$wire")))
    done
    [ "$all" -ge $((bytes * times)) ] || fail "less crossed the wires than was sent"
    for wire in "$@"; do shares="$shares $(($(cat "$work/crossed.$wire") * 1000 / all))"; done
    echo "$case: per mille on the wires:$shares; $(cat "$work/out")"
}

# Whether a share is within a tenth of what it should be.
is_about() { # share, wanted
    [ $((10 * $1)) -ge $((9 * $2)) ] && [ $((10 * $1)) -le $((11 * $2)) ]
}

# What it costs a short message that both ends count, keep and acknowledge what they send: half of a round trip without and with that.
kept() {
    wire "$one" "or$$b" 1
    "$dist/bin/mpicc" -O2 "$here/../../benches/c/latency.c" -o "$work/latency"
    pair="$work/latency -s 8 -r 4000 -i 10 --pin"
    for failover in 0 1 0 1 0 1; do
        run --mca btl_tcp_failover "$failover" || fail "the job failed"
        echo "$case: btl_tcp_failover $failover: $(tail -1 "$work/out")"
    done
    pair=''
}

# Equal links share equally.
striping() {
    both_wires
    wire "$three" "or$$f" 3
    bytes=33554432 times=6
    for wires in 1 2 3; do
        shape "$one" "or$$b" 1gbit 256kb
        shape "$two" "or$$d" 1gbit 256kb
        shape "$three" "or$$f" 1gbit 256kb
        case $wires in
        1) ip link set "$two" down && ip link set "$three" down && share "$one" ;;
        2) ip link set "$two" up && share "$one" "$two" ;;
        3) ip link set "$three" up && share "$one" "$two" "$three" ;;
        esac
        for part in $shares; do
            is_about "$part" $((1000 / wires)) || fail "of $wires equal links one has $part per mille"
        done
    done
    bytes=4194304 times=16
}

# Nobody says that one link carries a third of the other: it is measured, although a third one is a wrong guess, which swallows everything.
# Until that is known the two share equally, for the time of the first message.
unequal() {
    both_wires
    wire "$three" "or$$f" 3
    shape "$one" "or$$b" 600mbit 64kb
    shape "$two" "or$$d" 200mbit 64kb
    ip neigh replace 10.77.3.2 lladdr 02:00:00:00:77:77 dev "$three" nud permanent
    ip -n "$space" neigh replace 10.77.3.1 lladdr 02:00:00:00:77:77 dev "or$$f" nud permanent
    # A message of few fragments has its share, too: what the fast link has carried is known before the slow one is ready.
    for size in 33554432 4194304; do
        bytes=$size times=$((268435456 / size))
        share "$one" "$two"
        grep -q "to 10.77.3.[12]:.* no answer.* Messages go from .* instead" "$work/said" || fail "nothing was guessed wrong"
        is_about "${shares##* }" 250 || fail "the slow link has ${shares##* } per mille, and a quarter would be its share"
    done
    bytes=4194304 times=16
}

# A link that slows down in the middle of the job gets less from then on.
slows_down() {
    both_wires
    shape "$one" "or$$b" 400mbit 64kb
    shape "$two" "or$$d" 400mbit 64kb
    # Of the 128 fragments of a message the link should have 25 or 26; of 32 it would have 6 or 7, and both are nearly a tenth off.
    bytes=67108864 times=6
    run --mca btl_tcp_protect none &
    job=$!
    until_sent "$two" 40000000
    shape "$two" "or$$d" 100mbit 64kb
    until_sent "$one" $(($(sent "$one") + 20000000))
    first=$(sent "$one") second=$(sent "$two")
    wait "$job" || fail "a link slowed down, and the job failed"
    first=$(($(sent "$one") - first)) second=$(($(sent "$two") - second))
    share=$((second * 1000 / (first + second)))
    echo "$case: $share per mille on the link that slowed down to a quarter; $(cat "$work/out")"
    [ $((first + second)) -ge 100000000 ] || fail "the job was nearly over when the link slowed down"
    is_about "$share" 200 || fail "it has $share per mille, and a fifth would be its share"
    bytes=4194304 times=16
}

# Four ranks, two on each host, that do what programs do, or run $PROGRAM, which finds its mistakes itself. Both hosts are one machine:
# without windows in shared memory, which cross no wire.
traffic() { # seed, seconds, further parameters of mpirun
    program=${PROGRAM:-"$work/traffic $1 $2"}
    shift 2
    # shellcheck disable=SC2016
    timeout 800 "$dist/bin/mpirun" -n 4 --mca btl tcp,self --mca smsc ^cma,map --mca osc am --mca btl_tcp_if_include 10.77.0.0/16 "$@" sh -c '
        [ $((OMPI_COMM_WORLD_RANK % 2)) = 0 ] && exec $1
        exec ip netns exec "$0" $1' "$space" "$program" >"$work/out" 2>"$work/said" || return 1
    [ -n "${PROGRAM:-}" ] || grep -q "^ok traffic" "$work/out"
}

# What the ranks say at the end.
last_words() {
    if [ -n "${PROGRAM:-}" ]; then cat "$work/out"; else tail -1 "$work/out"; fi
}

# Numbers that are the same for the same seed.
roll() { # how many sides; leaves the number in $rolled
    state=$(((state * 1103515245 + 12345) % 2147483648))
    rolled=$((state / 65536 % $1))
}

# One of two wires at a time is pulled and put in again, as a seed says, while programs talk: no number differs.
flapping() {
    both_wires
    shape "$one" "or$$b" 400mbit 64kb
    shape "$two" "or$$d" 400mbit 64kb
    for seed in $seeds; do
        state=$seed
        traffic "$seed" 12 --mca btl_tcp_path_timeout_s 1 --mca btl_base_verbose 10 &
        job=$!
        pulled=0
        while kill -0 "$job" 2>/dev/null; do
            roll 2
            [ "$rolled" = 0 ] && wire=$one || wire=$two
            roll 12
            ip link set "$wire" down
            sleep "$((rolled / 10)).$((rolled % 10))5"
            ip link set "$wire" up
            pulled=$((pulled + 1))
            roll 10
            sleep "0.$((rolled % 10))5"
        done
        wait "$job" || fail "seed $seed: a wire was pulled $pulled times, and the job failed"
        resumed=$(grep -c "it is made again" "$work/said" || true)
        last_words
        echo "$case: seed $seed, a wire was pulled $pulled times, $resumed connections broke and went on"
        [ "$resumed" -ge 1 ] || fail "seed $seed: no connection broke, so nothing was tested"
    done
}

# Each hundredth frame is lost, and each comes 10 ms late or up to 20 ms.
lossy() {
    for seed in $seeds; do
        "$work/lossy_wire" "/run/netns/$space" lossy0 lossy1 "$seed" 10 10000 10000 >"$work/wire" &
        forwarder=$!
        for _ in $(seq 100); do
            grep -q ready "$work/wire" && break
            kill -0 "$forwarder" 2>/dev/null || skip "this system makes no TAP interfaces"
            sleep 0.05
        done
        ip link set lossy0 up && ip -n "$space" link set lossy1 up
        ip addr add 10.77.1.1/24 dev lossy0 && ip -n "$space" addr add 10.77.1.2/24 dev lossy1
        first=$(sent lossy0)
        traffic "$seed" 10 || fail "seed $seed: frames were lost, and the job failed"
        first=$(($(sent lossy0) - first))
        last_words
        echo "$case: seed $seed, $first bytes left on the wire"
        [ "$first" -ge 300000 ] || fail "seed $seed: nearly nothing crossed the wire"
        kill "$forwarder"
        wait "$forwarder" 2>/dev/null || true
    done
}

# A slow link holds fragments for longer than a sender with checksums waits before it asks: none goes twice.
slow_checksums() {
    wire "$one" "or$$b" 1
    shape "$one" "or$$b" 100mbit 64kb
    bytes=4194304 times=2
    first=$(sent "$one")
    run --mca pml_ob1_checksum 1 || fail "the job failed"
    first=$(($(sent "$one") - first))
    echo "$case: $first bytes crossed the wire for $((bytes * times)); $(cat "$work/out")"
    [ "$first" -lt $((bytes * times * 5 / 4)) ] || fail "much was sent twice"
}

# mpirun and a daemon have two wires in common, and the one that ssh came over is pulled: the daemon calls over the other one. What ranks
# write and read arrives once and in order. The job takes longer than a host may be silent.
pulled_link() {
    both_wires
    cat >"$work/agent" <<END
#!/bin/sh
export SSH_CONNECTION="10.77.1.1 40000 10.77.1.2 22"
exec ip netns exec $space sh -c "\$2"
END
    chmod +x "$work/agent"
    first=$(sent "$one") second=$(sent "$two")
    (
        # shellcheck disable=SC2016
        seq 100000 | timeout 60 "$dist/bin/mpirun" --verbose --mca plm_ssh_agent "$work/agent" --mca oob_tcp_if_include 10.77.0.0/16 \
            --mca oob_tcp_silence_timeout_s 4 --host far.invalid sh -c 'for i in $(seq 700); do echo $i; sleep 0.01; done; cat'
    ) >"$work/out" 2>"$work/said" &
    job=$!
    for _ in $(seq 400); do
        [ "$(wc -l <"$work/out")" -lt 50 ] || break
        kill -0 "$job" 2>/dev/null || fail "the job ended before the wire was pulled"
        sleep 0.05
    done
    first=$(($(sent "$one") - first)) second=$(($(sent "$two") - second))
    [ "$first" -gt $((5 * second)) ] || fail "the daemon did not call over the wire of ssh: $first and $second bytes crossed"
    ip link set "$one" down
    second=$(sent "$two")
    wait "$job" || fail "a wire was pulled, and the job failed"
    second=$(($(sent "$two") - second))
    (seq 700 && seq 100000) | cmp - "$work/out" || fail "what the rank wrote did not arrive once and in order"
    [ "$second" -ge 100000 ] || fail "only $second bytes took the other wire"
    grep -q "the connection to the daemon of host far.invalid broke and goes on, between 10.77.2" "$work/said" || fail "nobody tells of it"
    echo "$case: $second bytes took the other wire"
}
