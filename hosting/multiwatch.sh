#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Four processes of the program behind one socket, for an nginx (or any web server) that speaks FastCGI to a socket and
# starts nothing. To lie beside the program; runs until SIGTERM, and then none of its processes is left. The socket's file
# stays, and the next start replaces it.
#
#   multiwatch.sh [SOCKET]      app-backend.sock beside this file when none is named
set -eu

cd "$(dirname "$0")"
umask 077
# A crash report prints memory, and so does a core dump, and memory holds passwords.
export SWIFT_BACKTRACE=enable=no
# shellcheck disable=SC3045 # every sh that these hosts have knows it
ulimit -c 0
# multiwatch hands SIGTERM on as SIGUSR1, which ends the program when the calls in flight are answered. Not with --signal=,
# which means other signals than it says (multiwatch 1.0.0).
exec spawn-fcgi -n -s "${1:-app-backend.sock}" -M 0660 -- /usr/bin/multiwatch --forks=4 -- ./app-backend serve
