// SPDX-License-Identifier: Apache-2.0
// Users' messages that wait for their time, below those that were sent, and how one is cancelled. Titles and texts are not told.

import { $, element, say } from '../dom.js';
import { t, time } from '../i18n.js';
import { failureWords, nameFault } from '../words.js';
import * as calls from './calls.js';
import { confirm } from './confirm.js';

/** So many are shown: more than one user may have. */
const limit = 100;

export class Scheduled {
    #ended;
    #turn = 0;

    /** `ended` is called when there is no session any more. */
    constructor(ended) {
        this.#ended = ended;
        // Whose messages are looked for is so for both kinds.
        $('messageSearch').addEventListener('submit', () => this.load());
    }

    async load() {
        const turn = this.#turn += 1;
        const user = $('messageUser').value.trim();
        try {
            const messages = nameFault(user) ? [] : await calls.scheduled({ limit, ...(user && { user }) });
            if (turn !== this.#turn) return;
            $('scheduled').replaceChildren(...messages.map((message) => this.#item(message)));
            say('scheduledNote', messages.length ? '' : t('admin.noScheduled'));
        } catch (failure) {
            if (failure.status === 401) return this.#ended();
            if (turn === this.#turn) say('scheduledNote', failureWords(failure), 'bad');
        }
    }

    #item({ MessageId: id, From: from, To: to, SendAt: at, Secure: isSecure, TriedAt: triedAt }) {
        const title = t('admin.fromTo', { from, to });
        const told = [
            time(Date.parse(at)), isSecure && t('admin.secure'), triedAt && t('admin.tried', { time: time(Date.parse(triedAt)) }),
        ].filter(Boolean).join(' · ');
        const button = element('button', { type: 'button', className: 'small quiet' }, t('admin.cancelMessage'));
        button.setAttribute('aria-label', `${t('admin.cancelMessage')}: ${title}, ${told}`);
        button.addEventListener('click', () => this.#cancelMessage(id, from, to));
        return element('li', { data: { id } },
            element('span', {}, element('b', { dir: 'auto' }, title), element('small', {}, told)), button);
    }

    #cancelMessage(id, from, to) {
        confirm(t('admin.cancelMessage'), t('admin.cancelMessageWords', { from, to }), async (password) => {
            try {
                await calls.cancelMessage(id, password);
            } catch (failure) {
                if (failure.status === 401) return this.#ended();
                throw failure;
            }
            await this.load();
            say('scheduledNote', t('admin.done'), 'good');
            return $('scheduledHeading');
        });
    }
}
