// SPDX-License-Identifier: Apache-2.0
// The list of what was sent from this browser, of what is for later, and what became of each. Timelines are asked for when the list is
// opened. While it is visible, those of which something is still to come are asked for now and then.

import { $, arrange, element, pressTwice, say } from './dom.js';
import { lead } from './focus.js';
import { t, time } from './i18n.js';
import { linked } from './links.js';
import { outcomeWords } from './outcomes.js';
import { isForLater, refresh } from './scheduled.js';
import * as api from './sender-api.js';
import * as sent from './sent.js';
import { isUnderWay, look, plainStep, step, steps } from './timeline.js';
import { failureWords } from './words.js';

const [patience, day, week] = [120_000, 86_400_000, 7 * 86_400_000]; // milliseconds; a week is how long a timeline is kept
const pollSeconds = 20;
const newest = 10; // entries

export class SentList {
    #session;
    #turn = 0;
    #timer;
    #isBusy = false; // timelines are asked for, or will be as soon as the list is up to date
    #isLoaded = false; // what the server knows of this user's is in the list
    #entries = []; // newest first
    #items = new Map(); // by what they look like
    #elsewhere = []; // entries of what was written for later on other devices, which are not kept here

    constructor(session) {
        this.#session = session;
        $('sent').before(element('p', { id: 'sentNote', className: 'note', role: 'status' }));
        const words = (key) => (button) => { button.textContent = t(key); };
        pressTwice($('clearSent'), words('sent.clear'), words('sent.clearSure'), () => this.#clear());
        setInterval(() => this.#poll(), pollSeconds * 1000);
        for (const event of ['visibilitychange', 'sent']) {
            document.addEventListener(event, () => { if (isVisible()) this.load($('sentNote').textContent); });
        }
    }

    /** Another user, or none: what the last one sent goes, and what is still being read is not shown. */
    forget() {
        this.#turn += 1;
        clearTimeout(this.#timer);
        this.#elsewhere = [];
        this.#isBusy = false;
        this.#isLoaded = false;
        say('sentNote', '');
        this.#show([]);
    }

    async load(note = '') {
        const turn = ++this.#turn;
        clearTimeout(this.#timer);
        this.#isBusy = true;
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
        this.#isLoaded = true;
        this.#show(entries);
        await this.#look(this.#told(week).filter((entry, place) => place < newest || isOpen(entry)));
        if (turn !== this.#turn) return;
        this.#isBusy = false;
        this.#again(note);
    }

    /** Asks for those of which something is still to come. */
    async #poll() {
        if (this.#isBusy || !isVisible() || this.#session.isPresumed) return;
        const turn = this.#turn;
        this.#isBusy = true;
        await this.#look(this.#told(day).slice(0, newest).filter(isOpen));
        // A load that has begun meanwhile asks for all, and is what keeps it busy.
        if (turn === this.#turn) this.#isBusy = false;
    }

    /** Those that have a timeline, and are not older. */
    #told(age) {
        return this.#entries.filter((entry) => entry.isSent && entry.message && !entry.isForgotten && Date.now() - entry.at < age);
    }

    async #look(entries) {
        const turn = this.#turn;
        for (const entry of entries) {
            // Without an answer it stays as it is.
            await look(entry).catch(({ status }) => { entry.isForgotten = status === 404; });
            if (turn !== this.#turn) return;
            this.#show();
        }
    }

    /** At the next message's time, and after it again when twice as long has passed. */
    #again(note) {
        const awaited = [...this.#entries.filter(isForLater), ...this.#told(day).filter(isUnderWay)];
        const pauses = awaited.map(({ at }) => at - Date.now());
        const next = Math.min(...pauses.filter((one) => one > -patience).map((one) => Math.max(Math.abs(one), 1000)));
        if (next < Infinity) this.#timer = setTimeout(() => { if (!$('sentCard').hidden && !document.hidden) this.load(note); }, next);
    }

    /** Newest first. One for later may have come from the server before it was noted here. */
    #show(entries = this.#entries) {
        const all = entries.filter(({ message }, place) => !message || place === entries.findIndex((one) => one.message === message))
            .sort((one, other) => second(other) - second(one) || (other.key ?? 0) - (one.key ?? 0));
        this.#entries = all;
        $('sentCard').ariaBusy = !this.#isLoaded;
        $('sentEmpty').textContent = t(this.#isLoaded ? 'sent.empty' : 'loading');
        $('sentEmpty').hidden = all.length > 0;
        $('clearSent').hidden = all.every(waits);
        const old = this.#items;
        this.#items = new Map(all.map((entry) => {
            const fresh = item(entry, () => this.#cancel(entry));
            return [fresh.outerHTML, old.get(fresh.outerHTML) ?? fresh];
        }));
        const items = [...this.#items.values()];
        const had = document.activeElement?.dataset.message;
        arrange($('sent'), items);
        if (had) [...$('sent').querySelectorAll('button')].find(({ dataset }) => dataset.message === had)?.focus();
    }

    /** What waits to be sent stays: it is cancelled one by one. */
    async #clear() {
        const { user } = this.#session;
        const waiting = new Set(this.#entries.filter(waits).map(({ message }) => message));
        await sent.forget((entry) => entry.user === user && !waiting.has(entry.message)).catch(() => {});
        await this.load();
        lead($('sentHeading'), $('clearSent'));
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
        lead($('sentHeading'), $('sent'));
        this.load(words);
    }
}

/** The server tells no more of a time. Of two messages of the same second the one that was sent later is above the other. */
const second = ({ at }) => Math.floor(at / 1000);

/** It is for later, and its time has not come. */
const waits = (entry) => isForLater(entry) && (entry.isWaiting ?? entry.at > Date.now());

const isVisible = () => !$('sentCard').hidden && !document.hidden;

const isOpen = (entry) => entry.read === false || isUnderWay(entry);

function item(entry, cancel) {
    const { key, message, to, text, secret } = entry;
    const isLater = isForLater(entry);
    const made = element('li', { data: { kind: text === null ? 'secret' : 'message', name: message ?? key } },
        element('p', { className: 'title' }, t('sent.to', { name: to })),
        element('p', { className: 'text', dir: 'auto' }, ...(text === null ? [secretWords(secret)] : linked(text))),
        element('ol', { className: 'steps' }, ...(isLater ? stepsOfLater(entry) : steps(entry))));
    if (waits(entry)) made.append(cancelButton(entry, cancel));
    return made;
}

/** One for later gets its number when it is sent. */
const secretWords = (id) => (id === null ? t('secret.title') : t('sent.secret', { id }));

function stepsOfLater({ at, state }) {
    const words = t('sent.scheduled', { time: time(at) });
    if (!state) return [step(words, 'wait')];
    const { label, tone } = outcomeWords(state);
    return [plainStep(words), step(label, tone)];
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
