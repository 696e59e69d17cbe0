# SPDX-License-Identifier: Apache-2.0
"""One push to a browser, by a process that does nothing else meanwhile: another one on the same store takes the send."""

import contextlib
import http.server
import json
import ssl
import subprocess
import threading
import time

from one_backend import PAUSE, RECIPIENT, SECONDS, Backend, Callgrind
from servers import ROOT

# Of RFC 8291, appendix A: the application server's private key, and the browser's keys.
PRIVATE_KEY = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
KEYS = {
    "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    "auth": "BTBZMqHH6r4Tts7J_aSIgg",
}


class Push(http.server.BaseHTTPRequestHandler):
    """Takes it."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(201)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class PushService:
    """Answers at once, over TLS."""

    def __init__(self, folder):
        script = '. "$1/script/nginx-layout" && make_certificate "$2"'
        subprocess.run(["bash", "-ec", script, "bash", str(ROOT), str(folder)], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Push)
        self.server.daemon_threads = True
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.host = f"127.0.0.1:{self.server.server_address[1]}"
        self.settings = {"webPush": {
            "privateKey": PRIVATE_KEY, "subject": "mailto:push@example.com", "privateHosts": [self.host],
            "caFile": str(folder / "cert.pem")}}

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


def deliver(backend):
    """Sends to the recipient's browser; returns when the push is counted as delivered."""
    sent = backend.call("POST", "/api/notifications", f"pns=browser&to_tag={RECIPIENT}", '"hello"')
    path = f"/api/notifications/outcomes/{sent['Outcomes'][0]['NotificationId']}"
    until = time.monotonic() + SECONDS
    while (outcome := backend.call("GET", path))["State"] != "Completed":
        if time.monotonic() > until:
            raise TimeoutError(f"the push is not delivered: {outcome}")
        time.sleep(PAUSE)
    if outcome["Outcomes"][0]["Counts"] != {"Success": 1}:
        raise ValueError(f"the push has failed: {outcome}")


def measure(program, under_callgrind, folder):
    """Returns the files with what a delivery took, one of each thread."""
    with contextlib.ExitStack() as stack:
        service = PushService(folder)
        stack.callback(service.stop)
        delivering = Callgrind(under_callgrind, folder, settings=service.settings, separates_threads=True)
        stack.callback(delivering.stop)
        # It comes second, so the first one holds the lease.
        sending = Backend(program, folder, settings=service.settings, name="second")
        stack.callback(sending.stop)
        path = f"/api/register/{sending.call('POST', '/api/register', user=RECIPIENT)}"
        device = {"Platform": "browser", "Handle": f"https://{service.host}/push/1", "Keys": KEYS}
        sending.call("PUT", path, "", json.dumps(device), user=RECIPIENT)
        # What happens once in a process, and the connection, are not the delivery's.
        deliver(sending)
        delivering.measure_during("delivery", lambda: deliver(sending))
        return delivering.latest_of_threads()
