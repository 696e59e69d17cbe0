// SPDX-License-Identifier: Apache-2.0
// What this browser keeps, for the page and its service worker alike (a worker has no local storage): an IndexedDB
// with the stores `inbox`, `sent` and `device`.

import { within } from './deadline.js';

const seconds = 10; // for each step; a slow disk with much to do needs some
let opened;

/** Runs `work(store)` in one transaction; gives what the request that `work` returns gave, once all of it is kept. */
export async function transact(storeName, mode, work) {
    const database = await within(seconds, (opened ??= open()));
    return within(seconds, new Promise((resolve, reject) => {
        const transaction = database.transaction(storeName, mode);
        const request = work(transaction.objectStore(storeName));
        transaction.oncomplete = () => resolve(request?.result);
        transaction.onabort = () => reject(transaction.error);
    }));
}

function open() {
    return new Promise((resolve, reject) => {
        const request = indexedDB.open('app-backend', 2);
        request.onupgradeneeded = () => {
            const has = (name) => request.result.objectStoreNames.contains(name);
            for (const name of ['inbox', 'sent']) {
                if (!has(name)) request.result.createObjectStore(name, { keyPath: 'key', autoIncrement: true });
            }
            if (!has('device')) request.result.createObjectStore('device');
        };
        request.onsuccess = () => {
            // A newer version of the page, in another window, wants to change the layout.
            request.result.onversionchange = () => { request.result.close(); opened = undefined; };
            request.result.onclose = () => { opened = undefined; };
            resolve(request.result);
        };
        request.onerror = () => { opened = undefined; reject(request.error); };
    });
}
