// SPDX-License-Identifier: Apache-2.0
// Messages for later in the list of what was sent. Their entries have their time in `at`, and `isSent` as soon as a timeline tells what
// became of them.

import { timeFrom } from './entries.js';
import * as api from './sender-api.js';
import { look } from './timeline.js';

const [hour, week] = [3_600_000, 7 * 86_400_000]; // milliseconds: how long it is tried, and how long its timeline is kept

export const isForLater = ({ message, isSent }) => Boolean(message) && !isSent;

/**
 * Brings entries up to date, and adds those that were written on other devices, which have no key. `state` is then what can be said
 * of one that does not wait any more and has no timeline. Throws `Failure`.
 */
export async function refresh(entries) {
    const told = await api.scheduled();
    const waiting = new Set(told.map(({ MessageId }) => MessageId));
    const known = new Set(entries.map(({ message }) => message));
    entries.push(...told.filter(({ MessageId }) => !known.has(MessageId)).map(entryOf));
    for (const entry of entries) Object.assign(entry, { isWaiting: waiting.has(entry.message), state: undefined });
    await Promise.all(entries.filter((entry) => isForLater(entry) && !entry.isWaiting).map(lookFor));
}

const entryOf = ({ MessageId: message, To: to, Title, Body, SendAt, Secure }) => (
    { at: timeFrom(SendAt), to, text: Secure ? null : [Title, Body].filter(Boolean).join('\n'), secret: null, message, lines: [] });

/** With a timeline it is an entry as the others are. */
async function lookFor(entry) {
    try {
        await look(entry);
    } catch (failure) {
        if (failure.status !== 404) throw failure;
        const age = Date.now() - entry.at;
        // It is being sent; it was cancelled on another device; or what became of it is forgotten.
        entry.state = age >= 0 && age < hour ? 'Processing' : age < week ? 'Cancelled' : undefined;
    }
}
