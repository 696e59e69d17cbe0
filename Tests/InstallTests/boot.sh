#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# boot.sh ROOT: in fresh namespaces, makes ROOT the whole file system and systemd its first process.
set -eu
root=$1

ip link set lo up
mount --make-rprivate /
mount -t proc proc "$root/proc"
# The kernel's settings are everybody's: what Debian would set at boot must not reach this machine.
mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,bind,ro "$root/proc/sys"
# Read-only, as in every container: there are no devices to look after, so that udev does not start.
mount -t sysfs -o ro sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs -o mode=755,nosuid,nodev tmpfs "$root/run"
mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs "$root/tmp"

cd "$root"
mkdir -p .old
pivot_root . .old
# Shared, as systemd makes it on a machine: what it mounts for a service (credentials) must reach that service. It leaves
# that to the container's manager where `container` says that it is in one.
exec env -i container=tests PATH=/usr/sbin:/usr/bin:/sbin:/bin sh -c '
    umount -l /.old
    rmdir /.old
    mount --make-rshared /
    exec /lib/systemd/systemd --system --unit=multi-user.target --log-level=info --show-status=no'
