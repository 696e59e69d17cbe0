# SPDX-License-Identifier: Apache-2.0
"""Sends a message to telephones as Python programs do, for script/bench phones to compare with.

    phone_sender.py aioapns|firebase-admin HANDLES ORIGIN CREDENTIAL NOTIFICATION

Both have all messages under way at once, as their documentation shows it. HANDLES has one a line. CREDENTIAL is, of
Apple, KEY-ID,TEAM-ID,TOPIC,FILE, and of Google the file of a service account. Prints the seconds of processor time that
the sending took, without what Python needs to begin."""

import asyncio
import json
import ssl
import sys
import time
import urllib.parse

PART = 500  # messages that Google's client takes in one call


async def send_to_apple(handles, origin, credential, notification):
    from aioapns import APNs, NotificationRequest

    key_id, team_id, topic, file = credential.split(",")
    context = ssl.create_default_context()
    context.set_alpn_protocols(["h2"])
    with open(file, encoding="utf-8") as key:
        client = APNs(key=key.read(), key_id=key_id, team_id=team_id, topic=topic, ssl_context=context)
    # It has no setting for the service's address.
    address = urllib.parse.urlsplit(origin)
    local = {"APNS_SERVER": address.hostname, "APNS_PORT": address.port}
    client.pool.protocol_class = type("Local", (client.pool.protocol_class,), local)
    message = json.loads(notification)
    requests = [NotificationRequest(device_token=handle, message=message) for handle in handles]
    begin = time.process_time()
    results = await asyncio.gather(*map(client.send_notification, requests))
    spent = time.process_time() - begin
    assert all(result.is_successful for result in results)
    client.pool.close()
    return spent


async def send_to_google(handles, origin, credential, notification):
    import firebase_admin
    from firebase_admin import credentials, messaging

    # Neither has it.
    messaging._MessagingService.FCM_URL = origin + "/v1/projects/{0}/messages:send"
    firebase_admin.initialize_app(credentials.Certificate(credential))
    content = messaging.Notification(**json.loads(notification)["message"]["notification"])
    messages = [messaging.Message(token=handle, notification=content) for handle in handles]
    begin = time.process_time()
    for start in range(0, len(messages), PART):
        batch = await messaging.send_each_async(messages[start:start + PART])
        assert batch.failure_count == 0, batch.responses[0].exception
    return time.process_time() - begin


def main():
    kind, file, *rest = sys.argv[1:]
    with open(file, encoding="utf-8") as lines:
        handles = lines.read().split()
    send = {"aioapns": send_to_apple, "firebase-admin": send_to_google}[kind]
    print(asyncio.run(send(handles, *rest)))


if __name__ == "__main__":
    main()
