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

/** Forgets what was received for `user`. */
export const clear = (user) => forget((entry) => entry.user === user);

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

function forget(isMeant) {
    return transact('inbox', 'readwrite', (store) => {
        const request = store.getAll();
        request.onsuccess = () => {
            for (const entry of request.result) if (isMeant(entry)) store.delete(entry.key);
        };
    });
}
