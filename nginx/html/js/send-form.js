// SPDX-License-Identifier: Apache-2.0
// Sends a message: one request for each platform that is switched on, as in the tutorials; a secret in one request for
// all. What was typed stays until it was sent, and comes back when it reached no device. While the server is away it is
// tried again until it is back, or the message is changed.

import * as api from './api.js';
import { Attempts } from './attempts.js';
import { $, absolve, blame, say } from './dom.js';
import { t } from './i18n.js';
import { offerPeople } from './people.js';
import { Results } from './results.js';
import { Retry } from './retry.js';
import * as sent from './sent.js';
import { failureWords, isAway, platformOf, platformWords } from './words.js';

export class SendForm {
    #session;
    #composer;
    #results = new Results();
    #attempts = new Attempts();
    #turn = 0;
    #busy = false;
    #outbox = new Retry(() => this.#try(), (failure) => this.#tellAway(failure));

    constructor(session, composer) {
        this.#session = session;
        this.#composer = composer;
        $('sendForm').addEventListener('submit', (event) => {
            event.preventDefault();
            if (!$('send').disabled) this.#outbox.start();
        });
        // What is changed waits for Send again.
        composer.addEventListener('input', () => {
            this.#outbox.stop();
            say('sendError', '');
        });
    }

    show() {
        $('send').disabled = this.#busy || !this.#session.user;
    }

    /** Another user, or none: nothing of the last one's messages stays, and what is still under way shows nothing. */
    forget() {
        this.#turn += 1;
        this.#outbox.stop();
        this.#results.empty();
        ['recipient', 'message'].forEach(absolve);
        say('sendError', '');
    }

