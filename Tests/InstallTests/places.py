# SPDX-License-Identifier: Apache-2.0
"""The users, addresses and folders that the walks name, and what they type again and again."""

ALICE, BOB = "alice:alice-1234", "bob:bob-123456"
AS_ALICE = {"-u alice": f"-u {ALICE}"}
ID_OF_LOG = "4f1c2ab0e77d5c1e9b1f3f0f6d0a9b31"
LAST_ID = """$(tail -n 1 /var/log/nginx/app-backend.log | sed 's/.*"id":"//; s/".*//')"""
# Asks again until there is an answer.
ANSWERED = "curl --fail --silent --show-error --retry 180 --retry-delay 1 --retry-connrefused --retry-all-errors"
API = "https://push.example.com/api"
STORE = "/var/lib/private/app-backend"
STOP = "systemctl stop app-backend.socket app-backend.service"
START = "systemctl start app-backend.socket app-backend.service"
# systemd lets a socket start five times within ten seconds. A person does not type so fast.
FORGET = "systemctl reset-failed app-backend.service app-backend.socket"
RESTART = f"{FORGET}; {START}"
REGISTER = f"""
id=$(curl --fail -u {ALICE} -X POST '{API}/register?handle={"ab" * 32}' | tr -d '"')
curl --fail -u {ALICE} -X PUT -H 'Content-Type: application/json' "{API}/register/$id" \
    -d '{{"Platform": "apns", "Handle": "{"ab" * 32}", "Tags": []}}'
curl --fail -X POST -H 'Content-Type: application/json' {API}/session -d '{{"UserName": "alice", "Password": "alice-1234"}}'
"""
