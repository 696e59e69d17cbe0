// SPDX-License-Identifier: Apache-2.0
// In the settings: a new password. All other sessions end with the former one.

import * as api from './api.js';
import { $, absolve, blame, say, whileBusy } from './dom.js';
import { lead } from './focus.js';
import { t } from './i18n.js';
import { failureWords, passwordFault } from './words.js';

export class PasswordForm {
    #session;
    #sessions;

    /** `sessions.load()` is called when a change has ended the other ones. */
    constructor(session, sessions) {
        this.#session = session;
        this.#sessions = sessions;
        $('passwordForm').addEventListener('submit', (event) => {
            event.preventDefault();
            whileBusy($('changePassword'), () => this.#change());
        });
    }

    load() {
        this.forget();
        // Whose it is, for those who keep passwords.
        $('passwordUser').value = this.#session.user ?? '';
    }

    forget() {
        $('passwordForm').reset();
        ['presentPassword', 'newPassword'].forEach(absolve);
        say('passwordResult', '');
    }

    async #change() {
        const [present, wanted] = [$('presentPassword').value, $('newPassword').value];
        ['presentPassword', 'newPassword'].forEach(absolve);
        say('passwordResult', '');
        if (present === '') return blame('presentPassword', t('password.presentMissing'));
        if (wanted === '') return blame('newPassword', t('password.newMissing'));
        if (passwordFault(wanted)) return blame('newPassword', passwordFault(wanted));
        const { user } = this.#session;
        say('passwordResult', t('password.busy'));
        try {
            await api.changePassword(present, wanted);
            if (user !== this.#session.user) return;
            this.load();
            say('passwordResult', t('password.changed'));
            lead($('passwordResult'), $('passwordForm'));
            this.#sessions.load();
        } catch (failure) {
            if (user === this.#session.user) this.#tell(failure);
        }
    }

    #tell(failure) {
        const { status, field } = failure;
        say('passwordResult', '');
        if (status === 401) return this.#session.ended();
        if (status === 403 && field === 'Password') {
            return blame('presentPassword', passwordFault($('presentPassword').value) || t('password.wrong'));
        }
        if (status === 400 && field === 'NewPassword') return blame('newPassword', t('password.unusable'));
        say('passwordResult', failureWords(failure, { 403: t('password.none'), 409: t('password.meanwhile') }), 'bad');
    }
}
