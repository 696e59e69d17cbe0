// SPDX-License-Identifier: Apache-2.0
// Log in and log out, and in words what became of either.

import { $, absolve, blame, pressTwice, say } from './dom.js';
import { t } from './i18n.js';
import { held, hold } from './memory.js';
import { failureWords, nameFault, passwordFault } from './words.js';

export class LoginForm {
    #session;
    #device;
    #busy = false;

    constructor(session, device) {
        this.#session = session;
        this.#device = device;
        $('loginForm').addEventListener('submit', (event) => {
            event.preventDefault();
            this.#logIn();
        });
        // A reload costs nothing that was typed, but for the password.
        $('username').value ||= held('username') ?? '';
        $('username').addEventListener('input', () => hold('username', $('username').value));
        $('logout').addEventListener('click', () => this.#logOut());
        const words = (key) => (button) => { button.textContent = t(key); };
        pressTwice($('everywhere'), words('settings.everywhere'), words('settings.everywhereSure'),
            () => this.#logOut({ everywhere: true }));
    }

    show() {
        const { user } = this.#session;
        $('loginCard').hidden = user !== null;
        $('login').disabled = user !== null;
        // A button that is disabled loses the focus.
        for (const id of ['login', 'logout', 'everywhere']) $(id).ariaBusy = this.#busy;
    }

    /** The session ended otherwise than by the button here. */
    ended(how) {
        if (how === 'elsewhere') return say('loginResult', t('login.elsewhere'));
        if (how !== 'expired') return;
        say('loginResult', t('login.expired'), 'bad');
        // What it hides is shown first.
        this.show();
        $('username').focus();
    }

    async #logIn() {
        if (this.#busy || $('login').disabled) return;
        const [name, password] = [$('username'), $('password')];
        ['username', 'password'].forEach(absolve);
        say('loginResult', '');
        if (name.value.trim() === '') return blame('username', t('login.userMissing'));
        if (password.value === '') return blame('password', t('login.passwordMissing'));
        await this.#alone(async () => {
            say('loginResult', t('login.busy'));
            try {
                await this.#session.logIn(name.value.trim(), password.value);
                password.value = '';
                hold('username', null);
                say('loginResult', '');
                $('showInbox').focus();
            } catch (failure) {
                const isWrong = [401, 413].includes(failure.status);
                const fault = nameFault(name.value.trim());
                say('loginResult', isWrong ? '' : failureWords(failure), 'bad');
                if (isWrong && fault) blame('username', fault);
                else if (isWrong) blame('password', passwordFault(password.value) || t('login.wrong'));
            }
        });
    }

    #logOut(options) {
        if (this.#busy) return undefined;
        const user = this.#session.user;
        say('logoutResult', '');
        return this.#alone(async () => {
            try {
                await this.#session.logOut(this.#device, options);
                $('settings').close();
                say('loginResult', t('login.out', { user }));
                $('username').focus();
            } catch (failure) {
                say('logoutResult', t('login.stillIn', { user, why: failureWords(failure) }), 'bad');
            }
        });
    }

    async #alone(work) {
        this.#busy = true;
        this.show();
        try {
            await work();
        } finally {
            this.#busy = false;
            this.show();
        }
    }
}
