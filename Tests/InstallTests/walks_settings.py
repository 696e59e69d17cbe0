# SPDX-License-Identifier: Apache-2.0
"""What root types on that host by the pages of the store, of settings and of the push services' credentials."""

from places import ALICE, API, FORGET, REGISTER, START, STORE
from walk import Step

CONFIGURATION_FILE = "/etc/app-backend/app-backend.json"
ACCEPTED = "app-backend check && systemctl reload app-backend && systemctl is-active app-backend"
NEW_KEY = "^[A-Za-z0-9_-]{87}$"
# The id of the one message that waits for alice, whose text no page shows.
KEEP_ID = "app-backend store export | jq 'select(.table == \"notifications\" and .owner == \"alice\").id' > /root/id"


def service_with(*lines: str) -> str:
    """What the host's editor writes."""
    return f"printf '[Service]\\n{''.join(line + chr(92) + 'n' for line in lines)}' > /root/edited"


def configured(group: str) -> str:
    """Adds a group of settings to the file that the other pages let the reader write."""
    return f"jq '. + {group}' /root/configuration.json > {CONFIGURATION_FILE}"


CONFIGURATION = [
    Step("app-backend config show", f"^file: {CONFIGURATION_FILE}$"),
    Step("app-backend config schema", r'^\{"\$schema":"http://json-schema.org/draft-07/schema#"'),
    Step("app-backend config list hub", "^hub.name: text$"),
    Step("openssl rand -base64 32", "^.{44}$"),
    Step(
        "app-backend user add NAME --tag PATTERN --send-to PATTERN",
        "^added frank$",
        places={"NAME": "frank", "PATTERN": "'news*'"},
        typed="frank-12345\n",
        after="app-backend user show frank | grep 'may claim: news\\*'",
    ),
    Step(
        "app-backend user change NAME --secure-only",
        places={"NAME": "frank"},
        after="app-backend user show frank | grep 'secure only'",
    ),
    Step(
        "app-backend user passwd NAME --none",
        places={"NAME": "frank"},
        after="app-backend user show frank | grep 'password: none'",
    ),
]
DOCTOR = [
    Step("systemctl status nginx", "Active: active"),
    Step("systemctl status app-backend.service", "Active: active"),
]
READING = [
    Step(
        """app-backend store export | jq -c 'select(.table == "devices" and .owner == "alice") | del(.handle)'""",
        '"platform":"apns"',
        # Nothing delivers to her device, so the command does not exit with 0.
        before=f"{REGISTER}app-backend send --to alice --secure 'The code is 7' || [ $? = 3 ]; {KEEP_ID}",
    ),
    Step(
        """app-backend store export | jq -c 'select(.table == "notifications" and .owner == "alice") | del(.payload, .token)'""",
        '"sender":"operator"',
    ),
    Step("app-backend store export | tail -n 1 | jq .tables", '"users": [0-9]+'),
    Step("""app-backend store export | jq -r 'select(.tags? | index("news")?) | .id'"""),
    Step("""grep -rh '"owner":"alice"' notifications""", '"createdAt"', before=f"cd {STORE}"),
    Step("du -sh notifications devices hub; find . -type f | wc -l", "^[0-9]+$"),
]
EDITING = [
    Step("systemctl stop app-backend.socket app-backend"),
    Step("cd /var/lib/private/app-backend && umask 077"),
    Step("""jq -c 'if .id == "alice" then .tags = ["news"] else . end' users.jsonl > users.new"""),
    Step("cat users.new > users.jsonl && rm users.new indexed.json"),
    Step(
        "systemctl start app-backend.socket app-backend",
        before=FORGET,
        after=f"app-backend user show alice | grep 'may claim: news' && curl --fail -u {ALICE} {API}/register",
    ),
]
REPAIRING = [
    Step(
        "umask 077; mkdir /root/old && tar --no-same-owner -xf store.tar -C /root/old",
        before=f"cd; app-backend store backup > store.tar; curl --fail -u {ALICE} -X DELETE {API}/inbox/$(cat /root/id)",
    ),
    Step("""echo '{"store":{"path":"/root/old"}}' > /root/old.json"""),
    Step("app-backend store export --config /root/old.json > /root/old.jsonl"),
    Step(
        """sed -n '1p; /"id":1428692640,/p' /root/old.jsonl > /root/missing.jsonl""",
        places={"1428692640": "'$(cat /root/id)'"},
    ),
    Step(
        "app-backend store import --allow-cut /root/missing.jsonl",
        "^imported 1 record,",
        after=f"curl --fail -u {ALICE} {API}/notifications/$(cat /root/id) | grep 'The code is 7'",
    ),
    Step("app-backend session end NAME --all", places={"NAME": "alice"}),
    Step(
        "app-backend user token revoke NAME ID",
        "^revoked ",
        places={"NAME ID": "alice $(cut -d_ -f2 /root/token)"},
        before="app-backend user token add alice --scope send > /root/token",
    ),
]
WEB_PUSH = [
    Step("app-backend keys vapid", NEW_KEY, after="systemctl reload app-backend"),
    Step(f"curl {API}/config", '"Name":"browser","Delivers":true'),
    Step("app-backend keys vapid --rotate", NEW_KEY),
    Step("systemctl reload app-backend", after="systemctl is-active app-backend"),
    Step("app-backend keys vapid --drop-former"),
]
APNS = [
    Step(
        "install -m 600 -o root AuthKey_ABC123DEFG.p8 /etc/app-backend/apns.key",
        before="cd; openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:prime256v1 -out AuthKey_ABC123DEFG.p8",
    ),
    Step(
        "systemctl edit app-backend.service",
        terminal=True,
        before=service_with("LoadCredential=apns.key:/etc/app-backend/apns.key"),
    ),
    Step(
        "systemctl restart app-backend",
        before=configured('{"apns": {"keyId": "ABC123DEFG", "teamId": "DEF123GHIJ", "topic": "com.example.app"}}'),
        after=f"{ACCEPTED}; rm /etc/app-backend/apns.key",
    ),
    Step(
        "openssl pkcs12 -legacy -in apns.p12 -nodes -out apns.pem",
        typed="\n",
        before="openssl req -x509 -newkey rsa:2048 -noenc -subj /UID=com.example.app -keyout push.key -out push.pem"
        " && openssl pkcs12 -export -legacy -passout pass: -in push.pem -inkey push.key -out apns.p12",
        after="grep 'BEGIN PRIVATE KEY' apns.pem",
    ),
    Step("chmod 600 apns.pem"),
]
ACCOUNT = """{type: "service_account", project_id: "app-1", client_email: "push@app-1.iam.gserviceaccount.com",
    private_key_id: "1", private_key: ., token_uri: "https://oauth2.googleapis.com/token"}"""
