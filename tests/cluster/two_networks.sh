#!/bin/sh
# Two ranks of one job in two network namespaces of this machine, joined by virtual wires. Proves by the wires' counters
# which way the messages went. Needs root and iproute2; ends with status 77 and a reason where it cannot run.
#
#   tests/cluster/two_networks.sh [dist [case]]      one_wire unnamed weights exclude_network exclude_name include_unknown ipv6
#   no_answer detour falls_silent goes_down pulled_link
#   many_addresses routes striping unequal slows_down slow_checksums flapping lossy       (links.sh; SEEDS="1 2 …" for the last two)
#   frames frames_refused frames_lossy frames_end                                     (frames.sh: btl/eth)
#   gateway no_route other_family two_families two_transports              (ways.sh)
#   rejects rejects_mpirun prohibits dies                                  (rejects.sh)
#   kept                                                                   (links.sh; for `cargo xtask bench links` only)
set -eu
# All of it happens in namespaces that end with their first process, as those of `cargo xtask cluster` do: whatever is killed,
# nothing is left on this machine.
if [ "$(id -u)" = 0 ] && [ "${OMPI_RS_TWO_NETWORKS:-}" = "" ] && unshare --net --mount --pid --fork true 2>/dev/null; then
    OMPI_RS_TWO_NETWORKS=inside exec unshare --net --mount --pid --fork --kill-child --mount-proc sh "$0" "$@"
fi
[ "${OMPI_RS_TWO_NETWORKS:-}" = "" ] || { mount -t sysfs sysfs /sys && mount -t tmpfs tmpfs /run && mkdir /run/netns && ip link set lo up; }
dist=${1:-dist}
case=${2:-all}
here=$(dirname "$0")
space=ompi-rs-$$
work=$(mktemp -d)
bytes=4194304 times=16
least=$((bytes * times)) # each way
one=or$$a two=or$$c three=or$$e # this end of the wires; the other ends are or$$b, or$$d and or$$f
seeds=${SEEDS:-1}
pair='' # what the ranks run instead of two_pairs

clean() {
    ip netns del "$space" 2>/dev/null || true
    ip link del "$one" 2>/dev/null || true
    ip link del "$two" 2>/dev/null || true
    ip link del "$three" 2>/dev/null || true
    rm -rf "$work"
}
trap clean EXIT
trap 'exit 1' INT TERM

fail() {
    [ ! -s "$work/said" ] || cat "$work/said" >&2
    echo "two_networks: $case: $*" >&2
    exit 1
}

skip() {
    echo "two_networks: skipped: $*" >&2
    exit 77
}

wire() { # near end, far end, number of the network
    ip link add "$1" type veth peer name "$2" netns "$space"
    ip link set "$1" up
    ip -n "$space" link set "$2" up
    [ "$case" = ipv6 ] || ip addr add "10.77.$3.1/24" dev "$1"
    [ "$case" = ipv6 ] || ip -n "$space" addr add "10.77.$3.2/24" dev "$2"
    [ "$case" != ipv6 ] || ip addr add "fd77:0:0:$3::1/64" dev "$1" nodad
    [ "$case" != ipv6 ] || ip -n "$space" addr add "fd77:0:0:$3::2/64" dev "$2" nodad
}

sent() { # bytes that left on an interface
    cat "/sys/class/net/$1/statistics/tx_bytes"
}

run() { # parameters of mpirun; the second rank is in the other network
    # The ranks of a job on one node look for each other on the loopback, unless networks are named.
    case " $* " in
    *btl_tcp_if_include*) ;;
    *) [ "$case" = unnamed ] || set -- --mca btl_tcp_if_include "$([ "$case" = ipv6 ] && echo fd77::/16 || echo 10.77.0.0/16)" "$@" ;;
    esac
    # Both hosts are one machine: without single copies, which cross no wire.
    # shellcheck disable=SC2016
    timeout 240 "$dist/bin/mpirun" -n 2 --mca btl tcp,self --mca smsc ^cma,map "$@" sh -c '
        [ "$OMPI_COMM_WORLD_RANK" = 0 ] && exec $1
        exec ip netns exec "$0" $1' "$space" "${pair:-"$work/two_pairs $bytes $times"}" >"$work/out" 2>"$work/said"
}

crossed() { # runs; leaves in $first and $second what crossed which wire
    first=$(sent "$one") second=$(sent "$two")
    run "$@" || fail "the job failed"
    first=$(($(sent "$one") - first)) second=$(($(sent "$two") - second))
    echo "$case: $first and $second bytes crossed the wires, $least were sent each way"
    [ $((first + second)) -ge "$least" ] || fail "less crossed the wires than was sent"
}

