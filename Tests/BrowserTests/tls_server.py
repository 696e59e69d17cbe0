# SPDX-License-Identifier: Apache-2.0
"""HTTP/1.1 over TLS, in threads of the tests' own process."""

import ssl
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import TracebackType
from typing import Self

from certificates import Certificate

# How soon the end of the server is noticed.
POLL_SECONDS = 0.05


class TLSServer:
    """Runs while the `with` block lasts, on a port that was free unless one is named."""

    def __init__(self, certificate: Certificate, handler: type[BaseHTTPRequestHandler], port: int = 0):
        self._server = ThreadingHTTPServer(("127.0.0.1", port), handler)
        # Clients keep connections that they will not use again.
        self._server.daemon_threads = True
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate.chain, certificate.key)
        context.set_alpn_protocols(["http/1.1"])
        # The handshake is its connection's thread's: who connects and says nothing yet must not keep others waiting.
        self._server.socket = context.wrap_socket(
            self._server.socket, server_side=True, do_handshake_on_connect=False
        )
        self.port: int = self._server.server_address[1]
        self._thread = Thread(target=self._server.serve_forever, args=(POLL_SECONDS,), name="TLS server", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
