// SPDX-License-Identifier: Apache-2.0
// Sends a message: one request for each platform that is switched on, as in the tutorials; a secret in one request for
// all. What was typed stays until it was sent, and comes back when it reached no device.

import * as api from './api.js';
import { Attempts } from './attempts.js';
import { $, absolve, blame, say } from './dom.js';
import { Results } from './results.js';
import { amount, failureWords, platforms, platformOf } from './words.js';

export class SendForm {
    #session;
    #device;
    #results = new Results();
    #attempts = new Attempts();
    #limit = 2500; // bytes; the server tells its own
    #offered = new Set(Object.keys(platforms));
    #sends = 0;
    #busy = false;
    #isSecureOnly = false;

    constructor(session, device) {
        this.#session = session;
        this.#device = device;
        $('sendForm').addEventListener('submit', (event) => {
            event.preventDefault();
            this.#submit();
        });
        // As in a chat: Enter sends, and with Shift it begins a new line. Not while an input method is at work.
        $('message').addEventListener('keydown', (event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            $('sendForm').requestSubmit();
        });
        $('message').addEventListener('input', () => this.#count());
        $('secure').addEventListener('change', () => this.#switches());
        this.#count();
    }

    /** What the server told: which platforms there are, whether it delivers there, how long a message may be, and whether each
     *  is a secret. */
    configure({ Platforms: list, MaximumMessageBytes: limit, SecureOnly: isSecureOnly }) {
        if (Number.isSafeInteger(limit) && limit > 0) this.#limit = limit;
        if (Array.isArray(list)) {
            const delivers = new Map(list.map(({ Name, Delivers }) => [platformOf(Name), Delivers]));
            this.#offered = new Set(delivers.keys());
            for (const platform of Object.keys(platforms)) {
                const note = !delivers.has(platform) ? 'not offered by this server'
                    : delivers.get(platform) ? '' : 'recorded, not delivered';
                say(`${platform}Note`, note);
            }
        }
        // A message to each platform would be kept as a secret of its own.
        this.#isSecureOnly = isSecureOnly === true;
        if (this.#isSecureOnly) $('secure').checked = true;
        $('secure').disabled = this.#isSecureOnly;
        this.#switches();
        this.#count();
    }

    /** Enables the button for who may send now. */
    show() {
        const { user, registration } = this.#session;
        // Who is still logged in when the page opens waits for the device, which is on its way, as after a log-in.
        const isComing = !this.#device.optional && ['starting', 'subscribing'].includes(this.#device.state);
        $('send').disabled = this.#busy || !user || isComing || registration === 'registering';
        say('sendHint', user ? '' : 'Log in to send.');
        if (!user) this.#results.stop();
    }

    #switches() {
        const secure = $('secure').checked;
        for (const platform of Object.keys(platforms)) {
            $(platform).disabled = secure || !this.#offered.has(platform);
        }
        const why = this.#isSecureOnly ? 'This server sends every message as a secret. ' : '';
        say('secureNote', secure ? `${why}A secret goes to every platform of its recipient; only its number travels.` : '');
    }

    #count() {
        const bytes = new TextEncoder().encode($('message').value).length;
        const over = bytes - this.#limit;
        const text = `${bytes.toLocaleString('en')} of ${amount(this.#limit, 'byte')}`;
        $('counter').textContent = over > 0 ? `${text}: ${over.toLocaleString('en')} too many` : text;
        $('counter').dataset.tone = over > 0 ? 'bad' : '';
        return over;
    }

    /** What keeps the form from being sent, and the field to blame; null when nothing does. */
    #fault(chosen) {
        if ($('recipient').value.trim() === '') return ['Enter who is to receive it.', $('recipient')];
        if ($('message').value === '') return ['Enter a message.', $('message')];
        if (this.#count() > 0) return ['The message is too long.', $('message')];
        if (chosen.length === 0) return ['Switch on at least one platform.', $('browser')];
        return null;
    }

    async #submit() {
        if ($('send').disabled) return;
        [$('recipient'), $('message'), $('browser')].forEach(absolve);
        const secure = $('secure').checked;
        const chosen = secure ? [null] : Object.keys(platforms).filter((name) => $(name).checked && this.#offered.has(name));
        const fault = this.#fault(chosen);
        if (fault) {
            say('sendError', fault[0], 'bad');
            return blame(fault[1], 'sendError');
        }
        const [recipient, message] = [$('recipient').value.trim(), $('message').value];
        say('sendError', '');
        this.#busy = true;
        this.show();
        this.#results.begin(recipient);
        this.#attempts.begin(this.#session.user, recipient, message, secure);
        const turn = ++this.#sends;
        const sent = await Promise.all(chosen.map((platform) => this.#sendOne(platform, recipient, message)));
        this.#busy = false;
        this.show();
        const failures = sent.filter(({ failure }) => failure);
        if (failures.length > 0) return this.#tell(failures, chosen, recipient);
        // The same text once more is another message.
        this.#attempts.end();
        if (secure) return this.#tellSecret(sent[0], recipient);
        const outcomes = sent.flatMap(({ outcomes: some }) => some);
        const isKnown = outcomes.length > 0 && outcomes.every(({ State: state }) => state === 'NoTargetFound');
        if (!isKnown) this.#clear();
        const fates = await Promise.all(sent.flatMap(({ fates: some }) => some));
        if (turn !== this.#sends || fates.length === 0 || fates.some(({ isReached }) => isReached !== false)) return;
        this.#tellUnreached(recipient, fates.map(({ words }) => words), message, isKnown);
    }

    /** It is kept, so it is not lost; whether any device was told of it is another thing. */
    async #tellSecret({ id, fates }, recipient) {
        this.#clear();
        const turn = this.#sends;
        this.#results.note(`Kept as secret no. ${id}; ${recipient} reads it here.`);
        const found = await Promise.all(fates);
        if (turn !== this.#sends || found.some(({ isReached }) => isReached !== false)) return;
        this.#results.note(`Kept as secret no. ${id}. No device of ${recipient} was told of it: ${recipient} finds it in the list here.`);
    }

    #clear() {
        $('message').value = '';
        this.#count();
    }

    /** `isKnown`: at once, so the text was not even cleared and the person still looks at it. */
    #tellUnreached(recipient, words, message, isKnown) {
        const isBack = $('message').value === '' || isKnown;
        if (isBack) $('message').value = message;
        this.#count();
        const which = isBack ? 'The message is still here.' : 'You have begun another message meanwhile.';
        const name = isKnown ? ` Is “${recipient}” the right name?` : '';
        say('sendError', `No device of ${recipient} was reached (${words.join('; ')}). ${which}${name}`, 'bad');
        if (isKnown) blame($('recipient'), 'sendError');
    }

    /** One request: what failed, or the hub's `outcomes` and promises of the `fates` that the results show. */
    async #sendOne(platform, recipient, message) {
        const line = platform && this.#results.line(platform);
        try {
            const key = this.#attempts.key(platform);
            const sent = await (platform ? api.send(platform, recipient, message, key) : api.sendSecret(recipient, message, key));
            const outcomes = Array.isArray(sent?.Outcomes) ? sent.Outcomes : [];
            return { id: sent?.Id ?? '?', outcomes, fates: outcomes.map((outcome) => this.#results.follow(outcome)) };
        } catch (failure) {
            this.#attempts.failed(platform, failure);
            if (line) this.#results.failed(line);
            return { platform, failure };
        }
    }

    #tell(failures, chosen, recipient) {
        if (failures.some(({ failure }) => failure.status === 401)) {
            return this.#session.ended();
        }
        const sentences = new Map();
        for (const { platform, failure } of failures) {
            const words = failureWords(failure, {
                403: `You may not send to ${recipient}.`,
                409: failure.retryAfter === null
                    ? 'It is not known whether it was sent. To send it again all the same, press Send.'
                    : 'It is still being sent. Press Send in a moment to see what became of it.',
                413: 'The message is too long for the server. Shorten it.',
            });
            sentences.set(words, [...(sentences.get(words) ?? []), platforms[platform]]);
        }
        const same = sentences.size === 1 && failures.length === chosen.length;
        say('sendError', [...sentences].map(([words, names]) => (same ? words : `${names.join(', ')}: ${words}`)).join(' '), 'bad');
        const field = failures.map(({ failure }) => culprit(failure)).find((id) => id !== null);
        if (field) blame($(field), 'sendError');
    }
}

/** The id of the field that the server refused; null when it was none. */
function culprit(failure) {
    if (failure.status === 403 || failure.field === 'to_tag') return 'recipient';
    return failure.status === 413 || failure.field === 'body' ? 'message' : null;
}
