// SPDX-License-Identifier: Apache-2.0
// What was sent from this browser, each with the user who sent it: `{key, user, at, to, text, secret, message, isSent, lines}`. Of a
// secret only its number is kept. `message` is the id of its timeline; entries of older versions of the page have none. `lines` has
// an entry for each platform: `{platform, state, notification, counts}`. Timelines add more (timeline.js).

import { transact } from './database.js';

const limit = 50;

/** Keeps an entry, forgets the oldest beyond the limit, and gives the new one's key. */
export function add(entry) {
    return transact('sent', 'readwrite', (store) => {
        const request = store.add(entry);
        const keys = store.getAllKeys();
        keys.onsuccess = () => keys.result.slice(0, -limit).forEach((key) => store.delete(key));
        return request;
    });
}

/** Changes an entry, when there is news of it; one that was cleared meanwhile stays away. */
export function update(key, changes) {
    return transact('sent', 'readwrite', (store) => {
        const request = store.get(key);
        request.onsuccess = () => { if (request.result) store.put({ ...request.result, ...changes }); };
    });
}

/** What `user` sent, newest first. */
export async function list(user) {
    const all = await transact('sent', 'readonly', (store) => store.getAll());
    return all.filter((entry) => entry.user === user).reverse();
}

export const clear = (user) => forget((entry) => entry.user === user);

export function forget(isGone) {
    return transact('sent', 'readwrite', (store) => {
        const request = store.getAll();
        request.onsuccess = () => {
            for (const entry of request.result) if (isGone(entry)) store.delete(entry.key);
        };
    });
}
