# SPDX-License-Identifier: Apache-2.0
"""What root types on one host, page by page, and what is not typed there, and why."""

from places import ALICE, ANSWERED, API, AS_ALICE, FORGET, ID_OF_LOG, LAST_ID, REGISTER, RESTART, START, STOP, STORE
from walk import Step
from walks_settings import SETTINGS

# What the host's editor writes.
EDIT_SOCKET = "printf '[Socket]\\nSocketGroup=nginx\\n' > /root/edited"

README = [
    Step("apt install ./app-backend_0.1.0_amd64.deb", "app-backend init", typed="y\n", after="sh /root/include-snippet"),
    # Where it cannot ask, options answer.
    Step(
        "app-backend init",
        "^added alice$",
        typed="alice-1234\n",
        places={"init": "init --subject you@example.com --user alice"},
        after="echo bob-123456 | app-backend user add bob",
    ),
    # For a moment the workers of the old configuration go on answering.
    Step(
        "nginx -t && systemctl reload nginx && systemctl restart app-backend",
        "test is successful",
        after=f"{ANSWERED} {API}/config && {ANSWERED} https://push.example.com/admin | grep '<html'",
    ),
    Step(
        "app-backend doctor --url https://push.example.com",
        "^ok +nginx +https://push.example.com leads to the service",
    ),
    Step(
        f"""curl -u alice {API}/notifications --json '{{"To": "bob", "Title": "Lunch", "Body": "At noon"}}'""",
        '^(?=.*"MessageId":"(?P<ID>[^"]+)")(?=.*"NotificationId":"(?P<SEND>[^"]+)")',
        places=AS_ALICE,
    ),
    Step(f"curl -u alice {API}/notifications/ID/timeline", '"State":"NoTargetFound"', places=AS_ALICE),
]
DEPLOYMENT = [
    Step("cp /usr/share/doc/app-backend/examples/site.conf /etc/nginx/sites-available/app-backend.conf"),
    Step(
        "sed -i s/push.example.com/NAME/ /etc/nginx/sites-available/app-backend.conf",
        places={"NAME": "www.example.com"},
        after="grep 'server_name www.example.com;' /etc/nginx/sites-available/app-backend.conf",
    ),
    Step("ln -s ../sites-available/app-backend.conf /etc/nginx/sites-enabled/"),
    Step(
        "nginx -t && systemctl reload nginx",
        "test is successful",
        # A worker with the former configuration may still be there.
        after=f"{ANSWERED} https://www.example.com/ | grep '<html'",
    ),
    Step(
        "app-backend keys vapid",
        "^[A-Za-z0-9_-]{87}$",
        before="cp /root/configuration.json /etc/app-backend/app-backend.json",
    ),
    Step("systemctl restart app-backend", after="systemctl is-active app-backend"),
    Step("app-backend user add alice", "^added grace$", places={"alice": "grace"}, typed="grace-1234\n"),
    Step(f"curl -u alice {API}/register", r"^\[\]", places=AS_ALICE),
    Step(
        "app-backend user import-htpasswd FILE",
        "carol",
        places={"FILE": "/root/htpasswd"},
        before="printf 'carol:%s\\n' \"$(openssl passwd -6 carol-1234)\" > /root/htpasswd",
    ),
    Step("journalctl -u app-backend", "listens on standard input"),
    Step("systemctl status app-backend", "Active: active"),
    Step("systemctl reload app-backend", after="systemctl is-active app-backend"),
]
PACKAGE = [
    Step(
        "systemctl edit app-backend.socket",
        terminal=True,
        before=EDIT_SOCKET,
        after="systemctl cat app-backend.socket | grep SocketGroup=nginx && systemctl revert app-backend.socket",
    ),
    Step("systemctl restart app-backend.socket", before="systemctl stop app-backend.service"),
]
ADMIN = [
    Step("app-backend user add root --role administrator", "^added root$", typed="root-12345\n"),
    Step(
        "app-backend user change NAME --role administrator",
        places={"NAME": "carol"},
        after="app-backend user show carol | grep administrator",
    ),
    Step("app-backend doctor --url https://push.example.com", "^ok +nginx"),
]
NGINX = [
    Step(
        "app-backend doctor --url https://shop.example.com/push",
        "^ok +nginx +https://shop.example.com/push leads to the service",
        before="cp /root/shop.conf /etc/nginx/conf.d/ && nginx -t && systemctl restart nginx",
    )
]
OPERATION = [
    Step("openssl x509 -enddate -noout -in FILE", "^notAfter=", places={"FILE": "/etc/ssl/private/tests/cert.pem"}),
    Step("systemctl status app-backend.socket app-backend nginx", "nginx.service"),
    Step("journalctl -u app-backend -p err", "-- No entries --"),
    Step("journalctl -u app-backend -p warning"),
    Step("app-backend user disable NAME", places={"NAME": "bob"}),
    Step("app-backend user show NAME", "disabled", places={"NAME": "bob"}),
    Step(
        "app-backend device list NAME",
        "^(?P<DEVICE>[0-9]+-[0-9]+-[0-9]+).* apns",
        places={"NAME": "alice"},
        before=REGISTER,
    ),
    Step("app-backend device remove NAME ID", places={"NAME ID": "alice DEVICE"}),
    Step("app-backend session list NAME", "^[0-9a-f]{8}", places={"NAME": "alice"}),
    Step("app-backend user remove NAME", places={"NAME": "carol"}),
    Step(
        f"grep {ID_OF_LOG} /var/log/nginx/app-backend.log",
        '"status":200',
        places={ID_OF_LOG: LAST_ID},
        before=f"curl --fail -u {ALICE} {API}/register",
    ),
    Step(
        f"journalctl -u app-backend | grep {ID_OF_LOG}",
        "status=200",
        places={ID_OF_LOG: LAST_ID},
        # What has been logged is in the journal then.
        before="journalctl --sync",
    ),
]
TROUBLESHOOTING = [
    Step("app-backend user list", "^alice$"),
    Step("app-backend user add NAME", "^added dave$", places={"NAME": "dave"}, typed="dave-12345\n"),
    Step("app-backend user passwd NAME", places={"NAME": "dave"}, typed="dave-54321\n"),
    Step("app-backend user token add NAME --scope send", "^abt_", places={"NAME": "alice"}),
    Step("app-backend user token list NAME", places={"NAME": "alice"}),
    Step("systemctl status app-backend.socket app-backend", "Active: active"),
    Step("systemctl stop app-backend.service"),
    Step("systemctl reset-failed app-backend.service app-backend.socket"),
    Step("systemctl enable --now app-backend.socket", after="systemctl is-active app-backend.socket"),
    Step("systemctl start app-backend.socket"),
    Step("getent hosts HOST", "127.0.0.1", places={"HOST": "push.example.com"}),
    Step("apt install ca-certificates", "already the newest version"),
    Step("chown -R --reference=FOLDER FOLDER", places={"FOLDER": STORE}),
    Step("chmod 700 FOLDER", places={"FOLDER": STORE}, after=RESTART),
    Step("chmod go-w FILE", places={"FILE": "/etc/app-backend/app-backend.json"}, after="app-backend check"),
    Step("app-backend message list", "alice"),
    # Its recipient has no device.
    Step("app-backend outcome ID", "NoTargetFound", places={"ID": "SEND"}, status=3),
    Step("systemctl reload nginx"),
]


