#!/bin/sh
# Slurm on the test hosts. Keys, states and logs lie in the tmpfs of each host's /run, so that they end with it.
#
#   slurm.sh conf COUNT     on the head, before the hosts are made: key and configuration, for all of them
#   slurm.sh head           the controller
#   slurm.sh node           a node
#   slurm.sh ready COUNT    returns when a job can start on every node
set -eu
inside=/run/cluster
own=/run/slurm

munge() { # the daemon that signs Slurm's messages; one a host, with the same key
    mkdir -p /run/munge "$own"
    cp "$inside/munge.key" /run/munge/key
    chmod 0400 /run/munge/key
    munged --force --key-file=/run/munge/key --socket=/run/munge/munge.socket.2 --pid-file=/run/munge/pid \
        --log-file=/run/munge/log --seed-file=/run/munge/seed
}

case $1 in
conf)
    (umask 077 && head -c 1024 /dev/urandom >"$inside/munge.key")
    # All commands find it here; the machine's own is hidden in these namespaces, not changed.
    mount -t tmpfs tmpfs /etc/slurm
    # No control groups are used. Without this slurmd looks which kind there is, and ends where a host's /sys has none.
    echo "CgroupPlugin=cgroup/v1" >/etc/slurm/cgroup.conf
    cat >/etc/slurm/slurm.conf <<END
ClusterName=hosts
SlurmctldHost=head
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=/run/munge/munge.socket.2
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
MpiDefault=none
ReturnToService=2
StateSaveLocation=$own/state
SlurmdSpoolDir=$own/spool.%n
SlurmctldPidFile=$own/slurmctld.pid
SlurmdPidFile=$own/slurmd.pid
SlurmctldLogFile=$own/slurmctld.log
SlurmdLogFile=$own/slurmd.log
NodeName=h[1-$2] CPUs=2 RealMemory=1000
PartitionName=all Nodes=ALL Default=YES OverSubscribe=FORCE:4 State=UP
END
    ;;
head)
    munge
    mkdir -p "$own/state"
    slurmctld
    ;;
node)
    munge
    name=$(hostname)
    mkdir -p "$own/spool.$name"
    slurmd -N "$name" || {
        echo "slurmd of $name ends at once" >&2
        cat "$own/slurmd.log" >&2
        exit 1
    }
    ;;
ready)
    # The number of tries bounds it: each takes at least a tenth of a second.
    tries=250
    while [ "$(sinfo --noheader --states=idle --format=%D 2>"$own/sinfo")" != "$2" ]; do
        tries=$((tries - 1))
        if [ "$tries" -eq 0 ]; then
            echo "Slurm has no $2 idle nodes" >&2
            cat "$own/sinfo" "$own/slurmctld.log" >&2
            exit 1
        fi
        sleep 0.1
    done
    ;;
esac
