// SPDX-License-Identifier: Apache-2.0
// Plays a browser with the page's two scripts: node browser.mjs SITE NAME PASSWORD SUBSCRIPTION. A push is a line of its input.
import { webcrypto } from 'node:crypto';
import { createInterface } from 'node:readline';

const [site, name, password, subscription] = process.argv.slice(2);
const listeners = {};
let cookie = '';
let shown;
const pushManager = {
    subscribe: async ({ applicationServerKey }) => ({ toJSON: () => applicationServerKey && JSON.parse(subscription) }),
    getSubscription: async () => ({ unsubscribe: async () => console.log('unsubscribed') }),
};
const registration = {
    pushManager,
    showNotification: async (title, { body, data }) => {
        shown = data;
        console.log(`${title}: ${body}`);
    },
};
const plainFetch = fetch;
Object.assign(globalThis, {
    localStorage: {},
    self: globalThis,
    registration,
    clients: { openWindow: async (link) => console.log(`opens ${link}`) },
    addEventListener: (type, listener) => { listeners[type] = listener; },
    Notification: { requestPermission: async () => 'granted' },
    fetch: async (path, options = {}) => {
        const headers = { ...options.headers, Cookie: cookie, Origin: site, 'Sec-Fetch-Site': 'same-origin' };
        const response = await plainFetch(site + path, { ...options, headers });
        cookie = response.headers.get('Set-Cookie')?.split(';')[0] ?? cookie;
        return response;
    },
});
if (!globalThis.crypto) globalThis.crypto = webcrypto;
Object.defineProperty(globalThis, 'navigator', {
    value: { serviceWorker: { register: async () => {}, ready: Promise.resolve(registration) } }, configurable: true,
});

async function dispatch(type, event) {
    const waits = [];
    listeners[type]({ ...event, waitUntil: (promise) => waits.push(promise) });
    await Promise.all(waits);
}

const page = await import('./push.mjs');
await import('./worker.mjs');
await page.logIn(name, password);
console.log(await page.enable());
for await (const line of createInterface({ input: process.stdin })) {
    await dispatch('push', { data: { json: () => JSON.parse(line) } });
    if (listeners.notificationclick) await dispatch('notificationclick', { notification: { data: shown, close: () => {} } });
    console.log('done');
}
console.log(`messages: ${(await page.inbox()).Messages.length}`);
await page.logOut();
