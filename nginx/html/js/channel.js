// SPDX-License-Identifier: Apache-2.0
// What windows of this browser and the service worker tell each other: `{about: 'session'}` when a user logged in or
// out, `{about: 'subscription'}` when the device token changed, `{about: 'received', entry, text}` for a notification.
// Who opens later misses nothing: all of it can be read from the server or the inbox.

const channel = new BroadcastChannel('app-backend');

/** Tells all others; not the caller. */
export const tell = (message) => channel.postMessage(message);

/** Calls `listener(message)` for what others tell about `about`. */
export function hear(about, listener) {
    channel.addEventListener('message', ({ data }) => { if (data?.about === about) listener(data); });
}
