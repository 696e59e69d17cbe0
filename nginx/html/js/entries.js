// SPDX-License-Identifier: Apache-2.0
// What is said of an entry: of what was received here (inbox.js), or of a secret that the server keeps. `text` is null as
// long as a secret is not shown.

import { isolated, t } from './i18n.js';

/** `message`; of a secret `secret` (its text is shown), `locked` (it waits to be read) or `read` (it was read before). */
export function kindOf(entry) {
    if (entry.kind !== 'secret') return 'message';
    if (entry.text !== null) return 'secret';
    return entry.isRead ? 'read' : 'locked';
}

/** Under which number the server keeps it; undefined where it does not. */
export const numberOf = (entry) => (entry.kind === 'secret' ? entry.secret : entry.message);

export const nameOf = (entry) => (entry.key ? `key ${entry.key}` : `kept ${numberOf(entry)}`);

/** The title that the server gives to a message without one, whichever language the page speaks. */
export const untitled = (name) => `From ${name}`;

export function titleOf(entry) {
    // A title is the sender's own words, and may be another's name.
    if (entry.kind !== 'secret') {
        const sender = senderOf(entry);
        if (sender && entry.title === untitled(sender)) return t('inbox.untitled', { name: sender });
        return entry.from ? `${isolated(entry.from)}: ${isolated(entry.title)}` : entry.title;
    }
    const key = kindOf(entry) === 'locked' ? 'secret.waiting' : 'secret.title';
    return entry.from ? t(`${key}From`, { name: entry.from }) : t(key);
}

/** A user's name as the server tells it; null where it tells none. */
export const nameFrom = (text) => (typeof text === 'string' && text !== '' ? text.slice(0, 120) : null);

/** Who sent it, as far as that can be told: a browser's message has the name in its title. */
export function senderOf({ kind, from, title }) {
    return from ?? (kind === 'message' ? /^From (\S{1,111})$/.exec(title)?.[1] : null) ?? null;
}

/** It waits for its reader: a message that was not before their eyes yet, or a secret that was not read. */
export const isUnread = (entry) => (entry.kind === 'secret' ? kindOf(entry) === 'locked' : !entry.isSeen && !entry.isRead);

/** Milliseconds since 1970, of the server's `2026-11-28T12:00:00Z`; undefined where it tells none. */
export const timeFrom = (text) => Date.parse(text) || undefined;
