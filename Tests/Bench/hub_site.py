# SPDX-License-Identifier: Apache-2.0
"""app-backend whose hub is called as Azure's is, and push services on this host, whose log says what came."""

import base64
import concurrent.futures
import dataclasses
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
REGISTERING = 16  # registrations that are made at once
NAMESPACE = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"


@dataclasses.dataclass(frozen=True)
class PushService:
    """A server of nginx that answers every push alike, when it has read it whole."""

    port: int
    # How late it answers.
    milliseconds: int = 0
    has_http2: bool = True
    status: int = 201
    # nginx's directives for the answer.
    answer: str = "return 201;"
    # Further locations.
    more: str = ""
    # What the log says at the end of the line of a push.
    logged: str = "$request_uri"


class HubSite(Servers):
    def __init__(self, bin_path, folder):
        super().__init__(folder)
        self.bin_path = pathlib.Path(bin_path).resolve()
        # A unix socket's path has 107 bytes.
        self.sockets = pathlib.Path(tempfile.mkdtemp(prefix="bench-"))
        self.store = self.folder / "store"
        self.front = free_port()
        self.key = secrets.token_urlsafe(32)
        self.connection = threading.local()

    def start(self, services):
        """
        services: the push services to start"""
        shutil.rmtree(self.store, ignore_errors=True)
        script = '. "$1/script/nginx-layout" && make_certificate "$2"'
        subprocess.run(["bash", "-ec", script, "bash", str(ROOT), str(self.folder)], check=True)
        self.certificate = self.folder / "cert.pem"
        self.prepare()
        self.start_app_backend()
        binary = self.spawn_nginx(self.sockets / "swift", f"""
            server {{
                listen 127.0.0.1:{self.front};
                keepalive_requests 1000000;
                include snippets/app-backend-hub.conf;
            }}""")
        self.start_push_services(binary, services)
        self.log = until(lambda: ArrivalLog(self.folder / "service" / "push.log"), ANSWER_SECONDS)
        self.await_hub()

    def prepare(self):
        """Makes what the configuration names."""

    def settings(self):
        """What the configuration has beside the hub's own settings."""
        raise NotImplementedError

    def start_app_backend(self):
        program, config = self.bin_path / "app-backend", self.folder / "app-backend.json"
        config.touch(mode=0o600)
        config.write_text(json.dumps({
            "listen": str(self.sockets / "swift"), "store": {"path": str(self.store)},
            "localHub": {"serve": True, "keyName": KEY_NAME, "key": self.key, "registrationsPerMinute": 0},
            **self.settings()}))
        if "webPush" in self.settings():
            command = [program, "keys", "vapid", "--config", str(config)]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.spawn("app-backend", [program, "serve", "--config", str(config)])

    def await_hub(self):
        until(lambda: self.ask("GET", "/registrations?$top=1"), ANSWER_SECONDS)

    def start_push_services(self, nginx, services):
        """nginx writes down when what has arrived."""
        folder = self.folder / "service"
        temporary, is_new = self.empty_nginx(nginx, folder)
        servers = "\n".join(self.server(folder, number, service, is_new) for number, service in enumerate(services))
        (folder / "nginx.conf").write_text(f"""
            daemon off;
            worker_processes 1;
            pid {folder}/nginx.pid;
            error_log {folder}/error.log warn;
            events {{ worker_connections 1024; }}
            http {{
                {temporary}
                ssl_certificate {self.certificate};
                ssl_certificate_key {self.folder}/key.pem;
                keepalive_requests 100000000;
                http2_max_concurrent_streams 1000;
                recursive_error_pages on;
                client_body_buffer_size 16k;
                {servers}
            }}""")
        self.spawn("service", [nginx, "-p", str(folder), "-c", str(folder / "nginx.conf")])

    @staticmethod
    def server(folder, number, service, is_new):
        """Like real ones it has read a push whole when it answers. nginx reads a body only for a handler, here for a
        mirror that wants none; the answer is the 405 of a handler that takes no POST, made another one. A late service
        first refuses a request without a password, which is what nginx can delay."""
        taken = f"mirror /none; empty_gif; error_page 405 ={service.status} @answer;"
        late = f"""auth_delay {service.milliseconds}ms;
                        auth_basic push;
                        auth_basic_user_file {folder}/no-users;
                        error_log /dev/null emerg;
                        error_page 401 ={service.status} @taken;"""
        http2_option = " http2" if service.has_http2 and not is_new else ""
        return f"""
                log_format push{number} '$msec $connection $connection_requests $request_time '
                    '$body_bytes_sent/$request_length $server_protocol $status {service.logged}';
                server {{
                    listen 127.0.0.1:{service.port} ssl{http2_option};
                    {"http2 on;" if service.has_http2 and is_new else ""}
                    access_log {folder}/push.log push{number} buffer=64k flush=100ms;
                    location / {{ {late if service.milliseconds else taken} }}
                    location @taken {{ {taken} }}
                    location = /none {{ internal; return 204; }}
                    location @answer {{ {service.answer} }}
                    {service.more}
                }}"""

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
    def send_fields(tags, form="browser", content_type="application/json;charset=utf-8"):
        return {"Content-Type": content_type, "ServiceBusNotification-Format": form,
                "ServiceBusNotification-Tags": tags}

    def register(self, devices):
        """
        devices: of each its id, its tags and the parts of its description, in order"""
        with concurrent.futures.ThreadPoolExecutor(REGISTERING) as pool:
            for _ in pool.map(lambda device: self.put(*device), devices, chunksize=64):
                pass

    def put(self, name, kind, tags, parts):
        content = "".join(f"<{part}>{value}</{part}>" for part, value in parts.items())
        element = f"{kind}RegistrationDescription"
        description = f'<{element} xmlns="{NAMESPACE}"><Tags>{tags}</Tags>{content}</{element}>'
        content = f'<content type="application/xml">{description}</content>'
        entry = f'<entry xmlns="http://www.w3.org/2005/Atom">{content}</entry>'
        self.ask("PUT", f"/registrations/{name}", entry, {"Content-Type": "application/atom+xml;type=entry"})

    def send(self, text, fields):
        """Returns the message's id."""
        headers, _ = self.ask("POST", "/messages", text, fields)
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
