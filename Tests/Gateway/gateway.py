# SPDX-License-Identifier: Apache-2.0
"""Asks a responder as a web server does: one FastCGI request over one connection, or several one after another."""

import base64
import socket
import struct
from dataclasses import dataclass
from pathlib import Path

BEGIN, END, PARAMETERS, INPUT, OUTPUT = 1, 3, 4, 5, 6
RESPONDER_ROLE, KEEP_CONNECTION = 1, 1
ANSWER_SECONDS = 60


@dataclass
class Answer:
    status: int
    body: bytes


def ask(path: Path, parameters: dict[str, str], body: bytes = b"") -> Answer:
    """Raises OSError when there is no answer, or it is cut off."""
    with connect(path) as connection:
        return exchange(connection, parameters, body)


def connect(path: Path) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(ANSWER_SECONDS)
    try:
        connection.connect(str(path))
    except OSError:
        connection.close()
        raise
    return connection


def exchange(connection: socket.socket, parameters: dict[str, str], body: bytes = b"", keeps: bool = False) -> Answer:
    """One request and its answer. `keeps`: the responder leaves the connection open for the next one."""
    pairs = b"".join(pair(name.encode(), value.encode()) for name, value in parameters.items())
    begin = struct.pack(">HB5x", RESPONDER_ROLE, KEEP_CONNECTION if keeps else 0)
    connection.sendall(record(BEGIN, begin) + stream(PARAMETERS, pairs) + stream(INPUT, body))
    return parse(output(connection))


def parameters(method: str, path: str, query: str = "", body: bytes = b"", user: str = "") -> dict[str, str]:
    """A request's variables, as a web server sends them. The user's password is the name; without one there is none."""
    found = {
        "REQUEST_METHOD": method, "REQUEST_URI": path + (f"?{query}" if query else ""), "DOCUMENT_URI": path,
        "QUERY_STRING": query, "REQUEST_SCHEME": "https", "SERVER_PROTOCOL": "HTTP/1.1", "HTTP_HOST": "localhost",
        "REMOTE_ADDR": "127.0.0.1", "CONTENT_LENGTH": str(len(body)),
    }
    if user:
        found["HTTP_AUTHORIZATION"] = "Basic " + base64.b64encode(f"{user}:{user}".encode()).decode()
    if body:
        found["CONTENT_TYPE"] = "application/json"
    return found


def record(kind: int, content: bytes) -> bytes:
    return struct.pack(">BBHHBx", 1, kind, 1, len(content), 0) + content


def stream(kind: int, content: bytes) -> bytes:
    return (record(kind, content) if content else b"") + record(kind, b"")


def pair(name: bytes, value: bytes) -> bytes:
    return length(name) + length(value) + name + value


def length(text: bytes) -> bytes:
    return bytes([len(text)]) if len(text) < 128 else struct.pack(">I", len(text) | 1 << 31)


def output(connection: socket.socket) -> bytes:
    found = b""
    while True:
        _, kind, _, size, padding = struct.unpack(">BBHHBx", read(connection, 8))
        content = read(connection, size + padding)[:size]
        if kind == OUTPUT:
            found += content
        elif kind == END:
            return found


def read(connection: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        part = connection.recv(size - len(found))
        if not part:
            raise ConnectionResetError("the answer is cut off")
        found += part
    return found


def parse(text: bytes) -> Answer:
    head, _, body = text.partition(b"\r\n\r\n")
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"status":
            return Answer(int(value.split()[0]), body)
    return Answer(200, body)
