#!/bin/sh
# In the network namespace of a host that is being made: joins it to the bridge of process 1, and goes on as the host.
#
#   wire.sh FOLDER NUMBER MANAGER
set -eu
folder=$1 number=$2 manager=$3
here=$(dirname "$0")
ip link set lo up
ip link add eth0 type veth peer name "h$number" netns 1
nsenter --net --target 1 ip link set "h$number" master hosts up
ip addr add "10.78.0.$number/16" dev eth0
ip link set eth0 up
exec unshare --uts --mount --ipc --pid --fork --kill-child --mount-proc sh "$here/host.sh" "$folder" "$number" "$manager"
