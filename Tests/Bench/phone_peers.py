# SPDX-License-Identifier: Apache-2.0
"""Others that send to the same push services as app-backend."""

import os
import secrets
import subprocess
import sys
import uuid

from phone_site import KEY_ID, NOTIFICATIONS, PROJECT, TEAM_ID, TOPIC
from push_log import rate
from servers import spent_by

STREAMS = 400  # as many as the hub has in flight at one service
CONNECTIONS = {"apns": 1, "fcm": 1, "wns": 64}
SENDERS = {"aioapns": "apns", "firebase-admin": "fcm"}


class PhonePeers:
    """
    python: of the virtual environment that phone-requirements.txt is installed in; None without one"""

    def __init__(self, site, python):
        self.site, self.python = site, python
        self.names = tuple(SENDERS) if python else ()

    def h2load(self, platform, count):
        """What has no cryptography of its own and no queue: as much as the service takes at all."""
        uris, body = self.site.folder / "uris", self.site.folder / "body"
        handles = [self.site.handle(platform, number) for number in range(1_000)]
        origin = self.site.origin(platform)
        # As long as a token.
        fields = {"authorization": "bearer " + secrets.token_urlsafe(180)}
        match platform:
            case "apns":
                paths = ["/3/device/" + handle for handle in handles]
                fields |= {"apns-topic": TOPIC, "apns-push-type": "alert", "apns-id": str(uuid.uuid4())}
            case "fcm": paths = [f"/v1/projects/{PROJECT}/messages:send"]
            case _:
                paths = [handle.partition(".com")[2] for handle in handles]
                fields |= {"x-wns-type": "wns/toast", "content-type": "text/xml"}
        uris.write_text("".join(f"{origin}{path}\n" for path in paths))
        body.write_text(NOTIFICATIONS[platform])
        connections = CONNECTIONS[platform]
        command = ["h2load", "-n", str(count), "-c", str(connections), "-i", str(uris), "-d", str(body)]
        command += ["--h1"] if platform == "wns" else ["-m", str(STREAMS)]
        for name, value in fields.items():
            command += ["-H", f"{name}: {value}"]
        return self.result(count, spent_by(command))

    def other(self, name, count):
        """One of those that phone_sender.py knows."""
        platform = SENDERS[name]
        handles = self.site.folder / "handles"
        handles.write_text("".join(self.site.handle(platform, number) + "\n" for number in range(count)))
        sender = os.path.join(os.path.dirname(__file__), "phone_sender.py")
        credential = str(self.site.account(self.site.speed))
        if platform == "apns":
            credential = f"{KEY_ID},{TEAM_ID},{TOPIC},{self.site.apns_key}"
        command = [self.python, sender, name, str(handles), self.site.origin(platform), credential]
        command.append(NOTIFICATIONS[platform])
        certificate = str(self.site.certificate)
        environment = os.environ | {"SSL_CERT_FILE": certificate, "REQUESTS_CA_BUNDLE": certificate}
        told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout
        return self.result(count, float(told))

    def result(self, count, processor_seconds):
        """What has come of it is counted by the service."""
        arrivals = self.site.log.wait(count, 5)
        failed = sum(arrival.status != 200 for arrival in arrivals)
        if failed:
            sys.exit(f"{failed} of {len(arrivals)} pushes of another sender were refused")
        return {"rate": rate(arrivals), "cpu": processor_seconds * 1e6 / count,
                "connections": len({arrival.connection for arrival in arrivals})}
