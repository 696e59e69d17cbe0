# SPDX-License-Identifier: Apache-2.0
"""app-backend with browsers registered at its built-in hub, and two push services of their own: one that answers at once,
and one that answers as late as a vendor's."""

import base64
import concurrent.futures
import hashlib
import hmac
import http.client
import json
import pathlib
import re
import secrets
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.parse

from push_log import ArrivalLog
from servers import ANSWER_SECONDS, ROOT, Servers, free_port, until

HUB = "app-backend"
KEY_NAME = "bench"
SERVICE_MILLISECONDS = 50  # what the late service takes to answer
REGISTERING = 16  # registrations that are made at once
NAMESPACE = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"


class PushSite(Servers):
    def __init__(self, bin_path, folder):
        super().__init__(folder)
        self.bin_path = pathlib.Path(bin_path).resolve()
        # A unix socket's path has 107 bytes.
        self.sockets = pathlib.Path(tempfile.mkdtemp(prefix="bench-"))
        self.store = self.folder / "store"
        self.front, self.ports = free_port(), {"fast": free_port(), "late": free_port()}
        self.key = secrets.token_urlsafe(32)
        self.connection = threading.local()

    def start(self):
        shutil.rmtree(self.store, ignore_errors=True)
        self.make_certificate()
        self.start_app_backend()
        binary = self.spawn_nginx(self.sockets / "swift", f"""
            server {{
                listen 127.0.0.1:{self.front};
                keepalive_requests 1000000;
                include snippets/app-backend-hub.conf;
            }}""")
        self.start_push_services(binary)
        self.log = until(lambda: ArrivalLog(self.folder / "service" / "push.log"), ANSWER_SECONDS)
        until(lambda: self.ask("GET", "/registrations?$top=1"), ANSWER_SECONDS)

    def make_certificate(self):
        script = '. "$1/script/nginx-layout" && make_certificate "$2"'
        subprocess.run(["bash", "-ec", script, "bash", str(ROOT), str(self.folder)], check=True)
        self.certificate = self.folder / "cert.pem"

    def start_app_backend(self):
        program, config = self.bin_path / "app-backend", self.folder / "app-backend.json"
        config.write_text(json.dumps({
            "listen": str(self.sockets / "swift"), "store": {"path": str(self.store)},
            "hub": {"name": HUB, "platforms": ["browser"]},
            "localHub": {"serve": True, "keyName": KEY_NAME, "key": self.key},
            "webPush": {
                "subject": "mailto:push@example.com", "caFile": str(self.certificate),
                "privateHosts": [f"127.0.0.1:{port}" for port in self.ports.values()]}}))
        config.chmod(0o600)
        command = [program, "keys", "vapid", "--config", str(config)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.spawn("app-backend", [program, "serve", "--config", str(config)])

    def start_push_services(self, nginx):
        """nginx writes down when what has arrived.

        Like real ones they have read a push whole when they answer. Nginx reads a body only for a handler, here for a
        mirror that wants none; the answer is the 405 of a handler that takes no POST, made a 201. Before that the late
        one refuses who has no password, which is what nginx can delay."""
        folder = self.folder / "service"
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "tmp").mkdir(parents=True)
        (folder / "no-users").write_text("")
        version = subprocess.run([nginx, "-v"], capture_output=True, text=True, check=True).stderr
        is_new = tuple(map(int, re.search(r"/(\d+)\.(\d+)\.(\d+)", version).groups())) >= (1, 25, 1)
        tls = f"""ssl_certificate {self.certificate};
            ssl_certificate_key {self.folder}/key.pem;
            {"http2 on;" if is_new else ""}"""
        taken = "mirror /none; empty_gif; error_page 405 =201 @created;"
        created = "location = /none { internal; return 204; } location @created { return 201; }"
        listen = "ssl" if is_new else "ssl http2"
        temporary = "".join(
            f"{name}_temp_path {folder}/tmp/{name};\n" for name in ("client_body", "fastcgi", "proxy", "scgi", "uwsgi"))
        (folder / "nginx.conf").write_text(f"""
            daemon off;
            worker_processes 1;
            pid {folder}/nginx.pid;
            error_log {folder}/error.log warn;
            events {{ worker_connections 1024; }}
            http {{
                {temporary}
                log_format push '$msec $connection $connection_requests $request_time $body_bytes_sent/$request_length '
                                '$server_protocol $status $request_uri';
                access_log {folder}/push.log push buffer=64k flush=100ms;
                keepalive_requests 100000000;
                recursive_error_pages on;
                server {{
                    listen 127.0.0.1:{self.ports["fast"]} {listen};
                    {tls}
                    location / {{ {taken} }}
                    {created}
                }}
                server {{
                    listen 127.0.0.1:{self.ports["late"]} {listen};
                    {tls}
                    location / {{
                        auth_delay {SERVICE_MILLISECONDS}ms;
                        auth_basic push;
                        auth_basic_user_file {folder}/no-users;
                        error_log /dev/null emerg;
                        error_page 401 =201 @taken;
                    }}
                    location @taken {{ {taken} }}
                    {created}
                }}
            }}""")
        self.spawn("service", [nginx, "-p", str(folder), "-c", str(folder / "nginx.conf")])

    def endpoint(self, service, number):
        return f"https://127.0.0.1:{self.ports[service]}{self.path(service, number)}"

    @staticmethod
    def path(service, number):
        """As long as the paths of real services, of which only the end is of use here."""
        return f"/{service}/{hashlib.sha256(str(number).encode()).hexdigest()}-{number}"

    # What a backend says to its hub.

    def authorization(self):
        resource = urllib.parse.quote_plus(f"https://localhost/{HUB}".lower()).lower()
        expiry = int(time.time()) + 3600
        mac = hmac.new(self.key.encode(), f"{resource}\n{expiry}".encode(), hashlib.sha256).digest()
        signature = urllib.parse.quote_plus(base64.b64encode(mac))
        return f"SharedAccessSignature sr={resource}&sig={signature}&se={expiry}&skn={KEY_NAME}"

    def ask(self, method, path, body=None, fields=None):
        """One call on this thread's connection; returns the answer's fields and body."""
        if not hasattr(self.connection, "kept"):
            self.connection.kept = http.client.HTTPConnection("localhost", self.front, timeout=60)
        connection = self.connection.kept
        try:
            connection.request(method, self.url(path), body, {"Authorization": self.authorization(), **(fields or {})})
            answer = connection.getresponse()
            text = answer.read().decode()
        except (http.client.HTTPException, OSError):
            connection.close()
            raise
        if answer.status not in (200, 201):
            raise OSError(f"{method} {path.partition('?')[0]}: {answer.status} {text}")
        return answer.headers, text

    def url(self, path):
        return f"http://localhost:{self.front}/{HUB}{path}{'&' if '?' in path else '?'}api-version=2020-06"

    @staticmethod
    def send_fields(tags):
        return {"Content-Type": "application/json;charset=utf-8", "ServiceBusNotification-Format": "browser",
                "ServiceBusNotification-Tags": tags}

    def register(self, counts):
        """Registers so many browsers at each service; each has the service's tag and one of its own."""
        total = sum(counts.values())
        program = self.bin_path / "web-push-bench"
        lines = subprocess.run([program, "keys", str(total)], check=True, capture_output=True, text=True).stdout
        keys = iter(lines.splitlines())
        devices = [(service, number, *next(keys).split()) for service, count in counts.items() for number in range(count)]
        self.subscriptions = [device for device in devices if device[0] == "fast"]
        with concurrent.futures.ThreadPoolExecutor(REGISTERING) as pool:
            for _ in pool.map(lambda device: self.put(*device), devices, chunksize=64):
                pass

    def put(self, service, number, p256dh, auth):
        description = (
            f'<BrowserRegistrationDescription xmlns="{NAMESPACE}"><Tags>{service},{service}-{number}</Tags>'
            f"<Endpoint>{self.endpoint(service, number)}</Endpoint><P256DH>{p256dh}</P256DH><Auth>{auth}</Auth>"
            "</BrowserRegistrationDescription>")
        entry = f'<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">{description}</content></entry>'
        self.ask("PUT", f"/registrations/{service}-{number}", entry, {"Content-Type": "application/atom+xml;type=entry"})

    def send(self, tags, text):
        """Returns the message's id."""
        headers, _ = self.ask("POST", "/messages", text, self.send_fields(tags))
        return urllib.parse.urlsplit(headers["Location"]).path.rpartition("/")[2]

    def outcomes(self, message):
        """Of a message that is done with: how many devices met which fate."""
        def look():
            _, text = self.ask("GET", f"/messages/{message}")
            if "<EndTime>" not in text:
                raise OSError(f"message {message} is not done with")
            return text
        text = until(look, ANSWER_SECONDS)
        return {name: int(count) for name, count in re.findall(r"<Name>(\w+)</Name><Count>(\d+)</Count>", text)}

    def stop(self):
        super().stop()
        shutil.rmtree(self.sockets, ignore_errors=True)
        shutil.rmtree(self.store, ignore_errors=True)
