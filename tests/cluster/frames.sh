# Cases of two_networks.sh: btl/eth over a wire without any address, by raw frames of the system.

# Two ranks, one in each network, which have this wire and nothing else.
by_frames() { # words of the program, further parameters of mpirun
    words=$1
    shift
    # shellcheck disable=SC2016
    timeout 240 "$dist/bin/mpirun" -n 2 --mca btl eth,self --mca smsc ^cma,map "$@" sh -c '
        [ "$OMPI_COMM_WORLD_RANK" = 0 ] && exec $1
        exec ip netns exec "$0" $1' "$space" "$words" >"$work/out" 2>"$work/said"
}

bare_wire() {
    ip link add "$one" type veth peer name "or$$b" netns "$space"
    ip link set "$one" up && ip -n "$space" link set "or$$b" up
}

# Everything crosses the wire, with short frames and with long ones.
frames() {
    bare_wire
    named="--mca netif_packet_if $one,or$$b"
    # shellcheck disable=SC2086
    for mtu in 1500 9000; do
        ip link set "$one" mtu $mtu && ip -n "$space" link set "or$$b" mtu $mtu
        first=$(sent "$one")
        by_frames "$work/two_pairs $bytes $times" $named || fail "the job failed with frames of $mtu bytes"
        first=$(($(sent "$one") - first))
        echo "$case: $first bytes crossed the wire, $least were sent each way; $mtu: $(cat "$work/out")"
        [ "$first" -ge "$least" ] || fail "less crossed the wire than was sent"
    done
    for program in pt2pt_blocking heat; do
        "$dist/bin/mpicc" -O2 "$here/../c/$program.c" -o "$work/$program" -lm
        # shellcheck disable=SC2086
        by_frames "$work/$program" $named || fail "$program failed"
    done
    grep -q "field identical to the serial run" "$work/out" || fail "the heat is another one"
}

# Nothing is taken that the user did not name or may not have, and the job says what it lacks.
frames_refused() {
    bare_wire
    by_frames "$work/two_pairs 8 1" && fail "an interface was taken unasked"
    grep -q "netif_packet_if" "$work/said" || fail "nobody says how to name an interface"
    by_frames "$work/two_pairs 8 1" --mca netif_packet_if nosuch && fail "an interface that is not there was used"
    grep -q "netif_packet_if is .nosuch., and this host has no such interface" "$work/said" || fail "nobody says that it is not there"
    command -v setpriv >/dev/null || skip "needs setpriv: apt-get install util-linux"
    by_frames "setpriv --bounding-set -net_raw $work/two_pairs 8 1" --mca netif_packet_if "$one,or$$b" && fail "raw frames without the capability"
    grep -q "CAP_NET_RAW" "$work/said" || fail "nobody says which capability it takes"
}

# A wire that loses so many of a thousand frames, and holds each for so long, with up to so many more (us): lossy0 and lossy1.
lossy_pair() {
    "$work/lossy_wire" "/run/netns/$space" lossy0 lossy1 1 "$@" >"$work/wire" &
    forwarder=$!
    for _ in $(seq 100); do
        grep -q ready "$work/wire" && break
        kill -0 "$forwarder" 2>/dev/null || skip "this system makes no TAP interfaces"
        sleep 0.05
    done
    ip link set lossy0 up && ip -n "$space" link set lossy1 up
}

lossy_pair_ends() {
    kill "$forwarder"
    wait "$forwarder" 2>/dev/null || true
}

# Each hundredth frame is lost, and each comes 1 ms late or up to 2 ms, past others: no byte differs.
frames_lossy() {
    lossy_pair 10 1000 1000
    by_frames "$work/two_pairs 262144 8" --mca netif_packet_if lossy0,lossy1 || fail "frames were lost, and the job failed"
    first=$(sent lossy0)
    echo "$case: $first bytes left on the wire; $(cat "$work/out")"
    [ "$first" -ge 2097152 ] || fail "less left on the wire than was sent"
    lossy_pair_ends
}

# Each fifth frame is lost, also of the last acknowledgements: whoever has all of it still answers who has not.
frames_end() {
    lossy_pair 200 100 100
    for _ in $(seq 12); do
        by_frames "$work/two_pairs 8 1" --timeout 20 --mca netif_packet_if lossy0,lossy1 || fail "a job did not come to its end"
    done
    lossy_pair_ends
}