FCM = [
    Step(
        "install -m 600 -o root app-1-firebase.json /etc/app-backend/fcm.credential",
        before=f"openssl genpkey -algorithm RSA | jq --raw-input --slurp '{ACCOUNT}' > app-1-firebase.json",
    ),
    Step(
        "systemctl edit app-backend.service",
        terminal=True,
        before=service_with("LoadCredential=fcm.credential:/etc/app-backend/fcm.credential"),
    ),
    Step(
        "systemctl restart app-backend",
        before=f"cp /root/configuration.json {CONFIGURATION_FILE}; {FORGET}",
        after=f"{ACCEPTED}; curl --fail {API}/config | grep '\"fcm\",\"Delivers\":true'; rm /etc/app-backend/fcm.credential",
    ),
]
WNS = [
    Step(
        "systemctl edit app-backend.service",
        terminal=True,
        before="echo secret > /etc/app-backend/wns.secret; "
        + service_with("LoadCredential=wns.secret:/etc/app-backend/wns.secret"),
    ),
    Step(
        "systemctl restart app-backend",
        before=configured('{"wns": {"packageSid": "ms-app://s-1-15-2-1004590375"}}') + f"; {FORGET}",
        after=f"{ACCEPTED}; rm /etc/app-backend/wns.secret; cp /root/configuration.json {CONFIGURATION_FILE};"
        f" systemctl revert app-backend.service; {FORGET}; systemctl restart app-backend",
    ),
]
HUB = "Endpoint=sb://hub.example.com/;SharedAccessKeyName=All;SharedAccessKey=c2VjcmV0"
AZURE = [
    Step("install -m 600 /dev/null /etc/app-backend/hub.connectionString"),
    Step(
        "editor /etc/app-backend/hub.connectionString",
        places={"editor ": "/root/editor "},
        before=f"echo '{HUB}' > /root/edited",
        after="[ $(stat --format %a /etc/app-backend/hub.connectionString) = 600 ]",
    ),
    Step(
        "systemctl edit app-backend.service",
        terminal=True,
        before=service_with("LoadCredential=hub.connectionString:/etc/app-backend/hub.connectionString"),
    ),
    Step(
        "systemctl restart app-backend",
        before=configured('{"hub": {"name": "app-1", "platforms": ["apns", "fcm"]}}') + f"; {FORGET}",
        after=f"{ACCEPTED}; rm /etc/app-backend/hub.connectionString; cp /root/configuration.json {CONFIGURATION_FILE};"
        f" systemctl revert app-backend.service; {FORGET}; systemctl restart app-backend",
    ),
]
SETTINGS = [*CONFIGURATION, *DOCTOR, *READING, *EDITING, *REPAIRING, *WEB_PUSH, *APNS, *FCM, *WNS, *AZURE]
