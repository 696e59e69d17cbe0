# SPDX-License-Identifier: Apache-2.0
"""app-backend with browsers registered at its built-in hub, and two push services of their own: one that answers at once,
and one that answers as late as a vendor's."""

import hashlib
import subprocess

from hub_site import HUB, HubSite, PushService
from servers import free_port

SERVICE_MILLISECONDS = 50  # what the late service takes to answer


class PushSite(HubSite):
    def __init__(self, bin_path, folder):
        super().__init__(bin_path, folder)
        self.ports = {"fast": free_port(), "late": free_port()}

    def start(self):
        super().start([PushService(self.ports["fast"]), PushService(self.ports["late"], SERVICE_MILLISECONDS)])

    def settings(self):
        return {
            "hub": {"name": HUB, "platforms": ["browser"]},
            "webPush": {
                "subject": "mailto:push@example.com", "caFile": str(self.certificate),
                "privateHosts": [f"127.0.0.1:{port}" for port in self.ports.values()]}}

    def endpoint(self, service, number):
        return f"https://127.0.0.1:{self.ports[service]}{self.path(service, number)}"

    @staticmethod
    def path(service, number):
        """As long as the paths of real services, of which only the end is of use here."""
        return f"/{service}/{hashlib.sha256(str(number).encode()).hexdigest()}-{number}"

    def register_browsers(self, counts):
        """Registers so many browsers at each service; each has the service's tag and one of its own."""
        total = sum(counts.values())
        program = self.bin_path / "web-push-bench"
        lines = subprocess.run([program, "keys", str(total)], check=True, capture_output=True, text=True).stdout
        keys = iter(lines.splitlines())
        devices = [(service, number, *next(keys).split()) for service, count in counts.items() for number in range(count)]
        self.subscriptions = [device for device in devices if device[0] == "fast"]
        self.register(
            (f"{service}-{number}", "Browser", f"{service},{service}-{number}",
             {"Endpoint": self.endpoint(service, number), "P256DH": p256dh, "Auth": auth})
            for service, number, p256dh, auth in devices)

    def push(self, tags, text):
        """Sends to browsers; returns the message's id."""
        return self.send(text, self.send_fields(tags))
