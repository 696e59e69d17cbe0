#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bootstrap.sh FOLDER SUITE MIRROR PACKAGES AT-HAND: a minimal Debian with PACKAGES in FOLDER/clean, where apt has
# downloaded AT-HAND, and the same with these installed in FOLDER/complete. Lists have commas between their members.
set -eu
folder=$1 suite=$2 mirror=$3 packages=$4 at_hand=$(echo "$5" | tr , ' ')
archives=var/cache/apt/archives

# apt ROOT OPTION...: with apt-get of that system.
apt() {
    root=$1
    shift
    mount -t proc proc "$root/proc"
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
        chroot "$root" apt-get --yes --quiet --no-install-recommends "$@"
    umount "$root/proc"
}

mkdir "$folder"
debootstrap --variant=minbase --include="$packages" "$suite" "$folder/clean" "$mirror"
rm -f "$folder/clean/$archives"/*.deb
# shellcheck disable=SC2086 # words
apt "$folder/clean" install --download-only $at_hand
cp -a --reflink=auto "$folder/clean" "$folder/complete"
# shellcheck disable=SC2086
apt "$folder/complete" install --no-download $at_hand
rm -f "$folder/complete/$archives"/*.deb
