# SPDX-License-Identifier: Apache-2.0
"""Sockets in another process's network."""

import ctypes
import os
import socket

CLONE_NEWNET = 0x40000000  # linux/sched.h
_libc = ctypes.CDLL(None, use_errno=True)


class Network:
    """The network that a process sees. May be used by any thread: only the calling one is led there, for a moment."""

    def __init__(self, process: int):
        self._file = os.open(f"/proc/{process}/ns/net", os.O_RDONLY | os.O_CLOEXEC)

    def socket(self) -> socket.socket:
        """A TCP socket that stays in that network."""
        own = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        try:
            _enter(self._file)
            try:
                return socket.socket()
            finally:
                _enter(own)
        finally:
            os.close(own)

    def close(self) -> None:
        os.close(self._file)


def _enter(namespace: int) -> None:
    if _libc.setns(namespace, CLONE_NEWNET) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