one_wire() {
    wire "$one" "or$$b" 1
    first=$(sent "$one")
    run || fail "the job failed"
    first=$(($(sent "$one") - first))
    echo "$case: $first bytes crossed the wire, $least were sent each way"
    [ "$first" -ge "$least" ] || fail "less crossed the wire than was sent"
}

both_wires() {
    wire "$one" "or$$b" 1
    wire "$two" "or$$d" 2
}

# Equal wires share equally; said to be 1 : 4 in speed, the second gets most of it.
weights() {
    both_wires
    crossed
    # Wires without a rate are as fast as the cores are free, and get what was measured. links.sh has wires with rates.
    [ "$first" -ge $((least / 20)) ] && [ "$second" -ge $((least / 20)) ] || fail "two equal wires, one of them hardly used"
    crossed --mca btl_tcp_if_speed "$one=1000,or$$b=1000,$two=4000,or$$d=4000"
    [ "$second" -ge $((2 * first)) ] || fail "the wire that is four times as fast did not get most of it"
    [ "$first" -ge $((least / 20)) ] || fail "the slow wire was not used"
}

exclude_network() {
    both_wires
    crossed --mca btl_tcp_if_exclude 10.77.2.0/24
    [ "$second" -lt 100000 ] || fail "the second wire's network was excluded"
    crossed --mca btl_tcp_if_include 10.77.2.0/24
    [ "$first" -lt 100000 ] || fail "only the second wire's network was included"
}

exclude_name() {
    both_wires
    crossed --mca btl_tcp_if_exclude "$two"
    [ "$second" -lt 100000 ] || fail "the second wire was excluded by its name"
}

include_unknown() {
    wire "$one" "or$$b" 1
    run --mca btl_tcp_if_include no_such_interface && fail "an interface that does not exist was accepted"
    grep -q "no_such_interface, which this machine does not have, .*; it has .*10.77.1" "$work/said" ||
        fail "the refusal does not say which interfaces there are"
}

# Nobody says that the ranks of one node are in two networks.
unnamed() {
    wire "$one" "or$$b" 1
    run && fail "a job on one node listens on more than the loopback"
    grep -q "is on this node in another network namespace.*btl_tcp_if_include" "$work/said" || fail "nobody says what to do"
}

# There is no IPv4 address on either wire.
ipv6() {
    both_wires
    crossed
    # Wires without a rate are as fast as the cores are free, and get what was measured. links.sh has wires with rates.
    [ "$first" -ge $((least / 20)) ] && [ "$second" -ge $((least / 20)) ] || fail "two equal wires, one of them hardly used"
}

# One of two wires swallows whatever the far end sends: all goes over the other one, and the job is told.
detour() {
    both_wires
    for number in 1 2; do
        [ "$number" = 1 ] && far=or$$b || far=or$$d
        ip -n "$space" neigh replace "10.77.$number.1" lladdr 02:00:00:00:77:77 dev "$far" nud permanent
        crossed --mca btl_tcp_connect_timeout_s 2
        [ "$number" = 1 ] && { mute=$first good=$second; } || { mute=$second good=$first; }
        [ "$mute" -lt 100000 ] && [ "$good" -ge "$least" ] || fail "wire $number is mute, but $mute bytes went there"
        grep -q "interface or[0-9]*[a-d]) to 10.77.$number.[12]:.* no answer.* Messages go from .* instead" "$work/said" ||
            fail "nobody was told of the detour"
        ip -n "$space" neigh del "10.77.$number.1" dev "$far"
    done
}

# Both wires at 200 Mbit/s, and a job over them in the background.
slow_job() { # how many messages
    both_wires
    for wire in "$one" "$two"; do
        tc qdisc add dev "$wire" root tbf rate 200mbit burst 256kb latency 100ms
    done
    times=$1
    run --mca btl_tcp_path_timeout_s 1 --mca btl_base_verbose 10 &
    job=$!
}

until_sent() { # interface, bytes since the job began
    for _ in $(seq 600); do
        [ "$(sent "$1")" -lt "$2" ] || return 0
        kill -0 "$job" 2>/dev/null || fail "the job ended before $2 bytes had left on $1"
        sleep 0.05
    done
    fail "$2 bytes did not leave on $1 in 30 s"
}

