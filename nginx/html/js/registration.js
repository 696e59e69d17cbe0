// SPDX-License-Identifier: Apache-2.0
// Registers this browser with the backend under the user who is logged in: the tutorials' RegisterClient.
//
// A browser has one subscription, so it has one registration for all its users: `{id, user, endpoint}`. When another user
// logs in, the same id is put again with the same handle; that takes the device over from the one before, who may have
// gone without logging out. A second id would leave the first one's notifications coming.

import * as api from './api.js';
import { transact } from './database.js';

/** Whom this browser receives for, and under which id; undefined when it never registered. */
export const current = () => transact('device', 'readonly', (store) => store.get('registration'));

/**
 * Registers `subscription` for `user`, who must be the one logged in. Tells whether it was another user's until now.
 * Throws `Failure`.
 */
export function register(user, subscription) {
    return alone(async () => {
        const { user: owner } = await current() ?? {};
        for (const last of [false, true]) {
            const before = await current();
            const id = before?.id ?? await api.newRegistrationId();
            // Kept before it is used: an id that was lost on the way would receive everything twice.
            await keep({ user: null, ...before, id, endpoint: subscription.endpoint });
            try {
                await api.putRegistration(id, subscription);
                await keep({ user, id, endpoint: subscription.endpoint });
                return Boolean(owner) && owner !== user;
            } catch (failure) {
                if (last || !isLost(failure, before)) throw failure;
                await forget();
            }
        }
    });
}

/** Ends the registration when it is `user`'s. Throws `Failure` when the backend did not agree. */
export function unregister(user) {
    return alone(async () => {
        const registration = await current();
        if (registration?.user !== user) return;
        try {
            await api.deleteRegistration(registration.id);
        } catch (failure) {
            // Another user's by now, or gone: either way it is not this one's any more.
            if (![403, 404, 410].includes(failure.status)) throw failure;
        }
        await forget();
    });
}

export const forget = () => transact('device', 'readwrite', (store) => store.delete('registration'));

const keep = (registration) => transact('device', 'readwrite', (store) => store.put(registration, 'registration'));

/** 410: the id was deleted. 403 for an id from before: another user's, under a handle that this browser no longer has. */
function isLost(failure, before) {
    return failure.status === 410 || (failure.status === 403 && before !== undefined);
}

/** One window or worker at a time: two that register for the first time together would make two registrations. */
function alone(work) {
    return navigator.locks ? navigator.locks.request('registration', work) : work();
}
