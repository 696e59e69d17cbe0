#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a web server starts, from the folder that it serves: it becomes the program, which lies outside that folder with its
# configuration, its store and its keys. Mode 700. A link would do the same, but suEXEC starts none.

# Where the program lies, seen from here: public_html and app-backend are neighbours.
folder=../app-backend

cd "$(dirname "$0")" && cd "$folder" || exit 1
umask 077
# A crash report prints memory, and so does a core dump, and memory holds passwords.
export SWIFT_BACKTRACE=enable=no
# shellcheck disable=SC3045 # every sh that these hosts have knows it
ulimit -c 0
# Standard error is the server's error log. Where that cannot be read: exec ./app-backend serve 2>> app-backend.log
exec ./app-backend serve
