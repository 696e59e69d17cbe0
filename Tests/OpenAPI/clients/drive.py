# SPDX-License-Identifier: Apache-2.0
"""What an app does, by the client that openapi-python-client has made. Each program of this folder prints the same lines."""

import base64
import os
import ssl
from http import HTTPStatus

from app_backend_client import AuthenticatedClient
from app_backend_client.api.app_tokens import create_token
from app_backend_client.api.delivery import read_delivery_status
from app_backend_client.api.devices import list_devices, register_device
from app_backend_client.api.inbox import list_inbox, mark_as_read, read_secure_message
from app_backend_client.api.sending import send_message
from app_backend_client.models import (
    AppTokenWish, BrowserKeys, CreatedAppToken, DeviceRegistration, DeviceRegistrationPlatform, Inbox, MessageObject,
    MessageTimeline, Problem, Scope, SecureMessage, SendOutcome,
)  # fmt: skip

URL, USER, PASSWORD = (os.environ[name] for name in ("APP_URL", "APP_USER", "APP_PASSWORD"))
TLS = ssl.create_default_context(cafile=os.environ["APP_AUTHORITY"])


def caller(kind: str, credential: str) -> AuthenticatedClient:
    return AuthenticatedClient(base_url=URL, token=credential, prefix=kind, verify_ssl=TLS)


basic = caller("Basic", base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode())
wish = AppTokenWish(scopes=[Scope.SEND, Scope.READ, Scope.REGISTER], label="drive.py")
token = create_token.sync(client=basic, body=wish)
assert isinstance(token, CreatedAppToken)
client = caller("Bearer", token.token)

device = DeviceRegistration(
    platform=DeviceRegistrationPlatform.BROWSER, handle=os.environ["APP_HANDLE"],
    keys=BrowserKeys(p256dh=os.environ["APP_P256DH"], auth=os.environ["APP_AUTH"]),
)  # fmt: skip
assert register_device.sync_detailed("drive-python", client=client, body=device).status_code == HTTPStatus.OK
devices = list_devices.sync(client=client)
assert isinstance(devices, list)
print(f"device {devices[0].platform.value}")

sent = send_message.sync(client=client, body=MessageObject(to=USER, title="Lunch", body="At noon"))
secret = send_message.sync(client=client, body=MessageObject(to=[USER], body="4711", secure=True))
assert isinstance(sent, SendOutcome) and isinstance(sent.message_id, str) and isinstance(secret, SendOutcome)
print(f"sent {sent.outcomes[0].platform.value}")

answer = list_inbox.sync_detailed(client=client, unread=True)
assert isinstance(answer.parsed, Inbox)
for message in answer.parsed.messages:
    if message.secure:
        read = read_secure_message.sync(str(message.id), client=client)
        assert isinstance(read, SecureMessage)
        print(f"secure {read.payload}")
    else:
        assert mark_as_read.sync_detailed(message.id, client=client).status_code == HTTPStatus.OK
        print(f"plain {message.body}")
tag = list_inbox.sync_detailed(client=client).headers["ETag"]
print(f"unchanged {list_inbox.sync_detailed(client=client, if_none_match=tag).status_code.value}")

status = read_delivery_status.sync(sent.message_id, client=client)
assert isinstance(status, MessageTimeline)
print(f"delivery {status.outcomes[0].platform.value} {'read' if status.read else 'unread'}")

refused = send_message.sync(client=client, body=MessageObject(to=USER, body="At noon", badge=-1))
assert isinstance(refused, Problem)
print(f"refused {refused.status} {refused.field}")
