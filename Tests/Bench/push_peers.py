# SPDX-License-Identifier: Apache-2.0
"""Others that send to the same push service."""

import json
import os
import secrets
import subprocess

from push_log import rate
from servers import spent_by

# What a message's encryption adds (RFC 8291): header, padding mark and tag, in bytes.
ENCRYPTION_BYTES = 86 + 1 + 16
STREAMS, CONNECTIONS = 64, 4


class Peers:
    """
    site: with subscriptions at its fast service
    python: of the virtual environment that requirements.txt is installed in; None without one"""

    def __init__(self, site, text, python):
        self.site, self.text, self.python = site, text, python
        self.folder = site.folder
        self.body = self.folder / "body"
        self.body.write_bytes(secrets.token_bytes(ENCRYPTION_BYTES + len(text)))

    def h2load(self, count):
        """What has no cryptography of its own and no queue: as much as a sender can send at all."""
        uris = self.folder / "uris"
        uris.write_text("".join(self.site.endpoint("fast", number) + "\n" for number in range(count)))
        # As long as a token, which is not to be found in a table of HPACK either the first time.
        token = f"vapid t={secrets.token_urlsafe(180)},k={secrets.token_urlsafe(65)}"
        fields = {"authorization": token, "ttl": "86400", "urgency": "high", "content-encoding": "aes128gcm",
                  "content-type": "application/octet-stream"}
        command = ["h2load", "-n", str(count), "-c", str(CONNECTIONS), "-m", str(STREAMS), "-i", str(uris), "-d", str(self.body)]
        for name, value in fields.items():
            command += ["-H", f"{name}: {value}"]
        return self.result(count, spent_by(command))

    def other(self, kind, count):
        """One of those that python_sender.py knows."""
        file = self.folder / "subscriptions"
        with open(file, "w", encoding="utf-8") as lines:
            for service, number, p256dh, auth in self.site.subscriptions[:count]:
                endpoint = self.site.endpoint(service, number)
                lines.write(json.dumps({"endpoint": endpoint, "keys": {"p256dh": p256dh, "auth": auth}}) + "\n")
        sender = os.path.join(os.path.dirname(__file__), "python_sender.py")
        command = [self.python, sender, kind, str(file), str(self.site.certificate), self.text]
        spent = float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
        return self.result(min(count, len(self.site.subscriptions)), spent)

    def result(self, count, processor_seconds):
        """What has come of it is counted by the service."""
        arrivals = self.site.log.wait(count, 5)
        return {"rate": rate(arrivals), "cpu": processor_seconds * 1e6 / count,
                "connections": len({arrival.connection for arrival in arrivals})}
