// SPDX-License-Identifier: Apache-2.0
// The service worker: shows what is pushed, also when no window is open.
//
// The browser ends and restarts it as it likes, so it remembers nothing: who is logged in is in the session's cookie,
// everything else in the database. Every push shows something, whatever fails on the way; the browser demands that.

import * as api from './js/api.js';
import { tell } from './js/channel.js';
import { within } from './js/deadline.js';
import { nameFrom, titleOf } from './js/entries.js';
import { t } from './js/i18n.js';
import * as inbox from './js/inbox.js';
import { answerFile, isFile, keepFiles } from './js/offline.js';
import { bounded, parsePush } from './js/push.js';
import { current, register } from './js/registration.js';
import { subscribe } from './js/subscription.js';
import { recallWords } from './js/worker-words.js';

self.addEventListener('install', (event) => {
    self.skipWaiting();
    // Without them the page needs a network; that is no reason to receive nothing.
    event.waitUntil(keepFiles().catch(() => {}));
});
self.addEventListener('fetch', (event) => {
    if (isFile(event.request, self.registration.scope)) event.respondWith(answerFile(event.request));
});
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('push', (event) => event.waitUntil(receive(event.data?.text() ?? null)));
self.addEventListener('notificationclick', (event) => {
    event.waitUntil(open(event.notification));
    event.waitUntil(noteOpening(event.notification));
});
self.addEventListener('pushsubscriptionchange', (event) => event.waitUntil(renew(event)));

async function receive(pushed) {
    await recallWords();
    const push = parsePush(pushed);
    const { text, from } = push.kind === 'secret' ? await secretText(push.secret) : { text: push.body };
    const registration = await current().catch(() => undefined);
    const user = registration && (registration.user ?? await loggedIn());
    const entry = { user: user ?? null, at: Date.now(), ...push, ...(from && { from }) };
    try {
        entry.key = await inbox.add(entry);
    } catch {
        // A full disk, say. The notification is still shown, and is not in the list after a restart.
    }
    if ('badge' in entry) await setBadge(entry.badge);
    await show(entry, text);
    tell({ about: 'received', entry, text });
}

/** Who registers this browser and has not heard yet that it is done; null when that is not known. */
const loggedIn = () => within(10, api.session()).then(({ User }) => User, () => null);

/** A secret, read with the session of the logged-in user: `text`, null when it cannot be read now, and the sender. */
async function secretText(secret) {
    try {
        const { Payload, From } = await within(10, api.secret(secret));
        return { text: typeof Payload === 'string' ? Payload : null, from: nameFrom(From) };
    } catch {
        return { text: null };
    }
}

/** A notification has less room than the inbox. */
function show(entry, text) {
    const title = bounded(entry.title ?? '', 120);
    return self.registration.showNotification(titleOf({ ...entry, title, text }), {
        body: text === null ? t('push.open') : bounded(text, 500),
        icon: 'icon-192.png',
        tag: `received-${entry.key ?? crypto.randomUUID()}`,
        timestamp: entry.at,
        data: { key: entry.key ?? null, link: entry.link ?? null, id: entry.id ?? null },
        ...(entry.image && { image: entry.image }),
    });
}

/** The number at the page's icon, where the browser has one; 0 takes it away. */
async function setBadge(number) {
    await self.navigator.setAppBadge?.(number).catch(() => {});
}

/**
 * Leads to the message's link if it has one, else to the page: to a window that is open, or to a new one. The page's address
 * names the place in the list, no secret.
 */
async function open(notification) {
    notification.close();
    if (notification.data?.link) return self.clients.openWindow(notification.data.link);
    const key = notification.data?.key ?? null;
    const windows = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
    const page = new URL(self.registration.scope).pathname;
    const isPage = ({ url }) => [page, `${page}index.html`].includes(new URL(url).pathname);
    const place = key === null ? '#received' : `#received-${key}`;
    for (const client of windows.filter(isPage)) {
        try {
            client.postMessage({ about: 'open', key });
            return await client.focus();
        } catch {
            // It closed just now, or may not be focused: the next one.
        }
    }
    return self.clients.openWindow(new URL(place, self.registration.scope));
}

/** Tells the backend, for the message's sender. It knows no message that was sent as a string, and perhaps another user is logged in. */
async function noteOpening({ data }) {
    if (data?.id) await within(10, api.noteOpening(data.id)).catch(() => {});
}

/** The push service gave the device a new address. When no user is logged in, the page registers it at the next log-in. */
async function renew(event) {
    const { VapidPublicKey: key } = await api.config();
    if (!key) return;
    const subscription = event.newSubscription ?? await subscribe(self.registration.pushManager, key);
    try {
        const { User: user } = await api.session();
        // Not where the user has taken this browser away.
        if ((await current())?.user === user) await register(user, subscription);
    } catch {
        // Not logged in, or not reachable: the page does it when it is opened.
    }
    tell({ about: 'subscription' });
}
