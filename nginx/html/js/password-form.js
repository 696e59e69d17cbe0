// SPDX-License-Identifier: Apache-2.0
// In the settings: a new password. All other sessions end with the former one, and app tokens unless they are kept.

import * as api from './api.js';
import { $, absolve, blame, say, whileBusy } from './dom.js';
import { lead } from './focus.js';
import { amount, t } from './i18n.js';
import { failureWords, newPasswordFault, passwordFault } from './words.js';

export class PasswordForm {
    #session;
    #keys;

    /** `keys` are the lists of what a change may have ended: each has `load()`. */
    constructor(session, keys) {
        this.#session = session;
        this.#keys = keys;
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
            const { TokensEnded: ended } = await api.changePassword(present, wanted, $('keepTokens').checked);
            if (user !== this.#session.user) return;
            this.load();
            say('passwordResult', [t('password.changed'), ended > 0 && amount('password.tokensEnded', ended)].filter(Boolean).join(' '));
            lead($('passwordResult'), $('passwordForm'));
            for (const one of this.#keys) one.load();
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
        if (status === 400 && field === 'NewPassword') return blame('newPassword', newPasswordFault($('newPassword').value));
        say('passwordResult', failureWords(failure, { 403: t('password.none'), 409: t('password.meanwhile') }), 'bad');
    }
}
