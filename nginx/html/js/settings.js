// SPDX-License-Identifier: Apache-2.0
// The dialog behind the user's name. What it lists is loaded when it is opened first (account.js).

import * as api from './api.js';
import { $, say } from './dom.js';
import { t } from './i18n.js';
import { load } from './language.js';

export class Settings {
    #session;
    #account; // a promise

    constructor(session) {
        this.#session = session;
        $('showSettings').addEventListener('click', () => this.#open());
        $('closeSettings').addEventListener('click', () => $('settings').close());
    }

    show() {
        const { user } = this.#session;
        $('account').hidden = !user;
        $('who').textContent = user ?? '';
        $('showSettings').setAttribute('aria-label', t('nav.settings', { user: user ?? '' }));
        $('settingsHeading').textContent = user ?? '';
    }

    /** Another user, or none: what is the last one's goes. */
    forget() {
        $('settings').close();
        $('settings').ariaBusy = true;
        $('administration').hidden = true;
        this.#account?.then((account) => account.forget(), () => {});
    }

    /** What is loaded is shown at once, so that nothing moves that a person is about to press. */
    async #open() {
        const { user } = this.#session;
        say('logoutResult', '');
        say('settingsLoading', $('settings').ariaBusy === 'true' ? t('loading') : '');
        $('settings').showModal();
        $('settingsHeading').focus();
        const look = api.session().then(({ Administer }) => { $('administration').hidden = !Administer; }, () => {});
        try {
            this.#account ??= load('account').then(([{ Account }]) => new Account(this.#session));
            await Promise.all([(await this.#account).load(), look]);
        } catch {
            this.#account = undefined;
            return say('settingsLoading', t('failure.unreachable'), 'bad');
        }
        if (user !== this.#session.user) return;
        $('settings').ariaBusy = false;
        say('settingsLoading', '');
    }
}
