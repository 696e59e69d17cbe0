// SPDX-License-Identifier: Apache-2.0
// The last notifications that this browser received, each with the user it was registered for at that time.
//
// An entry: `{key, user, at, kind, title, body, secret, message, isSeen}`. Of a secret only its number is kept here, never its text:
// that stays on the server and is read again for the logged-in user. `message` is the number of a plain message that the server
// keeps as well.

import { transact } from './database.js';

const limit = 50;

/** Keeps an entry, forgets those beyond the limit, and gives the new one's key. */
export function add(entry) {
    return transact('inbox', 'readwrite', (store) => {
        const request = store.add(entry);
        const keys = store.getAllKeys();
        keys.onsuccess = () => keys.result.slice(0, -limit).forEach((key) => store.delete(key));
        return request;
    });
}

/** All entries, newest first. */
export async function list() {
    return (await transact('inbox', 'readonly', (store) => store.getAll())).reverse();
}

/** Forgets what was received for `user`, and what the server told. */
export const clear = (user) => Promise.all([forget((entry) => entry.user === user), forgetTold()]);

/** Forgets one entry. */
export const remove = (key) => transact('inbox', 'readwrite', (store) => store.delete(key));

/** Notes that the entries with these keys were shown. */
export function see(keys) {
    return transact('inbox', 'readwrite', (store) => {
        for (const key of keys) {
            const request = store.get(key);
            request.onsuccess = () => { if (request.result) store.put({ ...request.result, isSeen: true }); };
        }
    });
}

/** Forgets what the server has under that number, a secret or a plain message. */
export const forgetKept = (number) => forget((entry) => (entry.kind === 'secret' ? entry.secret : entry.message) === number);

/** Keeps what the server has told `user`, instead of what it told before: entries as those here, for a page that cannot ask it. */
export const keepTold = (user, entries) => transact('device', 'readwrite', (store) => store.put({ user, entries }, 'told'));

/** What the server told last, when it told it to that user. */
export async function told(user) {
    const kept = await transact('device', 'readonly', (store) => store.get('told'));
    return kept?.user === user ? kept.entries : [];
}

export const forgetTold = () => transact('device', 'readwrite', (store) => store.delete('told'));

function forget(isMeant) {
    return transact('inbox', 'readwrite', (store) => {
        const request = store.getAll();
        request.onsuccess = () => {
            for (const entry of request.result) if (isMeant(entry)) store.delete(entry.key);
        };
    });
}
