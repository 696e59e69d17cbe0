# SPDX-License-Identifier: Apache-2.0
"""Serves a few pages that are not the product's, over TLS: a stranger's site."""

import ssl
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import TracebackType
from typing import Self

from certificates import Certificate


class WebServer:
    """Runs in a thread of its own while the `with` block lasts, on a port that was free."""

    def __init__(self, certificate: Certificate, pages: dict[str, tuple[str, str]]):
        """`pages`: by path, the media type and the text."""

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                kind, text = pages.get(self.path, ("text/plain", ""))
                self.send_response(200 if self.path in pages else 404)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, format: str, *arguments: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate.chain, certificate.key)
        # The handshake is its connection's thread's: who connects and says nothing yet must not keep others waiting.
        self._server.socket = context.wrap_socket(
            self._server.socket, server_side=True, do_handshake_on_connect=False
        )
        self.port: int = self._server.server_address[1]
        self._thread = Thread(target=self._server.serve_forever, name="web server", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
