#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Registers a device, sends two messages to its user, reads them, and prints their delivery status. See README.md."""

import base64
import hashlib
import hmac
import json
import os
import sys
import time
import urllib.error
import urllib.request


class Problem(Exception):
    """A refusal, in words."""


def setting(name):
    return os.environ.get(name) or sys.exit(f"Please set {name}.")


def call(method, path, authorization, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(setting("APP_BACKEND_URL") + path, data, method=method)
    request.add_header("Authorization", authorization)
    request.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read() or "null")
    except urllib.error.HTTPError as error:
        raise Problem(words(error.code, error.read())) from error


def words(status, body):
    """An answer of application/problem+json names the reason, and the field at fault."""
    try:
        problem = json.loads(body)
        return f"{status}: {problem['detail']}" + (f" ({problem['field']})" if "field" in problem else "")
    except (ValueError, KeyError, TypeError):
        return f"{status}: the answer gives no reason"


def text(message, token):
    if message["Secure"]:
        # Only the id travelled to the device. Fetching the text marks the message as read.
        return call("GET", f"/api/notifications/{message['Id']}", token)["Payload"]
    return ", ".join(message[part] for part in ("Title", "Body") if part in message)


def run(user, password):
    log_in = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
    # An app keeps this token instead of the password.
    made = call("POST", "/api/tokens", log_in, {"Scopes": ["register", "send", "read"], "ExpiresInDays": 1})
    token = "Bearer " + made["Token"]
    try:
        # An app makes this id once and keeps it. The handle comes from the device's push service.
        device = {"Platform": "fcm", "Handle": "token-of-example-python", "Tags": []}
        call("PUT", "/api/register/example-python", token, device)
        sent = call("POST", "/api/notifications", token, {"To": user, "Title": "Lunch", "Body": "At noon"})
        call("POST", "/api/notifications", token, {"To": user, "Body": "The code is 4711", "Secure": True})

        for message in call("GET", "/api/inbox?limit=2", token)["Messages"]:
            print(f"{message['From']}: {text(message, token)}")

        for _ in range(30):
            outcomes = call("GET", f"/api/notifications/{sent['MessageId']}/timeline", token)["Outcomes"]
            if all(outcome["State"] not in ("Enqueued", "Processing") for outcome in outcomes):
                break
            time.sleep(1)
        for outcome in outcomes:
            counts = [f", {name} {count}" for name, count in outcome["Counts"].items()]
            print(f"{outcome['Platform']}: {outcome['State']}{''.join(counts)}")
    finally:
        call("DELETE", "/api/tokens/" + made["Id"], log_in)


def verify(secret, event_id, timestamp, signatures, body):
    """Raises ValueError for an event that this service has not signed just now."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    content = f"{event_id}.{timestamp}.".encode() + body
    wanted = "v1," + base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode()
    if not any(hmac.compare_digest(one.encode(), wanted.encode()) for one in signatures.split(" ")):
        raise ValueError("the signature is wrong")
    if abs(time.time() - int(timestamp)) > 300:
        raise ValueError("the signature is right, and the time is more than five minutes off")


try:
    if sys.argv[1:2] == ["verify"]:
        verify(setting("APP_BACKEND_WEBHOOK_SECRET"), *sys.argv[2:5], sys.stdin.buffer.read())
        print("the signature is right")
    else:
        run(setting("APP_BACKEND_USER"), setting("APP_BACKEND_PASSWORD"))
except (Problem, ValueError, OSError) as error:
    sys.exit(str(getattr(error, "reason", error)))
