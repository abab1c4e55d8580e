#!/bin/sh
# Process 1 of a cluster's namespaces: makes the network and the test hosts, says what went wrong, and stays. When it ends,
# the kernel ends everything in them, because the hosts are namespaces inside its own.
#
#   head.sh FOLDER COUNT MANAGER      FOLDER: for what the outside reads, on the disc that all hosts share; MANAGER: slurm or none
set -eu
folder=$1 count=$2 manager=$3
here=$(dirname "$0")
inside=/run/cluster # nobody outside sees it

# Interfaces as these namespaces see them.
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /tmp
mount -t tmpfs tmpfs /dev/shm
mkdir -p "$inside" /run/sshd
hostname head
ip link set lo up
ip link add hosts type bridge
ip addr add 10.78.0.254/16 dev hosts
ip link set hosts up

# One key for all hosts and all who log in: nobody outside can read it.
ssh-keygen -q -t ed25519 -N '' -C cluster -f "$inside/key"
cp "$inside/key.pub" "$inside/authorized"
sed 's/^/* /' "$inside/key.pub" >"$inside/known"
{
    echo "127.0.0.1 localhost"
    echo "10.78.0.254 head"
    number=1
    while [ "$number" -le "$count" ]; do
        echo "10.78.0.$number h$number"
        number=$((number + 1))
    done
} >"$inside/hosts"
cat >"$inside/ssh_config" <<END
Host *
    IdentityFile $inside/key
    UserKnownHostsFile $inside/known
    GlobalKnownHostsFile /dev/null
    StrictHostKeyChecking yes
    BatchMode yes
    ConnectTimeout 25
    LogLevel ERROR
END
mount --bind "$inside/hosts" /etc/hosts
mount --bind "$inside/ssh_config" /etc/ssh/ssh_config

if [ "$manager" = slurm ]; then
    sh "$here/slurm.sh" conf "$count"
    sh "$here/slurm.sh" head
fi

number=1
while [ "$number" -le "$count" ]; do
    # A host is made from inside: its end of the wire first, then the rest of its namespaces.
    unshare --net sh "$here/wire.sh" "$folder" "$number" "$manager" &
    # The outside enters the host by this number.
    echo $! >"$inside/h$number.pid"
    number=$((number + 1))
done
if [ "$manager" = slurm ]; then
    sh "$here/slurm.sh" ready "$count"
    echo idle >"$folder/slurm"
fi
# A host may end; the others and the network stay.
while :; do
    sleep infinity &
    wait
done
