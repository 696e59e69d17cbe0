# SPDX-License-Identifier: Apache-2.0
"""Sends a message to browsers as Python programs do, for script/bench push to compare with.

    python_sender.py pywebpush|httpx SUBSCRIPTIONS CERTIFICATE TEXT

pywebpush: one after the other on one kept connection, which is what its own function does. httpx: its encryption, and
64 requests at once over HTTP/2. SUBSCRIPTIONS has a JSON object a line, as a browser gives it. Prints the seconds of
processor time that the sending took, without what Python needs to begin."""

import asyncio
import json
import sys
import time

import httpx
import pywebpush
import requests
from cryptography.hazmat.primitives.asymmetric import ec
from py_vapid import Vapid

AT_ONCE = 64
TTL = 86400
CLAIMS = {"sub": "mailto:push@example.com"}


def make_key():
    return Vapid(ec.generate_private_key(ec.SECP256R1()))


def send_one_by_one(subscriptions, certificate, text):
    key = make_key()
    with requests.Session() as session:
        session.trust_env, session.verify = False, certificate
        for subscription in subscriptions:
            pywebpush.webpush(
                subscription, text, vapid_private_key=key, vapid_claims=dict(CLAIMS), ttl=TTL, requests_session=session)


async def send_at_once(subscriptions, certificate, text):
    origin = "/".join(subscriptions[0]["endpoint"].split("/")[:3])
    claims = {**CLAIMS, "aud": origin, "exp": int(time.time()) + 43_200}
    fields = make_key().sign(claims) | {"TTL": str(TTL), "Urgency": "high", "Content-Encoding": "aes128gcm"}
    room = asyncio.Semaphore(AT_ONCE)
    limits = httpx.Limits(max_connections=4)
    async with httpx.AsyncClient(http2=True, http1=False, verify=certificate, limits=limits, timeout=60) as client:

        async def send(subscription):
            async with room:
                body = pywebpush.WebPusher(subscription).encode(text.encode())["body"]
                answer = await client.post(subscription["endpoint"], content=body, headers=fields)
                answer.raise_for_status()

        await asyncio.gather(*map(send, subscriptions))


def main():
    kind, file, certificate, text = sys.argv[1:]
    with open(file, encoding="utf-8") as lines:
        subscriptions = [json.loads(line) for line in lines]
    begin = time.process_time()
    if kind == "pywebpush":
        send_one_by_one(subscriptions, certificate, text)
    else:
        asyncio.run(send_at_once(subscriptions, certificate, text))
    print(time.process_time() - begin)


if __name__ == "__main__":
    main()
