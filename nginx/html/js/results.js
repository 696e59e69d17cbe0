// SPDX-License-Identifier: Apache-2.0
// What became of a message, a line for each platform. The hub takes a message first and delivers it then, so each line
// asks after its notification for a while: after 1, 2, 4 … seconds, until the state is final or two minutes are over.

import * as api from './sender-api.js';
import { $, announce, element, say } from './dom.js';
import { t } from './i18n.js';
import { bounded } from './push.js';
import { finalStates, outcomeWords, platformOf, platformWords, templates } from './outcomes.js';

const waits = [1, 2, 4, 8, 15, 30, 60]; // seconds; 120 in all

export class Results {
    #lines = new Map();
    #ended = new AbortController();

    /** A new message (null: a secret, whose text is not shown): the lines of the one before go, and its outcome is not asked for any more. */
    begin(recipient, message) {
        this.empty();
        this.#ended = new AbortController();
        $('results').hidden = false;
        const text = message === null ? t('result.secret') : t('result.quoted', { text: bounded(message, 80) });
        $('resultsFor').textContent = t('result.for', { name: recipient, text });
    }

    /** Nothing is shown, and no outcome is asked for any more. */
    empty() {
        this.#ended.abort();
        this.#lines.clear();
        $('sendResults').replaceChildren();
        $('resultsFor').textContent = '';
        this.note('');
        $('results').hidden = true;
    }

    note(text) {
        say('resultsNote', text);
    }

    /** The line of a platform, made when there is none yet. */
    line(name) {
        const platform = platformOf(name);
        if (!this.#lines.has(platform)) {
            const line = element('li', { data: { platform } },
                element('span', { className: 'platform' }, platformWords(platform)),
                element('span', { className: 'state' }),
                element('span', { className: 'detail' }));
            this.#lines.set(platform, line);
            show(line, 'Sending');
            $('sendResults').append(line);
        }
        return this.#lines.get(platform);
    }

    failed(line) {
        show(line, 'Failed');
    }

    /**
     * Shows an outcome of the send, and then what the hub says of it later. Gives `{ isReached, words, line }`: whether a push
     * service took it for a device (null: not known), what is said of it, and what `sent.js` keeps.
     */
    async follow({ Platform: platform, State: state, NotificationId: notification, Error: error }) {
        const { signal } = this.#ended;
        let last = state;
        let counts = {};
        let obstacle = '';
        const end = (isReached, words = '') => ({
            isReached,
            words,
            line: { platform: platformOf(platform), state: last, notification, counts },
        });
        // Emptied before the answer to the send arrived.
        if (signal.aborted) return end(null);
        const line = this.line(platform);
        show(line, state, {}, typeof error === 'string' ? error.slice(0, 200) : '');
        for (const seconds of waits) {
            if (finalStates.includes(last) || typeof notification !== 'string') break;
            await pause(seconds, signal);
            if (signal.aborted) return end(null);
            try {
                const { State, Outcomes, WaitsFor } = await api.outcomes(notification);
                if (signal.aborted) return end(null);
                last = State;
                const own = Array.isArray(Outcomes) ? Outcomes.filter((one) => platform === templates || platformOf(one.Platform) === platformOf(platform)) : [];
                counts = sum(own.map((one) => one.Counts));
                obstacle = WaitsFor === 'credential' ? t('result.credential') : '';
                show(line, State, counts, obstacle);
            } catch (failure) {
                // No longer logged in: what is shown is all there will be. Else once more; 404, too, because a hub may
                // need a moment before it knows what it took.
                if ([401, 403].includes(failure.status)) return end(null);
            }
        }
        if (finalStates.includes(last)) announce([...line.children].map((one) => one.textContent).join(' '));
        else if (last === 'Enqueued' || last === 'Processing') show(line, last, {}, obstacle || t('result.silence'));
        // A hub without a service tier that tells, or two minutes that were over.
        if (!finalStates.includes(last) || counts.UnknownError > 0) return end(null);
        return end(counts.Success > 0, `${line.children[0].textContent}: ${line.children[2].textContent}`);
    }
}

function show(line, state, counts, sentence) {
    const words = outcomeWords(state, counts);
    const [, label, detail] = line.children;
    line.dataset.state = state;
    line.dataset.tone = words.tone;
    label.textContent = words.label;
    detail.textContent = sentence || words.sentence;
}

/** Adds up counts by their names. */
function sum(all) {
    const total = {};
    for (const counts of all) {
        for (const [name, count] of Object.entries(counts ?? {})) total[name] = (total[name] ?? 0) + count;
    }
    return total;
}

/** Waits; ends early, without an error, when `signal` is aborted. */
function pause(seconds, signal) {
    return new Promise((resolve) => {
        const timer = setTimeout(resolve, seconds * 1000);
        signal.addEventListener('abort', () => { clearTimeout(timer); resolve(); }, { once: true });
    });
}
