// SPDX-License-Identifier: Apache-2.0
// What became of a message, as its timeline tells it. Its entry in the list of what was sent keeps `kept`, `read` and `opened`, and
// shows them in steps.

import { element } from './dom.js';
import { timeFrom } from './entries.js';
import { number, t, time } from './i18n.js';
import { finalStates, lineOf, outcomeWords, platformWords } from './outcomes.js';
import * as api from './sender-api.js';
import * as sent from './sent.js';

/** Whether a push service has still to say something of it. */
export const isUnderWay = ({ lines }) => lines.some(({ state }) => !finalStates.includes(state));

/** Brings an entry up to date. Throws `Failure`: 404 when it was not sent yet, or is forgotten. */
export async function look(entry) {
    const { SentAt, Secure, Kept, Read, Opened, Outcomes } = await api.timeline(entry.message);
    const told = {
        at: timeFrom(SentAt) ?? entry.at,
        text: Secure ? null : entry.text,
        lines: Outcomes.map((outcome) => lineFrom(outcome, entry)),
        kept: Kept,
        // What was read is not unread when it is deleted.
        read: Read ?? (entry.read || undefined),
        opened: Opened,
        isSent: true,
    };
    Object.assign(entry, told);
    if (entry.key) await sent.update(entry.key, told).catch(() => {});
}

/** While the hub cannot be asked, what it has said before. */
function lineFrom(outcome, { lines }) {
    const line = lineOf(outcome);
    return line.state === 'Unknown' ? lines.find(({ notification }) => notification && notification === line.notification) ?? line : line;
}

/** What has happened, one after the other. */
export function steps({ at, text, lines, kept, read, opened }) {
    return [
        element('li', {}, element('time', { dateTime: new Date(at).toISOString() }, t('sent.at', { time: time(at) }))),
        ...(kept ? [plainStep(t(text === null ? 'sent.keptSecure' : 'sent.kept'))] : []),
        ...lines.map(lineStep),
        ...(read === undefined ? [] : [step(t(read ? 'sent.read' : 'sent.unread'), read ? 'good' : 'quiet')]),
        ...(opened > 0 ? [plainStep(t('sent.opened', { count: number(opened) }))] : []),
    ];
}

export const plainStep = (words) => element('li', { className: 'detail' }, words);

export const step = (label, tone, sentence = '') => (
    element('li', { className: 'detail' }, element('span', { className: 'state', data: { tone } }, label), sentence && ` ${sentence}`));

function lineStep({ platform, state, counts }) {
    const { label, tone, sentence } = outcomeWords(state, counts);
    return step(`${platformWords(platform)}: ${label}`, tone, sentence);
}
