// SPDX-License-Identifier: Apache-2.0
// The inbox: messages that were pushed to this browser, and those that the server keeps for the user. A secret's text is fetched when
// it is wanted, and never kept. All else is kept until the session ends, for a page without a network.

import * as api from './api.js';
import { hear } from './channel.js';
import { $, announce, arrange, say, whileBusy } from './dom.js';
import { isUnread, nameFrom, numberOf, senderOf, timeFrom, titleOf, untitled } from './entries.js';
import { number, t } from './i18n.js';
import * as inbox from './inbox.js';
import { parsePush } from './push.js';
import { item, settle } from './received-item.js';
import { Retry } from './retry.js';
import { failureWords } from './words.js';

const readAtOnce = 10; // secrets
const limit = 50; // messages in one answer
const pollSeconds = 20;
const hiddenPause = 55_000; // milliseconds: once a minute by a timer that is not exact

let lost = ''; // in the address of what could not be loaded, which a browser remembers

export class Received {
    #session;
    #reply;
    // Newest first: what the inbox holds, `text` (null: a secret that is not shown), `isRead`, `fault`; `isTold`: the server must have it.
    #entries = [];
    #items = new Map(); // by their entries
    #turn = 0;
    #counted;
    #isReading = false; // what this browser keeps
    #isListed = false; // the server has told its list
    #tag; // of the list that it told
    #oldest; // id of the last message that it told, behind which older ones are
    #elsewhere = 0; // unread messages that are not among the entries
    #asked = 0; // when, in milliseconds
    #isMissed = false; // the person came back while an answer was on its way, which may tell of before
    #isTelling = false; // the server what was read
    #seen; // a promise of what watches the entries that are new
    #server = new Retry(() => this.#loadKept(), (failure) => this.#tellServer(failure));

