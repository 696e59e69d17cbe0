// SPDX-License-Identifier: Apache-2.0
// In the settings: a list of what opens the account, on all browsers and elsewhere. An entry is ended by the second press.

import { $, element, pressTwice, say } from './dom.js';
import { lead } from './focus.js';
import { t } from './i18n.js';
import { failureWords } from './words.js';

export class EndableList {
    #session;
    #id;
    #calls;
    #around;

    /** Of the list `id`, with `<id>Heading` and `<id>Note`. `calls` are `list()` and `end(id)`; `around`, what else ends entries. */
    constructor(session, id, calls, ...around) {
        this.#session = session;
        this.#id = id;
        this.#calls = calls;
        this.#around = around;
    }

    forget() {
        this.show([]);
        say(`${this.#id}Note`, '');
    }

    async load(note = '') {
        const { user } = this.#session;
        try {
            const entries = await this.#calls.list();
            if (user !== this.#session.user) return;
            this.show(entries);
            say(`${this.#id}Note`, note);
        } catch (failure) {
            this.#tell(failure, user);
        }
    }

    show(entries) {
        $(this.#id).replaceChildren(...entries.map((one) => this.item(one)));
    }

    /** An entry, and with an `id` the button that ends it. */
    entry(name, told, id, { here = false } = {}) {
        const item = element('li', { data: { here } },
            element('span', {}, element('b', { dir: 'auto' }, name), element('small', {}, told)));
        if (!id) return item;
        const button = element('button', { type: 'button', className: 'small quiet' });
        const label = (key) => (place) => {
            place.textContent = t(key);
            place.setAttribute('aria-label', `${t(key)}: ${name}, ${told}`);
        };
        label('sessions.end')(button);
        pressTwice(button, label('sessions.end'), label(`${this.#id}.endSure`), () => this.end([id]));
        item.append(button);
        return item;
    }

    async end(ids) {
        const { user } = this.#session;
        try {
            for (const id of ids) await this.#endOne(id);
        } catch (failure) {
            // Some may have ended.
            await this.load();
            return this.#tell(failure, user);
        }
        await this.load(t('sessions.ended'));
        if (user === this.#session.user) lead($(`${this.#id}Heading`), $(this.#id), ...this.#around);
    }

    /** One that has ended meanwhile is as good. */
    async #endOne(id) {
        try {
            await this.#calls.end(id);
        } catch (failure) {
            if (failure.status !== 404) throw failure;
        }
    }

    #tell(failure, user) {
        if (user !== this.#session.user) return;
        if (failure.status === 401) return this.#session.ended();
        say(`${this.#id}Note`, failureWords(failure), 'bad');
    }
}
