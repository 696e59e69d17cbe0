// SPDX-License-Identifier: Apache-2.0
// The list of what was sent from this browser, and what became of each. States that were not final when they were last
// seen are asked for once more when the list is opened.

import * as api from './api.js';
import { $, element } from './dom.js';
import { t, time } from './i18n.js';
import { linked } from './links.js';
import * as sent from './sent.js';
import { finalStates, outcomeWords, platformOf, platformWords } from './outcomes.js';

export class SentList {
    #session;
    #turn = 0;

    constructor(session) {
        this.#session = session;
        $('clearSent').addEventListener('click', async () => {
            await sent.clear(session.user).catch(() => {});
            await this.load();
            $('sentHeading').focus();
        });
    }

    /** Another user, or none: what the last one sent goes, and what is still being read is not shown. */
    forget() {
        this.#turn += 1;
        show([]);
    }

    async load() {
        const turn = ++this.#turn;
        const { user } = this.#session;
        const entries = user ? await sent.list(user).catch(() => []) : [];
        if (turn !== this.#turn) return;
        show(entries);
        for (const entry of entries) {
            if (!entry.lines.some(isOpen)) continue;
            await Promise.all(entry.lines.filter(isOpen).map(ask));
            if (turn !== this.#turn) return;
            await sent.update(entry.key, entry.lines).catch(() => {});
            show(entries);
        }
    }
}

const isOpen = ({ state, notification }) => typeof notification === 'string' && !finalStates.includes(state);

/** The hub's newest word on a line; without an answer the line stays as it is. */
async function ask(line) {
    try {
        const { State, Outcomes } = await api.outcomes(line.notification);
        const own = (Array.isArray(Outcomes) ? Outcomes : []).find((one) => platformOf(one.Platform) === line.platform);
        Object.assign(line, { state: State, counts: own?.Counts ?? line.counts });
    } catch {
        // Forgotten after a week, or not reachable now.
    }
}

function show(entries) {
    $('sentEmpty').hidden = entries.length > 0;
    $('clearSent').hidden = entries.length === 0;
    $('sent').replaceChildren(...entries.map(item));
}

function item({ at, to, text, secret, lines }) {
    return element('li', { data: { kind: secret ? 'secret' : 'message' } },
        element('p', { className: 'title', dir: 'auto' }, t('sent.to', { name: to })),
        element('time', { dateTime: new Date(at).toISOString() }, time(at)),
        element('p', { className: 'text', dir: 'auto' }, ...(secret ? [t('sent.secret', { id: secret })] : linked(text))),
        element('p', { className: 'states' }, ...lines.map(badge)));
}

function badge({ platform, state, counts }) {
    const { label, tone, sentence } = outcomeWords(state, counts);
    return element('span', { className: 'state', title: sentence, data: { tone } }, `${platformWords(platform)}: ${label}`);
}
