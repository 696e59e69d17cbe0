#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# chrooted.sh ROOT PROGRAM CALLED [ARGUMENT...]: becomes PROGRAM of ROOT, which is there under the path that it was called
# by. To be run with mounts of its own; ROOT shows the folder of CALLED.
set -eu
root=$1 program=$2 called=$3
shift 3
mount --bind "$root$program" "$root$(realpath "$called")"
# chroot(1) goes to the top. Where the root does not have the folder that we are in, the caller did not mean it.
exec chroot "$root" /bin/sh -ec 'cd "$0" 2> /dev/null || cd /; exec "$@"' "$PWD" "$called" "$@"
