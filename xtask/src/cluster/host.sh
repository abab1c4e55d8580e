#!/bin/sh
# Process 1 of a test host: own name, /tmp, /dev/shm and /run; then it becomes the daemon that lets others in.
#
#   host.sh FOLDER NUMBER MANAGER
set -eu
folder=$1 name=h$2 manager=$3
inside=/run/cluster
hostname "$name"
mount -t sysfs sysfs /sys
# What all hosts share of the head's /run stays; the rest is the host's own.
mkdir "/tmp/$name"
mount --bind "$inside" "/tmp/$name"
mount -t tmpfs tmpfs /run
mkdir -p "$inside" /run/sshd
mount --move "/tmp/$name" "$inside"
mount -t tmpfs tmpfs /tmp
mount -t tmpfs tmpfs /dev/shm
cat >"/run/sshd_config" <<END
Port 22
HostKey $inside/key
AuthorizedKeysFile $inside/authorized
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
PrintMotd no
UseDNS no
MaxStartups 100
PidFile $folder/$name.sshd
SetEnv SHLVL=1
END
# With a level, bash does not take a login for the first one and reads no ~/.bashrc: what that does is this machine's, its files are on the
# disc that all hosts share, and a host that is killed there leaves locks.
[ "$manager" != slurm ] || sh "$(dirname "$0")/slurm.sh" node
# sshd wants its own path. It also reaps whatever ends here without a parent.
exec "$(command -v sshd)" -D -e -f /run/sshd_config