def _without(tables: list[str]) -> str:
    """The patterns of the page's grep."""
    return " ".join([*(f"""-e '^{{"table":"{table}"'""" for table in tables), """-e '^{"export":"end"'"""])


UPGRADE = [
    Step("umask 077"),
    Step("app-backend store backup > store.tar", after="tar -tf store.tar | grep users.jsonl"),
    Step(
        f"rsync -a --delete --exclude='*.tmp' --exclude=/lock/ {STORE}/ /backup/app-backend/",
        before="mkdir /backup",
        after="app-backend store verify --folder /backup/app-backend",
    ),
    Step(
        f"cp -a {STORE} /backup/",
        before="rm -r /backup/app-backend",
        after="app-backend store verify --folder /backup/app-backend",
    ),
    Step(f"tar --exclude='*.tmp' --exclude=./lock -cf store.tar -C {STORE} ."),
    Step("mkdir -m 700 /tmp/restored && tar -xf store.tar -C /tmp/restored"),
    Step("app-backend store verify --folder /tmp/restored", "^The store is whole"),
    Step(STOP),
    Step(f"mv {STORE} {STORE}.old"),
    Step("app-backend store restore store.tar"),
    Step(START, before=FORGET),
    Step("app-backend store verify", "^The store is whole"),
    Step(
        "app-backend store restore --without-queue --without-log-ins store.tar",
        before=f"{STOP}; rm -r {STORE}",
        after=RESTART,
    ),
    Step("chown -R root:root", places={"root:root": f"root:root {STORE}"}, before=STOP, after=RESTART),
    Step(
        "./app-backend-new check --config /etc/app-backend/app-backend.json",
        before="cp /usr/bin/app-backend app-backend-new",
    ),
    Step("cp -a /usr/bin/app-backend /root/app-backend.before"),
    Step("install -m 755 app-backend-new /usr/bin/app-backend"),
    Step("systemctl restart app-backend && app-backend store verify", "^The store is whole"),
    Step("systemctl stop app-backend.socket app-backend"),
    Step("app-backend store export --output site.jsonl"),
    Step(f"mv {STORE} {STORE}.newer"),
    Step(f"install -d -m 700 {STORE}"),
    Step(f"cp -p {STORE}.newer/vapid.key* {STORE}/"),
    Step("app-backend store import site.jsonl", "imported"),
    Step("systemctl start app-backend.socket app-backend", before=FORGET, after=f"curl --fail -u {ALICE} {API}/register"),
    *(
        Step(
            f"grep -v {_without(tables)} site.jsonl | app-backend store import --allow-cut",
            "imported",
            before=f"{STOP}; rm -r {STORE}; install -d -m 700 {STORE}",
            after=RESTART,
        )
        for tables in (["hub/queue", "hub/due", "scheduled", "sessions"], ["hub/due", "scheduled", "tokens", "seen"])
    ),
]
# What the reader has exported.
APPLE_TOKEN = "ab" * 32
HUB = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
EXPORTED = {
    "users.csv": f"user,platform,token,tags\\nheidi,ios,{APPLE_TOKEN},news\\nivan,android,fcm-1,\\n",
    "users.json": '{"users":[{"localId":"aB3","email":"judy@example.com","passwordHash":"Zm9v"}]}\\n',
    "onesignal.csv": "id,identifier,device_type,external_user_id\\np1,fcm-2,1,ivan\\np2,fcm-3,1,\\n",
    "users.jsonl": '{"_id":"u1","username":"mallory","_hashed_password":"$2b$10$%s"}\\n' % ("a" * 53),
    "installations.jsonl": '{"deviceType":"android","deviceToken":"fcm-4","_p_user":"_User$mallory"}\\n',
    "registrations.txt": f'<FcmV1RegistrationDescription xmlns="{HUB}"><Tags>news,username:heidi</Tags>'
    "<FcmV1RegistrationId>fcm-5</FcmV1RegistrationId></FcmV1RegistrationDescription>\\n",
}