# One of two wires swallows everything from the middle of a message on: the rest goes over the other one, and no byte differs.
falls_silent() {
    for number in 1 2; do
        slow_job 60
        [ "$number" = 1 ] && { bad=$one good=$two far=or$$b; } || { bad=$two good=$one far=or$$d; }
        until_sent "$bad" 20000000
        before=$(sent "$good")
        ip neigh replace "10.77.$number.2" lladdr 02:00:00:00:77:77 dev "$bad" nud permanent
        ip -n "$space" neigh replace "10.77.$number.1" lladdr 02:00:00:00:77:77 dev "$far" nud permanent
        wait "$job" || fail "wire $number fell silent, and the job failed"
        after=$(($(sent "$good") - before))
        grep -q "broke (the other end does not answer); it is made again" "$work/said" || fail "nobody noticed"
        grep -q "the connection goes on .*bytes are sent again" "$work/said" || fail "no connection went on"
        [ "$after" -ge 100000000 ] || fail "only $after bytes took the other wire afterwards"
        echo "$case: $after bytes took the other wire after wire $number fell silent"
        ip link del "$one"
        ip link del "$two"
    done
}

# A wire is pulled in the middle of a message and put in again: the job goes on without it, and uses it again.
goes_down() {
    # So many that the wire is there again long before the end.
    slow_job 150
    until_sent "$one" 20000000
    ip link set "$one" down
    before=$(sent "$two")
    until_sent "$two" $((before + 20000000))
    ip link set "$one" up
    before=$(sent "$one")
    wait "$job" || fail "a wire was pulled, and the job failed"
    after=$(($(sent "$one") - before))
    grep -q "goes back to its path" "$work/said" || fail "no connection went back"
    [ "$after" -ge 10000000 ] || fail "only $after bytes took the wire that was put in again"
    echo "$case: $after bytes took the wire after it was put in again"
}

# The peer's side swallows whatever arrives: the deadline comes, and the message names both ends and the interface.
no_answer() {
    wire "$one" "or$$b" 1
    # What the other end sends goes to a card that nobody has.
    ip -n "$space" neigh replace 10.77.1.1 lladdr 02:00:00:00:77:77 dev "or$$b" nud permanent
    start=$(date +%s)
    run --mca btl_tcp_connect_timeout_s 2 && fail "a peer that never answers was reached"
    [ $(($(date +%s) - start)) -lt 30 ] || fail "the deadline of 2 s came late"
    # Both ends try; who gives up first ends the job.
    near="from 10.77.1.1 (interface $one) to 10.77.1.2:[0-9]*, process 1 on [^:]*"
    far="from 10.77.1.2 (interface or$$b) to 10.77.1.1:[0-9]*, process 0 on [^:]*"
    grep -q -e "cannot connect $near: no answer within 2 s" -e "cannot connect $far: no answer within 2 s" "$work/said" ||
        fail "the message does not name both ends and the interface"
}

# shellcheck source=tests/cluster/links.sh
. "$here/links.sh"
# shellcheck source=tests/cluster/frames.sh
. "$here/frames.sh"
# shellcheck source=tests/cluster/ways.sh
. "$here/ways.sh"
# shellcheck source=tests/cluster/rejects.sh
. "$here/rejects.sh"
[ "$(id -u)" = 0 ] || skip "needs root"
command -v ip >/dev/null && command -v tc >/dev/null || skip "needs ip and tc: apt-get install iproute2"
ip netns add "$space" 2>"$work/said" || skip "this system makes no network namespaces: $(cat "$work/said")"
ip link add "$one" type veth peer name "$two" 2>"$work/said" || skip "this system makes no virtual wires: $(cat "$work/said")"
clean
mkdir "$work"
"$dist/bin/mpicc" -O2 "$here/two_pairs.c" -o "$work/two_pairs"
case $case in
all | flapping) "$dist/bin/mpicc" -O2 "$here/traffic.c" -o "$work/traffic" ;;
esac
case $case in
frames_lossy | frames_end) cc -O2 "$here/lossy_wire.c" -o "$work/lossy_wire" ;;
all | lossy) "$dist/bin/mpicc" -O2 "$here/traffic.c" -o "$work/traffic" && cc -O2 "$here/lossy_wire.c" -o "$work/lossy_wire" ;;
esac
[ "$case" != all ] || set -- one_wire unnamed weights exclude_network exclude_name include_unknown ipv6 no_answer detour falls_silent goes_down pulled_link \
    many_addresses routes striping unequal slows_down slow_checksums flapping lossy frames frames_refused frames_lossy frames_end gateway no_route other_family two_families two_transports rejects rejects_mpirun prohibits dies
[ "$case" = all ] || set -- "$case"
for case in "$@"; do
    ip netns add "$space"
    ip -n "$space" link set lo up
    "$case"
    ip netns del "$space"
    ip link del "$one" 2>/dev/null || true
    ip link del "$two" 2>/dev/null || true
    ip link del "$three" 2>/dev/null || true
    echo "ok $case"
done
