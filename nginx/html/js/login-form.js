// SPDX-License-Identifier: Apache-2.0
// Log in and log out, and in words what became of either.

import { $, absolve, blame, say } from './dom.js';
import { failureWords } from './words.js';

export class LoginForm {
    #session;
    #device;
    #busy = false;
    #shown;

    constructor(session, device) {
        this.#session = session;
        this.#device = device;
        $('loginForm').addEventListener('submit', (event) => {
            event.preventDefault();
            this.#logIn();
        });
        $('logout').addEventListener('click', () => this.#logOut());
        $('again').addEventListener('click', () => session.register(device.subscription, { again: true }));
    }

    /** Shows who is logged in; enables what makes sense now. */
    show() {
        const { user, registration, failure } = this.#session;
        const device = this.#device;
        $('credentials').hidden = Boolean(user);
        $('account').hidden = !user;
        $('login').disabled = this.#busy || user === undefined || !(device.state === 'token' || device.optional);
        $('logout').disabled = this.#busy || registration === 'registering';
        $('again').hidden = registration !== 'failed';
        // Not over the words for something that just went wrong: only what is news.
        const state = [user, registration, failure && failureWords(failure), device.state].join('\n');
        if (user && state !== this.#shown) this.#tellAccount();
        this.#shown = state;
    }

    /** The session ended otherwise than by the button here. */
    ended(how) {
        if (how === 'elsewhere') return say('loginResult', 'You logged out in another window.');
        if (how !== 'expired') return;
        say('loginResult', 'Your session has ended. Log in again; what you typed is still there.', 'bad');
        // What it hides is shown first.
        this.show();
        $('username').focus();
    }

    /** Whether the server has said who is logged in; null: it has. It is asked again by itself until then. */
    tellServer(failure) {
        const had = document.activeElement === $('retry');
        $('retry').hidden = !failure;
        if (failure) return say('loginResult', `${failureWords(failure)} This page does so by itself.`, 'bad');
        if (this.#session.user) this.#tellAccount();
        else say('loginResult', '');
        if (had) $('loginResult').focus();
    }

    #tellFailure(failure, own) {
        say('loginResult', failureWords(failure, own), 'bad');
    }

    #tellAccount() {
        const { user, registration, failure } = this.#session;
        switch (registration) {
            case 'registered': return say('loginResult', `Registered as ${user}.`, 'good');
            case 'registering': return say('loginResult', `Logged in as ${user}. Registering this device …`);
            case 'failed':
                return say('loginResult', `Logged in as ${user}. This device is not registered: ${failureWords(failure, {
                    403: 'The server does not let you register it.',
                })}`, 'bad');
            default:
                return say('loginResult', `Logged in as ${user}, without a device: you can send, and receive nothing here.`);
        }
    }

    async #logIn() {
        if ($('login').disabled) return;
        const [name, password] = [$('username'), $('password')];
        [name, password].forEach(absolve);
        const empty = name.value.trim() === '' ? name : password.value === '' ? password : null;
        if (empty) {
            say('loginResult', empty === name ? 'Enter your user name.' : 'Enter your password.', 'bad');
            return blame(empty, 'loginResult');
        }
        await this.#alone(async () => {
            say('loginResult', 'Logging in …');
            try {
                await this.#session.logIn(name.value.trim(), password.value);
                password.value = '';
                // A keyboard that comes up unasked would hide half of a phone.
                (matchMedia('(pointer: fine)').matches ? $('recipient') : $('loginResult')).focus();
            } catch (failure) {
                this.#tellFailure(failure, { 401: 'User name and password do not match.' });
                if (failure.status === 401) blame(password, 'loginResult');
            }
        });
    }

    #logOut() {
        const user = this.#session.user;
        return this.#alone(async () => {
            try {
                await this.#session.logOut(this.#device);
                say('loginResult', `Logged out. This browser no longer receives for ${user}.`);
                $('username').focus();
            } catch (failure) {
                say('loginResult', `You are still logged in as ${user}: ${failureWords(failure)}`, 'bad');
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
