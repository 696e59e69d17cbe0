// SPDX-License-Identifier: Apache-2.0
// In the settings: the user's sessions, on all browsers.

import * as api from './api.js';
import { $, element, pressTwice, say } from './dom.js';
import { timeFrom } from './entries.js';
import { lead } from './focus.js';
import { t, time } from './i18n.js';
import { failureWords } from './words.js';

export class SessionList {
    #session;
    #others = []; // ids

    constructor(session) {
        this.#session = session;
        const words = (key) => (button) => { button.textContent = t(key); };
        pressTwice($('others'), words('sessions.endOthers'), words('sessions.endOthersSure'), () => this.#end(this.#others));
    }

    forget() {
        this.#show([]);
        say('sessionsNote', '');
    }

    async load(note = '') {
        const { user } = this.#session;
        try {
            const sessions = await api.sessions();
            if (user !== this.#session.user) return;
            this.#show(sessions);
            say('sessionsNote', note);
        } catch (failure) {
            this.#tell(failure, user);
        }
    }

    #show(sessions) {
        this.#others = sessions.filter(({ Current }) => !Current).map(({ Id }) => Id);
        $('sessions').replaceChildren(...sessions.map((one) => this.#item(one)));
        $('others').hidden = this.#others.length === 0;
    }

    #item({ Id: id, CreatedAt: from, ExpiresAt: until, Current: isThisOne }) {
        const [since, end] = [from, until].map((text) => time(timeFrom(text) ?? 0));
        const name = isThisOne ? t('settings.thisOne') : t('sessions.other');
        const item = element('li', { data: { here: isThisOne === true } },
            element('span', {}, element('b', {}, name), element('small', {}, t('sessions.times', { since, end }))));
        // This one ends by logging out.
        if (isThisOne) return item;
        const button = element('button', { type: 'button', className: 'small quiet' });
        const label = (key) => (place) => {
            place.textContent = t(key);
            place.setAttribute('aria-label', `${t(key)}: ${t('sessions.times', { since, end })}`);
        };
        label('sessions.end')(button);
        pressTwice(button, label('sessions.end'), label('sessions.endSure'), () => this.#end([id]));
        item.append(button);
        return item;
    }

    async #end(ids) {
        const { user } = this.#session;
        try {
            for (const id of ids) await this.#endOne(id);
        } catch (failure) {
            // Some may have ended.
            await this.load();
            return this.#tell(failure, user);
        }
        await this.load(t('sessions.ended'));
        if (user === this.#session.user) lead($('sessionsHeading'), $('sessions'), $('others'));
    }

    /** One that has ended meanwhile is as good. */
    async #endOne(id) {
        try {
            await api.endSession(id);
        } catch (failure) {
            if (failure.status !== 404) throw failure;
        }
    }

    #tell(failure, user) {
        if (user !== this.#session.user) return;
        if (failure.status === 401) return this.#session.ended();
        say('sessionsNote', failureWords(failure), 'bad');
    }
}