    /** The message that waited when the page was closed or reloaded goes out now. */
    resume() {
        if (!this.#busy && !this.#outbox.isWaiting) this.#outbox.start();
    }

    /** Throws `Failure` when it is to be tried again. */
    async #try() {
        const wanted = this.#busy ? null : this.#composer.read();
        if (!wanted) return;
        const { user, recipient, message, secure, chosen } = wanted;
        const turn = ++this.#turn;
        this.#busy = true;
        this.show();
        this.#results.begin(recipient, secure ? null : message);
        let tried;
        try {
            await this.#attempts.begin(user, recipient, message, secure);
            // Another user would send it.
            if (turn !== this.#turn) return;
            tried = await Promise.all(chosen.map((platform) => this.#sendOne(platform, recipient, message)));
        } finally {
            this.#busy = false;
            this.show();
        }
        const failures = tried.filter(({ failure }) => failure);
        if (failures.length > 0) return this.#tell(failures, wanted, turn);
        // The same text once more is another message.
        this.#attempts.end();
        await this.#tellSent(tried, wanted, turn);
    }

    /** One request: what failed, or the hub's `outcomes` and promises of the `fates` that the results show. */
    async #sendOne(platform, recipient, message) {
        const line = platform && this.#results.line(platform);
        try {
            const key = this.#attempts.key(platform);
            const answer = await (platform ? api.send(platform, recipient, message, key) : api.sendSecret(recipient, message, key));
            const outcomes = Array.isArray(answer?.Outcomes) ? answer.Outcomes : [];
            return { id: answer?.Id ?? '?', outcomes, fates: outcomes.map((outcome) => this.#results.follow(outcome)) };
        } catch (failure) {
            this.#attempts.failed(platform, failure);
            if (line) this.#results.failed(line);
            return { platform, failure };
        }
    }

    async #tellSent(tried, { user, recipient, message, secure }, turn) {
        const outcomes = tried.flatMap(({ outcomes: some }) => some);
        const isKnown = !secure && outcomes.length > 0 && outcomes.every(({ State: state }) => state === 'NoTargetFound');
        // Before the text is gone.
        if (isKnown) this.#composer.keep(false);
        else this.#composer.clear(user, message);
        // A user who left meanwhile leaves no list of what was sent either.
        if (turn !== this.#turn) return;
        const [{ id }] = tried;
        if (secure) this.#results.note(t('result.secretKept', { id, name: recipient }));
        const kept = isKnown ? null : this.#keep(user, recipient, message, secure ? id : null, outcomes);
        this.#follow(tried, { recipient, message, secure, isKnown, id, turn, kept });
    }

    /** Says it when no device was reached, and notes in the list of what was sent what became of it. */
    async #follow(tried, { recipient, message, secure, isKnown, id, turn, kept }) {
        const fates = await Promise.all(tried.flatMap(({ fates: some }) => some));
        const key = await kept;
        if (key) await sent.update(key, fates.map(({ line }) => line)).catch(() => {});
        if (turn !== this.#turn || fates.some(({ isReached }) => isReached !== false)) return;
        if (secure) this.#results.note(t('result.secretUntold', { id, name: recipient }));
        else if (fates.length > 0) this.#tellUnreached(recipient, fates.map(({ words }) => words), message, isKnown);
    }

    #keep(user, to, text, secret, outcomes) {
        const lines = outcomes.map(({ Platform: platform, State: state, NotificationId: notification }) => (
            { platform: platformOf(platform), state, notification, counts: {} }));
        const entry = { user, at: Date.now(), to, text: secret === null ? text : null, secret, lines };
        const added = sent.add(entry).catch(() => null);
        added.then(() => { if (user === this.#session.user) offerPeople(user); });
        return added;
    }

    /** `isKnown`: at once, so the text was not even cleared and the person still looks at it. */
    #tellUnreached(recipient, words, message, isKnown) {
        const isHere = this.#composer.restore(message);
        const kept = t(isHere ? 'compose.kept' : 'compose.otherBegun');
        if (!isKnown) {
            const why = [...new Set(words)].join('; ');
            return say('sendError', `${t('compose.unreachedFor', { name: recipient, why })} ${kept}`, 'bad');
        }
        blame('recipient', `${t('compose.unreached', { name: recipient })} ${kept} ${t('compose.rightName', { name: recipient })}`);
    }

    /** Throws `Failure` when all that failed failed because the server is away, if the message was not changed meanwhile. */
    #tell(failures, { recipient, secure, chosen }, turn) {
        if (turn !== this.#turn) return;
        if (failures.some(({ failure }) => failure.status === 401)) return this.#session.ended();
        if (this.#outbox.isAtWork && failures.every(({ failure }) => isAway(failure))) throw failures[0].failure;
        this.#composer.keep(false);
        const sentences = new Map();
        for (const { platform, failure } of failures) {
            const words = wordsOf(failure, recipient, secure);
            sentences.set(words, [...(sentences.get(words) ?? []), platformWords(platform)]);
        }
        const same = sentences.size === 1 && failures.length === chosen.length;
        const all = [...sentences].map(([words, names]) => (same ? words : `${names.join(', ')}: ${words}`)).join(' ');
        const field = failures.map(({ failure }) => culprit(failure)).find((id) => id !== null);
        if (field) blame(field, all);
        else say('sendError', all, 'bad');
    }

    /** `failure`: the server is away, and the message waits; null: no more. */
    #tellAway(failure) {
        if (!failure) return;
        this.#composer.keep(true);
        const why = failure.status === 409 ? t('compose.underWay') : failureWords(failure);
        say('sendError', `${why} ${t('compose.byItself')}`, 'wait');
    }
}

function wordsOf(failure, recipient, secure) {
    const own = {
        403: t('compose.notAllowed', { name: recipient }),
        409: t('compose.unknown'),
        413: t('compose.tooLongForServer'),
    };
    if (secure && failure.field === 'to_tag') own[400] = t('compose.noSuchUser', { name: recipient });
    return failureWords(failure, own);
}

/** The id of the field that the server refused; null when it was none. */
function culprit(failure) {
    if (failure.status === 403 || failure.field === 'to_tag') return 'recipient';
    return failure.status === 413 || failure.field === 'body' ? 'message' : null;
}