    /** `reply(name)` is called when the user wants to write to the sender of an entry. */
    constructor(session, reply) {
        this.#session = session;
        this.#reply = reply;
        hear('received', ({ entry, text }) => this.#arrive(entry, text));
        navigator.serviceWorker?.addEventListener('message', ({ data }) => {
            if (data?.about === 'open') this.#lead(data.key);
        });
        setInterval(() => this.#poll(), pollSeconds * 1000);
        // Another user may have logged in meanwhile.
        for (const event of ['focus', 'offline']) addEventListener(event, () => this.#poll({ isWanted: true }));
        document.addEventListener('visibilitychange', () => this.#poll({ isWanted: true }));
        $('older').addEventListener('click', () => whileBusy($('older'), () => this.#older()));
    }

    /** Reads everything again: a user logged in or out, or the page was opened. */
    async load() {
        const turn = ++this.#turn;
        this.#server.stop();
        this.#isListed = false;
        this.#isMissed = false;
        this.#tag = undefined;
        this.#oldest = undefined;
        this.#elsewhere = 0;
        $('older').hidden = true;
        say('receivedNote', '');
        say('olderNote', '');
        const { user, isPresumed } = this.#session;
        const before = this.#entries;
        this.#isReading = true;
        const [received, told] = await Promise.all([inbox.list(), user ? inbox.told(user) : inbox.forgetTold()]).catch(() => [[], []]);
        if (turn !== this.#turn) return;
        this.#isReading = false;
        const own = received.filter((entry) => this.#isShown(entry));
        // Meanwhile, so not among them.
        const arrived = this.#entries.filter((entry) => !before.includes(entry) && !received.some(({ key }) => key === entry.key));
        this.#entries = [...arrived, ...own.map((entry) => ({ ...opened(entry), isTold: Boolean(user) && entry.user === user }))];
        for (const entry of (told ?? []).reverse()) this.#take(opened(entry));
        this.#sort();
        this.#render();
        const asksServer = Boolean(user) && !isPresumed;
        if (asksServer) await this.#server.start();
        if (turn !== this.#turn) return;
        this.#lead(Number(/^#received-(\d+)$/.exec(location.hash)?.[1]) || null, { quietly: true });
        if (!asksServer) return;
        const sealed = this.#entries.filter((entry) => entry.key && entry.kind === 'secret' && entry.text === null).slice(0, readAtOnce);
        for (const entry of sealed) if (turn === this.#turn) await this.#read(entry);
    }

    #poll({ isWanted = false } = {}) {
        const { user, isPresumed } = this.#session;
        if (!user || isPresumed || this.#isReading || this.#server.isWaiting) return;
        if (document.hidden && performance.now() - this.#asked < hiddenPause) return;
        if (isWanted && this.#server.isAtWork) this.#isMissed = true;
        this.#server.now();
    }

    /** Adds what the server keeps, and what it knows of what was pushed here. Throws `Failure`. */
    async #loadKept() {
        this.#asked = performance.now();
        const told = await this.#ask({ known: this.#tag });
        if (!told) return;
        this.#tag = told.tag;
        this.#forgetDeleted(told.Messages);
        const isJoined = this.#oldest && told.Messages.some(({ Id }) => this.#entries.some((entry) => numberOf(entry) === String(Id)));
        // Of two of the same second the newer one is above the other.
        for (const message of [...told.Messages].reverse()) this.#take(entryOf(message));
        // More have come than one answer holds: those between are behind these.
        if (!isJoined || told.Messages.length < limit) this.#reach(told.Messages);
        this.#isListed = true;
        this.#listed(told);
        this.#tellRead();
    }

    /** What the server keeps behind the last message that it told. */
    async #older() {
        const known = new Set(this.#entries);
        const isNew = (entry) => !known.has(entry);
        say('olderNote', '');
        try {
            do {
                const told = await this.#ask({ after: this.#oldest }).catch((failure) => {
                    // That message was deleted meanwhile: on from the front.
                    if (failure.field !== 'after') throw failure;
                    return this.#ask({});
                });
                if (!told) return;
                for (const message of told.Messages) this.#take(entryOf(message), { isOlder: true });
                this.#reach(told.Messages);
                this.#listed(told);
            } while (!$('older').hidden && !this.#entries.some(isNew));
        } catch (failure) {
            return say('olderNote', failureWords(failure), 'bad');
        }
        // Where a person reads on.
        const first = this.#items.get(this.#entries.find(isNew));
        if ($('older').contains(document.activeElement) || document.activeElement === document.body) first?.focus();
    }

    /** An answer of the server; null where it is no news, or another user's. Throws `Failure`. */
    async #ask(query) {
        const turn = this.#turn;
        try {
            const told = await api.inbox(limit, query);
            return turn === this.#turn && Array.isArray(told?.Messages) ? told : null;
        } catch (failure) {
            if (turn !== this.#turn) return null;
            if (failure.status !== 401) throw failure;
            this.#session.ended();
            return null;
        }
    }

    /** The list goes as far as these messages. */
    #reach(messages) {
        this.#oldest = messages.at(-1)?.Id;
        $('older').hidden = messages.length < limit;
    }

    #listed({ Unread: unread }) {
        this.#elsewhere = unread - this.#entries.filter(({ isTold, isRead }) => isTold && isRead === false).length;
        this.#sort();
        this.#render();
    }

    /** What has no time was sent before the server noted it, and stays behind the others in the server's order. */
    #sort() {
        this.#entries.sort((one, other) => (other.at ?? 0) - (one.at ?? 0));
    }

    /** An entry that the server has told. */
    #take(fresh, { isOlder = false } = {}) {
        const { kind, from, text, isRead } = fresh;
        const known = this.#entries.filter((entry) => numberOf(entry) === numberOf(fresh));
        for (const entry of known) Object.assign(entry, { isRead, isTold: true, ...(kind === 'secret' && { from }) });
        if (known.length > 0) return;
        if (isOlder) return this.#entries.push(fresh);
        this.#entries.unshift(fresh);
        if (this.#isListed) announce(text === null ? `${titleOf(fresh)}.` : `${titleOf(fresh)}: ${text}`);
    }

    /** For a page without a network, without the text of a secret. */
    async #keep() {
        if (!this.#isListed) return;
        const told = this.#entries.filter((entry) => entry.isTold && numberOf(entry)).slice(0, limit);
        const kept = told.map(({ key, text, fault, ...entry }) => entry);
        await inbox.keepTold(this.#session.user, kept).catch(() => {});
    }

    /** Forgets what the server has no more. Of a list that is full the end is not known. */
    #forgetDeleted(messages) {
        const there = new Set(messages.map(({ Id }) => String(Id)));
        const end = messages.length < limit ? -Infinity : timeFrom(messages.at(-1).SentAt) ?? Infinity;
        // Of a token that was pushed the number is not known.
        const isNamed = (entry) => /^\d+$/.test(numberOf(entry) ?? '');
        const gone = this.#entries.filter((entry) => entry.isTold && isNamed(entry) && !there.has(numberOf(entry)) && (entry.at ?? 0) > end);
        this.#entries = this.#entries.filter((entry) => !gone.includes(entry));
        for (const entry of gone) inbox.forgetKept(numberOf(entry)).catch(() => {});
    }

    #tellServer(failure) {
        const words = failure ? `${t('inbox.unlisted', { why: failureWords(failure) })} ${t('retry.byItself')}` : '';
        say('receivedNote', words, failure?.status === 0 ? 'wait' : 'bad');
        if (failure || !this.#isMissed) return;
        this.#isMissed = false;
        this.#poll();
    }

    /** Without a user only that there is a secret. */
    #isShown(entry) {
        const { user } = this.#session;
        return entry.user === null || entry.user === user || (!user && entry.kind === 'secret');
    }

    #arrive(entry, text) {
        // The worker has set the icon's number meanwhile.
        if ('badge' in entry) this.#counted = undefined;
        if (!this.#isShown(entry)) return this.#note();
        const { user } = this.#session;
        const fresh = { ...entry, text: user ? text : entry.kind === 'secret' ? null : text };
        const number = numberOf(entry);
        const isSame = (other) => (other.key ? other.key === entry.key : number !== undefined && numberOf(other) === number);
        const told = this.#entries.find(isSame);
        if (told) Object.assign(fresh, { isRead: told.isRead, isTold: told.isTold });
        this.#entries = [fresh, ...this.#entries.filter((other) => other !== told)];
        this.#render();
        announce(text === null ? `${titleOf(fresh)}.` : `${titleOf(fresh)}: ${text}`);
        if (text === null && user) this.#read(fresh);
    }

    /** A plain message is not new any more when a person has looked at it (seen.js); a secret, when they have read it. */
    #watch() {
        const isNew = (entry) => this.#session.user && entry.kind !== 'secret' && isUnread(entry);
        const fresh = [...this.#items].filter(([entry]) => isNew(entry)).map(([, one]) => one);
        if (fresh.length > 0) this.#seen ??= import(`./seen.js${lost}`).then(({ Seen }) => new Seen((items) => this.#see(items)));
        this.#seen?.then((seen) => seen.watch(fresh), () => {
            lost += '?';
            this.#seen = undefined;
        });
    }

    #see(items) {
        const fresh = this.#entries.filter((entry) => items.includes(this.#items.get(entry)));
        inbox.see(fresh.map((entry) => entry.key).filter(Boolean)).catch(() => {});
        for (const entry of fresh) entry.isSeen = true;
        this.#render();
        this.#tellRead();
    }

    /**
     * Tells the server, one call after the other. Where one fails, it is done again with the server's next list.
     */
    async #tellRead() {
        if (this.#isTelling || this.#session.isPresumed) return;
        this.#isTelling = true;
        const turn = this.#turn;
        try {
            for (let entry; (entry = this.#entries.find(isToTell)) && turn === this.#turn;) {
                entry.isRead = true;
                await api.markAsRead(entry.message);
            }
        } catch {
            this.#tag = undefined;
        }
        this.#isTelling = false;
        // Another list, which was told meanwhile.
        if (turn !== this.#turn) this.#tellRead();
    }

    async #read(entry) {
        entry.fault = '';
        try {
            const { Payload, From } = await api.secret(entry.secret);
            Object.assign(entry, { text: typeof Payload === 'string' ? Payload : '', isRead: true });
            entry.from ??= nameFrom(From);
        } catch (failure) {
            if (failure.status === 401) return this.#session.ended();
            entry.fault = failureWords(failure, { 404: t('inbox.gone') });
        }
        this.#render(entry);
    }

    /** Ends a message, at the server and here. One that the server does not have any more is as good as deleted. */
    async #erase(entry) {
        const number = numberOf(entry);
        try {
            if (number) await (entry.kind === 'secret' ? api.deleteSecret(number) : api.deleteMessage(number));
        } catch (failure) {
            if (failure.status === 401) return this.#session.ended();
            if (failure.status !== 404) {
                entry.fault = failureWords(failure);
                return this.#render(entry);
            }
        }
        await (number ? inbox.forgetKept(number) : inbox.remove(entry.key)).catch(() => {});
        const place = this.#entries.indexOf(entry);
        this.#entries = this.#entries.filter((other) => other !== entry && (!number || numberOf(other) !== number));
        await this.#keep();
        this.#render();
        announce(t('inbox.deleted'));
        // A person who has gone on keeps it.
        if (document.activeElement.contains($('received'))) ($('received').children[place] ?? $('receivedHeading')).focus();
    }

    #lead(key, { quietly = false } = {}) {
        const place = key === null ? null : $(`received-${key}`);
        if (quietly && (!place?.offsetParent || $('composer').contains(document.activeElement))) return;
        document.dispatchEvent(new Event('inbox'));
        (place ?? $('receivedHeading')).focus();
    }

    /** Keeps the list, and shows the number of unread ones. */
    #note() {
        this.#keep();
        const count = this.#session.user ? Math.max(0, this.#entries.filter(isUnread).length + this.#elsewhere) : 0;
        if (count === this.#counted) return;
        this.#counted = count;
        document.title = count > 0 ? `(${number(count)}) ${t('name')}` : t('name');
        $('unread').textContent = number(count);
        $('unread').hidden = count === 0;
        navigator.setAppBadge?.(count).catch(() => {});
    }

    /** Draws the list; what did not change stays, with focus and selection. */
    #render(changed) {
        const { user } = this.#session;
        const had = document.activeElement?.closest?.('#received li');
        const old = this.#items;
        this.#items = new Map(this.#entries.map((entry) => {
            const presses = { read: () => this.#read(entry), reply: () => this.#reply(senderOf(entry)), erase: () => this.#erase(entry) };
            const fresh = item(entry, Boolean(user), presses);
            const there = old.get(entry);
            if (!there || entry === changed || there.dataset.look !== fresh.dataset.look) return [entry, fresh];
            if (!isUnread(entry)) settle(there);
            return [entry, there];
        }));
        const items = [...this.#items.values()];
        arrange($('received'), items);
        if (had && !had.isConnected) items.find((one) => one.dataset.name === had.dataset.name)?.focus();
        $('receivedEmpty').hidden = !user || items.length > 0;
        $('inboxCard').hidden = !user && items.length === 0;
        this.#note();
        this.#watch();
    }
}

/** The server has it as unread. */
const isToTell = ({ message, isSeen, isRead }) => message && isSeen && isRead === false;

/** As it is shown, of what is kept here. */
const opened = (entry) => ({ ...entry, text: entry.kind === 'secret' ? null : entry.body });

/** What the server tells of a message; plain ones as they are pushed to browsers. */
function entryOf({ Id, Secure, Read, From, SentAt, Title, Body, Link }) {
    const number = String(Id);
    const told = { isRead: Read === true, isTold: true, at: timeFrom(SentAt) };
    if (Secure) return { kind: 'secret', secret: number, text: null, from: nameFrom(From), ...told };
    const plain = parsePush(JSON.stringify({ title: Title ?? untitled(From), body: Body, sender: Title && From, link: Link }));
    return { ...plain, message: number, text: plain.body, ...told };
}
