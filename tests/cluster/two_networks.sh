#!/bin/sh
# Two ranks of one job in two network namespaces of this machine, joined by virtual wires. Proves by the wires' counters
# that the messages crossed them: with one wire all of them, with two wires both. Needs root and iproute2.
#
#   tests/cluster/two_networks.sh [dist]
set -eu
dist=${1:-dist}
here=$(dirname "$0")
space=ompi-rs-$$
work=$(mktemp -d)
bytes=4194304 times=16
least=$((bytes * times)) # each way

clean() {
    ip netns del "$space" 2>/dev/null || true
    ip link del "or$$a" 2>/dev/null || true
    ip link del "or$$c" 2>/dev/null || true
    rm -rf "$work"
}
trap clean EXIT INT TERM

fail() {
    echo "two_networks: $*" >&2
    exit 1
}

wire() { # near end, far end, third number of the addresses
    ip link add "$1" type veth peer name "$2" netns "$space"
    ip addr add "10.77.$3.1/24" dev "$1"
    ip link set "$1" up
    ip -n "$space" addr add "10.77.$3.2/24" dev "$2"
    ip -n "$space" link set "$2" up
}

sent() { # bytes that left on an interface
    cat "/sys/class/net/$1/statistics/tx_bytes"
}

run() {
    # shellcheck disable=SC2016
    timeout 120 "$dist/bin/mpirun" -n 2 --mca btl tcp,self "$@" sh -c '
        [ "$OMPI_COMM_WORLD_RANK" = 0 ] && exec "$0" "$2" "$3"
        exec ip netns exec "$1" "$0" "$2" "$3"' "$work/two_pairs" "$space" "$bytes" "$times"
}

[ "$(id -u)" = 0 ] || { echo "two_networks: skipped: needs root" >&2; exit 77; }
command -v ip >/dev/null || { echo "two_networks: skipped: needs ip of the package iproute2" >&2; exit 77; }
"$dist/bin/mpicc" -O2 "$here/two_pairs.c" -o "$work/two_pairs"
ip netns add "$space"
ip -n "$space" link set lo up

wire "or$$a" "or$$b" 1
before=$(sent "or$$a")
run
crossed=$(($(sent "or$$a") - before))
[ "$crossed" -ge "$least" ] || fail "one wire: $crossed bytes crossed it, at least $least were sent"
echo "one wire: $crossed bytes crossed it, $least were sent"

wire "or$$c" "or$$d" 2
one=$(sent "or$$a") two=$(sent "or$$c")
run
one=$(($(sent "or$$a") - one)) two=$(($(sent "or$$c") - two))
[ $((one + two)) -ge "$least" ] || fail "two wires: $one and $two bytes crossed them, at least $least were sent"
[ "$one" -ge $((least / 5)) ] && [ "$two" -ge $((least / 5)) ] || fail "two wires, one of them idle: $one and $two bytes"
echo "two wires: $one and $two bytes crossed them, $least were sent"

one=$(sent "or$$a") two=$(sent "or$$c")
run --mca btl_tcp_if_exclude "or$$c"
one=$(($(sent "or$$a") - one)) two=$(($(sent "or$$c") - two))
[ "$two" -lt 100000 ] && [ "$one" -ge "$least" ] || fail "the second wire was excluded, but $two bytes crossed it"
echo "two wires, the second excluded: $one and $two bytes crossed them"

run --mca btl_tcp_if_include no_such_interface 2>"$work/said" && fail "an interface that does not exist was accepted"
grep -q "no_such_interface, which this machine does not have; it has .*10.77.1" "$work/said" || {
    cat "$work/said" >&2
    fail "the refusal does not say which interfaces there are"
}
echo "ok two_networks"
