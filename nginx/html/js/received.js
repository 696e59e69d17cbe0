// SPDX-License-Identifier: Apache-2.0
// The list of what was received here, and of secrets that wait for whoever is logged in.
//
// Shown is what came for the user who is logged in, or for nobody in particular. A secret's text is fetched, never kept:
// the newest few by themselves (they would have been shown at once, had somebody been logged in), others on demand.

import * as api from './api.js';
import { hear } from './channel.js';
import { $, announce, element } from './dom.js';
import * as inbox from './inbox.js';
import { failureWords } from './words.js';

const readAtOnce = 10; // secrets
const limit = 50;

export class Received {
    #session;
    #entries = []; // newest first: what the inbox holds, with `text` (null: a secret that was not read) and `fault`
    #turn = 0;

    constructor(session) {
        this.#session = session;
        hear('received', ({ entry, text }) => this.#arrive(entry, text));
        navigator.serviceWorker?.addEventListener('message', ({ data }) => {
            if (data?.about === 'open') this.#lead(data.key);
        });
    }

    /** Reads everything anew: somebody logged in or out, or the page was opened. */
    async load() {
        const turn = ++this.#turn;
        const { user } = this.#session;
        const kept = (await inbox.list().catch(() => [])).filter((entry) => this.#isShown(entry));
        const waiting = user ? await api.unreadSecrets().catch(() => []) : [];
        if (turn !== this.#turn) return;
        this.#entries = kept.map((entry) => ({ ...entry, text: entry.kind === 'secret' ? null : entry.body }));
        const known = new Set(this.#entries.map((entry) => entry.secret));
        for (const { Id } of Array.isArray(waiting) ? waiting.slice(0, limit) : []) {
            if (!known.has(String(Id))) this.#entries.push({ kind: 'secret', secret: String(Id), text: null, waiting: true });
        }
        this.#render();
        this.#lead(Number(/^#received-(\d+)$/.exec(location.hash)?.[1]) || null, { quietly: true });
        if (!user) return;
        const sealed = this.#entries.filter((entry) => entry.kind === 'secret' && !entry.waiting).slice(0, readAtOnce);
        for (const entry of sealed) if (turn === this.#turn) await this.#read(entry);
    }

    /** Nobody logged in: of another's things only that there is a secret, which says nothing. */
    #isShown(entry) {
        const { user } = this.#session;
        return entry.user === null || entry.user === user || (!user && entry.kind === 'secret');
    }

    #arrive(entry, text) {
        if (!this.#isShown(entry)) return;
        const { user } = this.#session;
        const fresh = { ...entry, text: user ? text : entry.kind === 'secret' ? null : text };
        this.#entries = [fresh, ...this.#entries.filter((other) => !other.waiting || other.secret !== entry.secret)].slice(0, limit);
        this.#render();
        announce(text === null ? 'A secret is waiting.' : `${titleOf(fresh)}: ${text}`);
        if (text === null && user) this.#read(fresh);
    }

    async #read(entry) {
        entry.fault = '';
        try {
            const { Payload } = await api.secret(entry.secret);
            entry.text = typeof Payload === 'string' ? Payload : '';
        } catch (failure) {
            if (failure.status === 401) return this.#session.ended();
            entry.fault = failureWords(failure, { 404: 'It is not kept any more, or is not for you.' });
        }
        this.#render(entry);
    }

    #lead(key, { quietly = false } = {}) {
        const item = key === null ? null : $(`received-${key}`);
        if (!item && quietly) return;
        (item ?? $('receivedHeading')).focus();
    }

    /** Draws the list; only what changed is made anew, so that nobody's focus or selection is lost. */
    #render(changed) {
        const had = document.activeElement?.closest?.('#received li');
        const old = new Map([...$('received').children].map((item) => [item.dataset.name, item]));
        const items = this.#entries.map((entry) => {
            const there = old.get(nameOf(entry));
            return there && entry !== changed && there.dataset.kind === kindOf(entry) && there.dataset.able === this.#able() ? there : this.#item(entry);
        });
        if (items.some((item, index) => item !== $('received').children[index]) || old.size !== items.length) $('received').replaceChildren(...items);
        if (had && !had.isConnected) items.find((item) => item.dataset.name === had.dataset.name)?.focus();
        $('receivedEmpty').hidden = items.length > 0;
    }

    #able() {
        return String(Boolean(this.#session.user));
    }

    #item(entry) {
        const locked = kindOf(entry) === 'locked';
        const item = element('li', { tabIndex: -1, data: { kind: kindOf(entry), name: nameOf(entry), able: this.#able() } });
        if (entry.key) item.id = `received-${entry.key}`;
        item.append(element('p', { className: 'title' }, titleOf(entry)));
        if (entry.at) item.append(timeOf(entry.at));
        if (!locked && entry.text) item.append(element('p', { className: 'text' }, entry.text));
        if (locked && entry.fault) item.append(element('p', { className: 'note', data: { tone: 'bad' } }, entry.fault));
        if (locked && this.#session.user) {
            const button = element('button', { type: 'button', className: 'small' }, 'Read');
            button.setAttribute('aria-label', `Read secret no. ${entry.secret}`);
            button.addEventListener('click', () => this.#read(entry));
            item.append(button);
        } else if (locked) {
            item.append(element('p', { className: 'note' }, 'Log in to read it.'));
        }
        return item;
    }
}

const kindOf = (entry) => (entry.kind !== 'secret' ? 'message' : entry.text === null ? 'locked' : 'secret');
const nameOf = (entry) => (entry.key ? `key ${entry.key}` : `secret ${entry.secret} ${entry.at ?? ''}`);

function titleOf(entry) {
    if (entry.kind !== 'secret') return entry.title;
    return entry.text === null ? 'A secret is waiting' : 'Secure message';
}

function timeOf(at) {
    const date = new Date(at);
    const today = date.toDateString() === new Date().toDateString();
    const format = new Intl.DateTimeFormat('en-GB', today ? { timeStyle: 'short' } : { dateStyle: 'medium', timeStyle: 'short' });
    return element('time', { dateTime: date.toISOString() }, format.format(date));
}
