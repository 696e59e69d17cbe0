// SPDX-License-Identifier: Apache-2.0
// The people to write to: those whom the user wrote to from this browser, and those who wrote to the user.

import { $, element } from './dom.js';
import { senderOf } from './entries.js';
import * as inbox from './inbox.js';
import * as sent from './sent.js';

const limit = 20;

/** Offers them at the recipient's field, the latest first. */
export async function offerPeople(user) {
    const [written, received, told] = await Promise.all([sent.list(user), inbox.list(), inbox.told(user)]).catch(() => [[], [], []]);
    // What the server told came without any push.
    const own = [...received.filter((entry) => entry.user === user), ...told];
    const all = [
        ...written.map(({ at, to }) => ({ at, name: to })),
        ...own.map((entry) => ({ at: entry.at ?? 0, name: senderOf(entry) })),
    ];
    const known = all.filter(({ name }) => name).sort((one, other) => other.at - one.at);
    const names = new Set(known.map(({ name }) => name));
    $('people').replaceChildren(...[...names].slice(0, limit).map((value) => element('option', { value })));
}
