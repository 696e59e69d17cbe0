# SPDX-License-Identifier: Apache-2.0
"""app-backend with telephones registered at its built-in hub, and Apple's, Google's and Microsoft's push services on
this host: of each one that answers at once, and one that answers as late as a vendor's."""

import json
import re
import secrets
import subprocess

from hub_site import HUB, HubSite, PushService
from servers import free_port

SERVICE_MILLISECONDS = {"fast": 0, "late": 50}
PLATFORMS = ("apns", "fcm", "wns")
TOPIC, KEY_ID, TEAM_ID = "com.example.app", "ABC123DEFG", "DEF123GHIJ"
PROJECT = "app-1"
TITLE, BODY = "From alice", "The quick brown fox jumps over the lazy dog, and the code is 1234567."
NOTIFICATIONS = {
    "apns": json.dumps({"aps": {"alert": {"title": TITLE, "body": BODY}}}),
    "fcm": json.dumps({"message": {"notification": {"title": TITLE, "body": BODY}}}),
    "wns": '<toast><visual><binding template="ToastText02">'
    f'<text id="1">{TITLE}</text><text id="2">{BODY}</text></binding></visual></toast>',
}
FORMATS = {"apns": "apple", "fcm": "fcmv1", "wns": "windows"}
DESCRIPTIONS = {
    "apns": ("Apple", "DeviceToken"), "fcm": ("FcmV1", "FcmV1RegistrationId"), "wns": ("Windows", "ChannelUri")}


class PhoneSite(HubSite):
    """One of each pair of services is in use: the fast ones before `use("late")`."""

    def __init__(self, bin_path, folder):
        super().__init__(bin_path, folder)
        self.ports = {(platform, speed): free_port() for platform in PLATFORMS for speed in SERVICE_MILLISECONDS}
        self.speed = "fast"

    def start(self):
        super().start([self.service(*key) for key in self.ports])

    def service(self, platform, speed):
        token = json.dumps({"access_token": secrets.token_urlsafe(180), "expires_in": 3599, "token_type": "Bearer"})
        grant = f"location = /token {{ default_type application/json; return 200 '{token}'; }}"
        name = json.dumps({"name": f"projects/{PROJECT}/messages/0:1770000000000000%{secrets.token_hex(16)}"})
        of_platform = {
            "apns": {"answer": "add_header apns-id $http_apns_id; return 200;"},
            "fcm": {"answer": f"default_type application/json; return 200 '{name}';", "more": grant,
                    "logged": "$request_body"},
            "wns": {"answer": "add_header X-WNS-Status received; return 200;", "more": grant, "has_http2": False},
        }
        milliseconds = SERVICE_MILLISECONDS[speed]
        return PushService(self.ports[platform, speed], milliseconds, status=200, **of_platform[platform])

    def prepare(self):
        self.apns_key = self.make_key("apns.p8", "EC", "ec_paramgen_curve:P-256")
        account_key = self.make_key("account.pem", "RSA", "rsa_keygen_bits:2048")
        for speed in SERVICE_MILLISECONDS:
            file = self.account(speed)
            file.touch(mode=0o600)
            file.write_text(json.dumps({
                "type": "service_account", "project_id": PROJECT, "private_key_id": "0123456789abcdef",
                "private_key": account_key.read_text(), "client_email": f"sender@{PROJECT}.iam.gserviceaccount.com",
                "token_uri": self.origin("fcm", speed) + "/token"}))

    def make_key(self, name, algorithm, option):
        file = self.folder / name
        command = ["openssl", "genpkey", "-algorithm", algorithm, "-pkeyopt", option, "-out", str(file)]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        file.chmod(0o600)
        return file

    def account(self, speed):
        return self.folder / f"account-{speed}.json"

    def origin(self, platform, speed=None):
        return f"https://localhost:{self.ports[platform, speed or self.speed]}"

    def settings(self):
        certificate = str(self.certificate)
        calls = {platform: {"endpoint": self.origin(platform), "caFile": certificate} for platform in PLATFORMS}
        return {
            "hub": {"name": HUB, "platforms": list(PLATFORMS)},
            "apns": {"keyFile": str(self.apns_key), "keyId": KEY_ID, "teamId": TEAM_ID, "topic": TOPIC,
                     **calls["apns"]},
            "fcm": {"credentialFile": str(self.account(self.speed)), **calls["fcm"]},
            "wns": {"packageSid": "ms-app://s-1-15-2-1", "secret": "secret", **calls["wns"],
                    "tokenEndpoint": self.origin("wns") + "/token"},
        }

    def use(self, speed):
        """Starts app-backend again with the services of that speed."""
        self["app-backend"].terminate()
        self["app-backend"].wait()
        self.speed = speed
        self.start_app_backend()
        self.await_hub()

    @staticmethod
    def handle(platform, number):
        """As long as real ones."""
        match platform:
            case "apns": return f"{number:064x}"
            case "fcm": return f"{number:022d}:" + "A" * 140
            case _: return f"https://db5p.notify.windows.com/w/{number}?token=" + "AwYAAAD%2b" * 12

    @staticmethod
    def number(platform, arrival):
        """Of the device that a push came for."""
        match platform:
            case "apns": return int(arrival.path.rpartition("/")[2], 16)
            case "fcm": return int(re.search(r"token\\x22:\s*\\x22(\d+):", arrival.path).group(1))
            case _: return int(re.match(r"/w/(\d+)", arrival.path).group(1))

    def register_phones(self, count, singles):
        """Of each platform so many that are sent to together, and behind them so many that are sent to alone."""
        for platform in PLATFORMS:
            kind, element = DESCRIPTIONS[platform]
            self.register(
                (f"{platform}-{number}", kind, f"{platform}-{number}" + (f",{platform}" if number < count else ""),
                 {element: self.handle(platform, number)})
                for number in range(count + singles))

    def push(self, platform, number=None):
        """Sends to all of a platform that are sent to together, or to the device of that number.

        Returns the message's id."""
        tag = platform if number is None else f"{platform}-{number}"
        fields = self.send_fields(
            tag, FORMATS[platform], "application/xml" if platform == "wns" else "application/json;charset=utf-8")
        if platform == "wns":
            fields["X-WNS-Type"] = "wns/toast"
        return self.send(NOTIFICATIONS[platform], fields)
