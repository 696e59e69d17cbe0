// SPDX-License-Identifier: Apache-2.0
// The list of what was sent from this browser, of what is for later, and what became of each. States that were not final when they
// were last seen are asked for once more when the list is opened, and for two minutes after the message's time.

import { $, element, pressTwice, say } from './dom.js';
import { t, time } from './i18n.js';
import { linked } from './links.js';
import { finalStates, outcomeWords, platformOf, platformWords } from './outcomes.js';
import { isForLater, refresh } from './scheduled.js';
import * as api from './sender-api.js';
import * as sent from './sent.js';
import { failureWords } from './words.js';

const patience = 120_000; // milliseconds

export class SentList {
    #session;
    #turn = 0;
    #timer;
    #elsewhere = []; // entries of what was written for later on other devices, which are not kept here

    constructor(session) {
        this.#session = session;
        $('sent').before(element('p', { id: 'sentNote', className: 'note', role: 'status' }));
        $('clearSent').addEventListener('click', async () => {
            await sent.clear(session.user).catch(() => {});
            this.#elsewhere = [];
            await this.load();
            $('sentHeading').focus();
        });
    }

    /** Another user, or none: what the last one sent goes, and what is still being read is not shown. */
    forget() {
        this.#turn += 1;
        clearTimeout(this.#timer);
        this.#elsewhere = [];
        say('sentNote', '');
        this.#show([]);
    }

    async load(note = '') {
        const turn = ++this.#turn;
        clearTimeout(this.#timer);
        const { user } = this.#session;
        const entries = user ? await sent.list(user).catch(() => []) : [];
        if (turn !== this.#turn) return;
        entries.push(...this.#elsewhere);
        this.#show(entries);
        say('sentNote', note);
        if (!user) return;
        // Without an answer they stay as they are.
        await refresh(entries).catch(() => {});
        if (turn !== this.#turn) return;
        this.#elsewhere = entries.filter(({ key }) => key === undefined);
        this.#show(entries);
        for (const entry of entries) {
            if (!entry.lines.some(isOpen)) continue;
            await Promise.all(entry.lines.filter(isOpen).map(ask));
            if (turn !== this.#turn) return;
            await sent.update(entry.key, { lines: entry.lines }).catch(() => {});
            this.#show(entries);
        }
        this.#again(entries, note);
    }

    /** At the next message's time, and after it again when twice as long has passed. */
    #again(entries, note) {
        const pauses = entries.filter((entry) => isForLater(entry) || entry.lines.some(isOpen)).map(({ at }) => at - Date.now());
        const next = Math.min(...pauses.filter((one) => one > -patience).map((one) => Math.max(Math.abs(one), 1000)));
        if (next < Infinity) this.#timer = setTimeout(() => { if (!$('sentCard').hidden) this.load(note); }, next);
    }

    /** Newest first. One for later may have come from the server before it was noted here. */
    #show(entries) {
        const had = document.activeElement?.dataset.message;
        const all = entries.filter(({ message }, place) => !message || place === entries.findIndex((one) => one.message === message))
            .sort((one, other) => other.at - one.at);
        $('sentEmpty').hidden = all.length > 0;
        $('clearSent').hidden = all.length === 0;
        $('sent').replaceChildren(...all.map((entry) => item(entry, () => this.#cancel(entry))));
        if (had) [...$('sent').querySelectorAll('button')].find(({ dataset }) => dataset.message === had)?.focus();
    }

    async #cancel({ message }) {
        const { user } = this.#session;
        let words = t('sent.cancelled');
        try {
            await api.cancel(message);
            this.#elsewhere = this.#elsewhere.filter((entry) => entry.message !== message);
            await sent.forget((entry) => entry.message === message).catch(() => {});
        } catch (failure) {
            if (failure.status === 401) return this.#session.ended();
            if (failure.status !== 404) return say('sentNote', failureWords(failure), 'bad');
            words = t('sent.late');
        }
        if (user !== this.#session.user) return;
        $('sentHeading').focus();
        this.load(words);
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

function item(entry, cancel) {
    const { at, to, text, secret, lines, state } = entry;
    const isLater = isForLater(entry);
    const made = element('li', { data: { kind: text === null ? 'secret' : 'message' } },
        element('p', { className: 'title', dir: 'auto' }, t('sent.to', { name: to })),
        ...(isLater && !state ? [] : [element('time', { dateTime: new Date(at).toISOString() }, time(at))]),
        element('p', { className: 'text', dir: 'auto' }, ...(text === null ? [secretWords(secret)] : linked(text))),
        element('p', { className: 'states' }, ...(isLater ? [badgeOfLater(entry)] : lines.map(badge))));
    if (isLater && (entry.isWaiting ?? at > Date.now())) made.append(cancelButton(entry, cancel));
    return made;
}

/** One for later gets its number when it is sent. */
const secretWords = (id) => (id === null ? t('secret.title') : t('sent.secret', { id }));

function badge({ platform, state, counts }) {
    const { label, tone, sentence } = outcomeWords(state, counts);
    return element('span', { className: 'state', title: sentence, data: { tone } }, `${platformWords(platform)}: ${label}`);
}

function badgeOfLater({ at, state }) {
    const { label, tone } = state ? outcomeWords(state) : { label: t('sent.scheduled', { time: time(at) }), tone: 'wait' };
    return element('span', { className: 'state', data: { tone } }, label);
}

function cancelButton({ message, to, at }, cancel) {
    const button = element('button', { type: 'button', className: 'small', data: { message } });
    const label = (key) => (place) => {
        place.textContent = t(key);
        place.setAttribute('aria-label', `${t(key)}: ${t('sent.to', { name: to })}, ${time(at)}`);
    };
    label('sent.cancel')(button);
    pressTwice(button, label('sent.cancel'), label('sent.cancelSure'), cancel);
    return element('div', { className: 'buttons' }, button);
}
