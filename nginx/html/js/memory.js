// SPDX-License-Identifier: Apache-2.0
// Small things that this browser remembers for the page: for good (`remember`), or as long as the tab is open, reloads
// included (`hold`). A browser that keeps nothing is no error.

const put = (storage, name, value) => {
    try {
        if (value === null) storage().removeItem(name);
        else storage().setItem(name, JSON.stringify(value));
    } catch {
        // Storage is full, or not allowed.
    }
};

const get = (storage, name) => {
    try {
        return JSON.parse(storage().getItem(name));
    } catch {
        return null;
    }
};

const [local, tab] = [() => localStorage, () => sessionStorage];

/** `null` forgets it. */
export const remember = (name, value) => put(local, name, value);
/** `null` when there is nothing. */
export const recall = (name) => get(local, name);
export const hold = (name, value) => put(tab, name, value);
export const held = (name) => get(tab, name);
