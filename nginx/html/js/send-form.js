// SPDX-License-Identifier: Apache-2.0
// Sends a message: one request for all platforms that are switched on, so that it is one entry in the recipient's inbox.
// What was typed stays until it was sent, and comes back when it reached no device and no inbox keeps it. While the server is away it is tried
// again until it is back, or the message is changed.

import { Attempts } from './attempts.js';
import { $, absolve, blame, say } from './dom.js';
import { timeFrom } from './entries.js';
import { t, time } from './i18n.js';
import { isAway, lineOf } from './outcomes.js';
import { offerPeople } from './people.js';
import { current } from './registration.js';
import { Results } from './results.js';
import { Retry } from './retry.js';
import * as api from './sender-api.js';
import * as sent from './sent.js';
import { faultWords } from './when.js';
import { failureWords, nameFault } from './words.js';

export class SendForm {
    #session;
    #composer;
    #results = new Results();
    #attempts = new Attempts();
    #turn = 0;
    #busy = false;
    #hasWaited = false; // for the server: the message's time may have come meanwhile
    #outbox = new Retry(() => this.#try(), (failure) => this.#tellAway(failure));

    constructor(session, composer) {
        this.#session = session;
        this.#composer = composer;
        $('sendForm').addEventListener('submit', (event) => {
            event.preventDefault();
            if (this.#busy || $('send').disabled) return;
            this.#hasWaited = this.#outbox.isWaiting;
            this.#outbox.start();
        });
        // What is changed waits for Send again.
        composer.addEventListener('input', () => {
            this.#outbox.stop();
            say('sendError', '');
            // Of the message before, which the list of what was sent has.
            if (!this.#busy) $('results').hidden = true;
        });
    }

    show() {
        $('send').disabled = !this.#session.user;
        // A button that is disabled loses the focus.
        $('send').ariaBusy = this.#busy;
    }

    /** Another user, or none: nothing of the last one's messages stays, and what is still under way shows nothing. */
    forget() {
        this.#turn += 1;
        this.#outbox.stop();
        this.#results.empty();
        this.#composer.absolve();
    }

    /** The message that waited when the page was closed or reloaded goes out now. */
    resume() {
        if (this.#busy || this.#outbox.isWaiting) return;
        this.#hasWaited = true;
        this.#outbox.start();
    }

    /** Throws `Failure` when it is to be tried again. */
    async #try() {
        const wanted = this.#busy ? null : this.#composer.read(this.#hasWaited);
        if (!wanted) return;
        const { user, recipient, text, secure, places, message } = wanted;
        const turn = ++this.#turn;
        this.#busy = true;
        this.show();
        this.#results.begin(recipient, secure ? null : text);
        const lines = secure || message.SendAt ? [] : places.map((platform) => this.#results.line(platform));
        let answer, isKept;
        try {
            const from = await ownDevice(user, recipient);
            const key = await this.#attempts.key(user, message);
            // Another user would send it.
            if (turn !== this.#turn) return;
            const dispensable = this.#hasWaited ? ['FromDevice', 'SendAt'] : ['FromDevice'];
            answer = await send({ ...message, FromDevice: from }, key, dispensable, () => turn === this.#turn);
            // Before Send can be pressed again.
            isKept = isUnreached(answer) && await isInInbox(answer);
        } catch (failure) {
            this.#attempts.failed(failure);
            // Of a message that waits nothing has become yet.
            if (this.#isToBeTried(failure)) this.#results.empty();
            else for (const line of lines) this.#results.failed(line);
            return this.#tell(failure, wanted, turn);
        } finally {
            this.#busy = false;
            this.show();
        }
        this.#attempts.end();
        this.#tellSent(answer, isKept, wanted, turn);
    }

    /** `isKept`: in the recipient's inbox, although no device was reached. */
    #tellSent(answer, isKept, wanted, turn) {
        const { user, recipient, text } = wanted;
        const outcomes = outcomesOf(answer);
        // Also where the sender or the recipient is secure-only.
        const secret = answer?.Id ?? null;
        const at = timeFrom(answer?.SendAt);
        const isKnown = isUnreached(answer) && !isKept;
        // Before the text is gone.
        if (isKnown) this.#composer.keep(false);
        else this.#composer.clear(user, text);
        // A user who left meanwhile leaves no list of what was sent either.
        if (turn !== this.#turn) return;
        const fates = outcomes.map((outcome) => this.#results.follow(outcome));
        if (secret !== null) this.#results.note(t('result.secretKept', { id: secret, name: recipient }));
        if (at) this.#results.note(t('sent.scheduled', { time: time(at) }));
        const own = { message: answer?.MessageId, ...(at ? { at } : { isSent: true }) };
        const kept = isKnown ? null : this.#keep(wanted, secret, outcomes.map(lineOf), own);
        this.#follow(fates, { answer, recipient, text, secret, isKnown, isKept, turn, kept });
    }

    /** Says it when no device was reached, and notes in the list of what was sent what became of it. */
    async #follow(following, { answer, recipient, text, secret, isKnown, isKept, turn, kept }) {
        const fates = await Promise.all(following);
        const key = await kept;
        if (key) await sent.update(key, { lines: fates.map(({ line }) => line) }).catch(() => {});
        if (turn !== this.#turn || fates.some(({ isReached }) => isReached !== false)) return;
        if (secret !== null) this.#results.note(t('result.secretUntold', { id: secret, name: recipient }));
        if (secret !== null || fates.length === 0) return;
        const isThere = isKept || (!isKnown && await isInInbox(answer));
        if (turn !== this.#turn) return;
        if (isThere) this.#results.note(t('result.keptUntold', { name: recipient }));
        else this.#tellUnreached(recipient, fates.map(({ words }) => words), text, isKnown);
    }

    /** `own`: its id, and whether it is sent; one that waits for its time has that. */
    #keep({ user, recipient: to, text, secure }, secret, lines, own) {
        const entry = { user, at: Date.now(), to, text: secure || secret !== null ? null : text, secret, lines, ...own };
        const added = sent.add(entry).catch(() => null);
        added.then(() => {
            if (user !== this.#session.user) return;
            offerPeople(user);
            document.dispatchEvent(new Event('sent'));
        });
        return added;
    }

    /** `isKnown`: at once, so the text was not even cleared and the person still looks at it. */
    #tellUnreached(recipient, words, text, isKnown) {
        const isHere = this.#composer.restore(recipient, text);
        const kept = t(isHere ? 'compose.kept' : 'compose.otherBegun');
        if (!isKnown) {
            const why = [...new Set(words)].join('; ');
            return say('sendError', `${t('compose.unreachedFor', { name: recipient, why })} ${kept}`, 'bad');
        }
        const right = t('compose.rightName', { name: recipient });
        blameUnlessGone('recipient', `${t('compose.unreached', { name: recipient })} ${kept} ${right}`, { recipient, text });
    }

    /** Throws `Failure` when it failed because the server is away, if the message was not changed meanwhile. */
    #tell(failure, { recipient, text, secure }, turn) {
        if (turn !== this.#turn) return;
        if (failure.status === 401) return this.#session.ended();
        if (this.#isToBeTried(failure)) throw failure;
        this.#composer.keep(false);
        const words = wordsOf(failure, recipient, secure);
        const field = culprit(failure);
        if (field) blameUnlessGone(field, words, { recipient, text });
        else say('sendError', words, 'bad');
    }

    /** An answer that comes again is final: another try would be another message. */
    #isToBeTried(failure) {
        return !failure.replayed && this.#outbox.isAtWork && isAway(failure);
    }

    /** `failure`: the server is away, and the message waits; null: no more. */
    #tellAway(failure) {
        if (!failure) return;
        this.#hasWaited = true;
        this.#composer.keep(true);
        const why = failure.status === 409 ? t('compose.underWay') : failureWords(failure);
        say('sendError', `${why} ${t('compose.byItself')}`, 'wait');
    }
}

/** Leads to the field only while the message is in the form as it was sent: else what is typed next would replace the recipient. */
function blameUnlessGone(field, words, { recipient, text }) {
    if ($('recipient').value.trim() === recipient && $('message').value === text) return blame(field, words);
    say(`${field}Error`, words, 'bad');
    $(field).addEventListener('input', () => absolve(field), { once: true });
}

const outcomesOf = (answer) => (Array.isArray(answer?.Outcomes) ? answer.Outcomes : []);

/** Whether the hub says at once that no device was reached. Of a secret it does not matter. */
function isUnreached(answer) {
    const outcomes = outcomesOf(answer);
    return !answer?.Id && outcomes.length > 0 && outcomes.every(({ State: state }) => state === 'NoTargetFound');
}

/** Whether the server keeps a plain message for its recipient, which its timeline tells. */
const isInInbox = ({ MessageId: id }) => (id ? api.timeline(id).then(({ Kept }) => Kept === true, () => false) : false);

/**
 * Sends it without those of the `dispensable` members that the server refuses. A device that it knows no more is no reason not to send;
 * nor is a time that has come. `isWanted`: tells whether it is still the same user's.
 */
async function send(message, key, dispensable, isWanted) {
    try {
        return await api.send(message, key);
    } catch (failure) {
        const { status, field } = failure;
        if (status !== 400 || !message[field] || !dispensable.includes(field) || !isWanted()) throw failure;
        return send({ ...message, [field]: undefined }, key, dispensable, isWanted);
    }
}

/**
 * The id of this browser, where it may be among the recipients and the person wants it at others. Who writes to themself wants it here,
 * too, and another user has other devices. A hub leaves a device out of few tags, so not out of an expression.
 */
async function ownDevice(user, recipient) {
    if (recipient !== '*' && !/^(role|tag):/i.test(recipient)) return undefined;
    const registration = await current().catch(() => null);
    return registration?.user === user ? registration.id : undefined;
}

function wordsOf(failure, recipient, secure) {
    const own = {
        403: t('compose.notAllowed', { name: recipient }),
        409: t('compose.unknown'),
        413: t('compose.tooLongForServer'),
    };
    if (failure.field === 'SendAt') Object.assign(own, { 400: faultWords(true), 429: t('compose.tooManyWait') });
    if (failure.field === 'To') own[400] = recipientFault(recipient, secure);
    if (isTextRefused(failure)) own[400] = t('compose.unusable');
    return failureWords(failure, own);
}

/** What is wrong with a recipient that the server refused. */
function recipientFault(recipient, secure) {
    const isName = recipient !== '*' && !recipient.includes(':');
    const fault = isName ? nameFault(recipient) : t('compose.toUnusable', { name: recipient });
    return fault || t(secure ? 'compose.noSuchUser' : 'compose.toUnusable', { name: recipient });
}

const isTextRefused = ({ field }) => ['body', 'Body'].includes(field);

/** The id of the field that the server refused; null when it was none. */
function culprit(failure) {
    if (failure.status === 403 || failure.field === 'To') return 'recipient';
    if (failure.field === 'SendAt') return 'when';
    return failure.status === 413 || isTextRefused(failure) ? 'message' : null;
}
