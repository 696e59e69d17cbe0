// SPDX-License-Identifier: Apache-2.0
// The browser's push subscription, which is its device token: an address at the push service and the keys to encrypt for.

/**
 * The subscription for the backend's key (base64url), made when there is none. One that was made for another key is
 * given up: no server could send to it any more. Rejects with what `PushManager.subscribe` rejects with, and may never
 * settle where the push service does not answer.
 */
export async function subscribe(pushManager, key) {
    const applicationServerKey = bytes(key);
    const existing = await pushManager.getSubscription();
    if (existing && isFor(applicationServerKey, existing)) return existing;
    await existing?.unsubscribe();
    return pushManager.subscribe({ userVisibleOnly: true, applicationServerKey });
}

/** Browsers that do not tell a subscription's key are believed. */
function isFor(key, subscription) {
    const buffer = subscription.options?.applicationServerKey;
    if (!buffer) return true;
    const own = new Uint8Array(buffer);
    return own.length === key.length && own.every((byte, index) => byte === key[index]);
}

function bytes(base64url) {
    const binary = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'));
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}