def _imported(options: str, says: str) -> Step:
    name = options.split()[0]
    return Step(f"app-backend import --from {options}", says, before=f"printf '{EXPORTED[name]}' > {name}")


MIGRATION = [
    _imported("users.csv --dry-run", "^would add 2 users, 0 are there already; would register 2 devices"),
    _imported("users.csv", "^added 2 users, 0 were there already; registered 2 devices, 0 were there already$"),
    # It is not sent to a live service.
    Step('app-backend send --to alice "It works"', places={"alice": "heidi", "send": "send --no-wait"}),
    Step("app-backend user passwd alice", "^changed heidi$", places={"alice": "heidi"}, typed="heidi-1234\n"),
    _imported("users.json --map user=email", "1 user has no password"),
    _imported("onesignal.csv", "1 line skipped, the first is 3: no user"),
    _imported("users.jsonl --map user=username", "^added 1 user"),
    _imported("installations.jsonl", "^added 0 users, 1 was there already; registered 1 device"),
    _imported("registrations.txt", "^added 0 users, 1 was there already; registered 1 device"),
]
URL = "postgresql://app_backend:db-12345@localhost/app_backend"
URL_UNIT = "[Service]\\nLoadCredential=store.url:/etc/app-backend/store.url\\n"
POSTGRES = [
    Step("systemctl stop app-backend.socket app-backend", before="cd; rm -f site.jsonl"),
    Step("app-backend store export --output site.jsonl"),
    Step("sudo -u postgres createuser --pwprompt app_backend", typed="db-12345\ndb-12345\n"),
    Step("sudo -u postgres createdb --owner=app_backend --encoding=UTF8 --template=template0 app_backend"),
    Step("apt install libpq5", "already the newest version"),
    Step("install -m 600 /dev/null /etc/app-backend/store.url"),
    Step(
        "editor /etc/app-backend/store.url",
        places={"editor ": "/root/editor "},
        before=f"echo {URL} > /root/edited",
        after="[ $(stat --format %a /etc/app-backend/store.url) = 600 ]",
    ),
    Step(
        "systemctl edit app-backend",
        terminal=True,
        before=f"printf '{URL_UNIT}' > /root/edited",
        after="systemctl cat app-backend.service | grep ^LoadCredential=store.url",
    ),
    Step("app-backend store migrate", before="cp /root/without-path.json /etc/app-backend/app-backend.json"),
    Step("app-backend store import site.jsonl", "^imported [1-9]"),
    Step("app-backend check"),
    Step(
        "systemctl start app-backend.socket app-backend",
        before=FORGET,
        after=f"systemctl reload app-backend; curl --fail -u {ALICE} {API}/register; echo erin-12345 | app-backend user add erin",
    ),
    Step(
        "app-backend store migrate",
        after=f"curl --fail -u erin:erin-12345 {API}/register && sudo -u postgres psql app_backend"
        """ -tc "SELECT convert_from(name, 'UTF8') FROM app_backend.users WHERE removed_at IS NULL" | grep erin""",
    ),
]
HOST = [*README, *DEPLOYMENT, *PACKAGE, *ADMIN, *NGINX, *OPERATION, *TROUBLESHOOTING, *UPGRADE, *MIGRATION, *SETTINGS, *POSTGRES]
TRIAL = "podman run --rm --name app-backend --publish"
# `--rm` removes it later, when Podman comes to it.
STOPPED = "podman stop app-backend && podman rm --force --ignore app-backend"
DETACHED = {"podman run": "podman run --detach"}
CONTAINERS = [
    Step("podman load --input app-backend-try-0.1.0-linux-amd64.oci.tar", "app-backend:0.1.0-try$"),
    Step("podman load --input app-backend-0.1.0-linux-amd64.oci.tar", "app-backend:0.1.0$"),
    Step(
        f"{TRIAL} 127.0.0.1:8443:8443 --volume app-backend-trial:/var/lib/app-backend app-backend:0.1.0-try",
        places=DETACHED,
        after=f"{ANSWERED} --insecure https://localhost:8443/ | grep '<html' && {STOPPED}",
    ),
    Step(
        "podman exec app-backend app-backend user list",
        "^alice$",
        before=f"{TRIAL} 127.0.0.1:8443:8443 --volume app-backend-trial:/var/lib/app-backend app-backend:0.1.0-try".replace(
            "podman run", "podman run --detach"
        )
        + f" && {ANSWERED} --insecure https://localhost:8443/ > /dev/null",
        after=STOPPED,
    ),
    Step(
        f"{TRIAL} 8443:8443 --volume app-backend-trial:/var/lib/app-backend app-backend:0.1.0-try --address 192.168.1.5",
        places=DETACHED,
        before="ip address add 192.168.1.5/32 dev lo",
        after=f"{ANSWERED} --insecure https://localhost:8443/ | grep '<html'"
        " && podman exec app-backend cat /var/lib/app-backend/lan/authority.crt > authority.crt"
        f" && {ANSWERED} --cacert authority.crt https://192.168.1.5:8443/ | grep '<html' && {STOPPED}",
    ),
    Step(
        "echo 'd /run/app-backend 0750 10001 33' > /etc/tmpfiles.d/app-backend.conf"
        " && systemd-tmpfiles --create app-backend.conf",
        after="[ \"$(stat --format '%u %g %a' /run/app-backend)\" = '10001 33 750' ]",
    ),
    Step(
        "podman-compose up --detach",
        after="timeout 180 sh -c 'until [ -S /run/app-backend/app-backend.sock ]; do sleep 0.1; done'",
    ),
    Step(
        "podman exec -it app-backend app-backend user add alice",
        "^added alice$",
        places={"-it": "-i"},
        typed="alice-1234\n",
    ),
    Step("podman exec app-backend app-backend check"),
    Step(
        "podman kill --signal HUP app-backend",
        after="timeout 180 sh -c 'until podman logs app-backend 2>&1 | grep \"reloaded the configuration\"; do sleep 0.1; done'",
    ),
    Step("podman exec app-backend app-backend store backup > store.tar", after="tar -tf store.tar | grep users"),
]
