# SPDX-License-Identifier: Apache-2.0
"""Serves a few pages that are not the product's, over TLS: a stranger's site."""

from http.server import BaseHTTPRequestHandler

from certificates import Certificate
from tls_server import TLSServer


class WebServer(TLSServer):
    """Runs while the `with` block lasts, on a port that was free."""

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

        super().__init__(certificate, Handler)
