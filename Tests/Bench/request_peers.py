# SPDX-License-Identifier: Apache-2.0
"""Peers of `script/bench --peers`: a program in Go behind nginx by HTTP, and PHP-FPM with its opcode cache."""

import glob
import os
import shutil
import subprocess

from servers import ROOT

SOURCES = ROOT / "Tests/Bench/peers"
# PHP answers one request a process at a time.
PHP_PROCESSES = 32


def build(folder):
    """Compiles the program in Go."""
    environment = {**os.environ, "GOCACHE": str(folder / "go-cache"), "GO111MODULE": "off"}
    command = ["go", "build", "-o", str(folder / "reader"), str(SOURCES / "reader.go")]
    subprocess.run(command, check=True, env=environment)


def locations(site, call):
    """What nginx needs for them, in `http` and in `server`. `call`: the parameters of a FastCGI request."""
    upstreams = f"""
        upstream go {{ server unix:{site.sockets}/go; keepalive 128; keepalive_timeout 60s; }}
        upstream php {{ server unix:{site.sockets}/php; keepalive 128; keepalive_timeout 60s; }}"""
    return upstreams, f"""
        location ^~ /go {{ proxy_http_version 1.1; proxy_set_header Connection ""; proxy_pass http://go; }}
        location ^~ /php {{
            {call}
            fastcgi_param SCRIPT_FILENAME {SOURCES}/reader.php;
            fastcgi_param BENCH_CREDENTIALS "{site.credentials}";
            fastcgi_param BENCH_FILE {site.bucket_link};
            fastcgi_pass php;
        }}"""


def start(site):
    """Starts both; they end with the measurement."""
    site.spawn("go", [str(site.folder / "reader"), str(site.sockets / "go"), site.credentials, str(site.bucket_link)])
    # Debian has the version in the name.
    program = shutil.which("php-fpm") or max(glob.glob("/usr/sbin/php-fpm*"))
    pool = site.write("php-fpm.conf", f"""
[global]
error_log = {site.folder}/php-fpm-error.log
daemonize = no
[bench]
listen = {site.sockets}/php
listen.backlog = 1024
pm = static
pm.max_children = {PHP_PROCESSES}
php_admin_value[opcache.enable] = 1
php_admin_value[opcache.validate_timestamps] = 0
""")
    allow_root = ["--allow-to-run-as-root"] if os.geteuid() == 0 else []
    if allow_root:
        with open(pool, "a", encoding="utf-8") as file:
            file.write("user = root\n")
    site.spawn("php", [program, "--nodaemonize", *allow_root, "--fpm-config", str(pool)])
