// SPDX-License-Identifier: Apache-2.0
// The line for a new message. What it unfolds to is loaded when a person writes first, or when a text that was typed waits
// in this tab (draft.js).

import { $, say } from './dom.js';
import { t } from './i18n.js';
import { load } from './language.js';
import { held, hold } from './memory.js';

export class Writer {
    #session;
    #config;
    #form; // `{composer, sendForm}`, once they are loaded
    #loading;
    #hasFailed = false; // to load it
    #waits = false; // a message is to go out as soon as the server is there

    constructor(session) {
        this.#session = session;
        $('compose').addEventListener('click', () => this.write());
    }

    /** What the server told of itself. */
    configure(config) {
        this.#config = config;
        this.#form?.composer.configure(config);
    }

    show() {
        this.#form?.sendForm.show();
    }

    /** Another user, or none. */
    open(user) {
        $('composer').hidden = !user;
        if (this.#form) this.#waits = this.#form.composer.open(user);
        else if (user && held('draft')) this.#load().catch(() => {});
    }

    /** Nothing of the last user's messages stays, but for what is typed. */
    forget() {
        this.#form?.sendForm.forget();
    }

    /** Nor does what is typed. */
    empty() {
        if (this.#form) this.#form.composer.empty();
        else hold('draft', null);
    }

    /** The server was reached: the message that waited when the page was closed or reloaded goes out now. */
    async resume() {
        await this.#loading?.catch(() => {});
        if (this.#waits && this.#session.user) this.#form.sendForm.resume();
        this.#waits = false;
    }

    /** Shows the form; `to` is who the message is for. */
    async write({ to } = {}) {
        if (!this.#form) this.#tell('loading', true);
        try {
            await this.#load();
        } catch {
            this.#hasFailed = true;
            return say('connection', t('failure.unreachable'), 'wait');
        } finally {
            this.#tell('compose', false);
        }
        if (this.#hasFailed) say('connection', '');
        this.#hasFailed = false;
        this.#form.composer.unfold({ to });
    }

    /** What the line says, in its one row. */
    #tell(key, isBusy) {
        $('compose').textContent = t(key);
        $('compose').ariaBusy = isBusy;
    }

    #load() {
        this.#loading ??= load('composer', 'send-form').then(([{ Composer }, { SendForm }]) => {
            const composer = new Composer();
            this.#form = { composer, sendForm: new SendForm(this.#session, composer) };
            if (this.#config) composer.configure(this.#config);
            this.#waits = composer.open(this.#session.user);
            this.show();
        });
        this.#loading.catch(() => { this.#loading = undefined; });
        return this.#loading;
    }
}
