// SPDX-License-Identifier: Apache-2.0
// Who is logged in at this browser, and whether it is registered to receive for that user. Emits `change`, and `takeover`
// when the device token was another user's before.

import * as api from './api.js';
import { hear, tell } from './channel.js';
import * as inbox from './inbox.js';
import { recall, remember } from './memory.js';
import * as registration from './registration.js';

export class Session extends EventTarget {
    /** The user's name; null when no user is logged in, undefined before that is known. */
    user;
    /** The server was not reached yet: the user is the one who was logged in last. */
    isPresumed = false;
    /** How the last session ended: `here` by log-out, `elsewhere` in another window, or `expired`. */
    ending = null;
    /** `none`, `registering`, `registered`, `left` by the person, or `failed`, and then `failure` says why. */
    registration = 'none';
    failure = null;
    #endpoint = null;

    constructor() {
        super();
        hear('session', () => this.look().catch(() => {}));
    }

    /**
     * Asks the server who is logged in. Throws `Failure` when that cannot be known; then all stays as it was, and a page
     * that just opened goes on for the user who was logged in last.
     */
    async look() {
        try {
            const { User } = await api.session();
            this.#becomes(User);
        } catch (failure) {
            if (failure.status === 401) return this.#becomes(null, this.isPresumed ? 'expired' : 'elsewhere');
            const last = recall('user');
            if (this.user === undefined && last) this.#becomes(last, null, true);
            throw failure;
        }
    }

    /** Throws `Failure`: 401 when name and password do not match. */
    async logIn(name, password) {
        const { User } = await api.logIn(name, password);
        this.#becomes(User);
        tell({ about: 'session' });
    }

    /** Registers `subscription` for the user; does nothing when that is done already or under way. */
    async register(subscription, { again = false } = {}) {
        const user = this.user;
        const same = subscription.endpoint === this.#endpoint && this.registration !== 'none';
        if (!user || this.isPresumed || (same && !(again && ['failed', 'left'].includes(this.registration)))) return;
        this.#endpoint = subscription.endpoint;
        // The person took this browser away.
        if (!again && recall('left') === user) return this.#registers('left');
        remember('left', null);
        this.#registers('registering');
        let outcome = ['registered'];
        let isTakeover = false;
        try {
            isTakeover = await registration.register(user, subscription);
        } catch (failure) {
            outcome = ['failed', failure];
        }
        // Meanwhile another user may have logged in, or the token have changed.
        if (user !== this.user || subscription.endpoint !== this.#endpoint) return;
        if (outcome[1]?.status === 401) return this.ended();
        this.#registers(...outcome);
        if (isTakeover) this.dispatchEvent(new Event('takeover'));
    }

    /** This browser receives for the user no more, until it is registered again. Throws `Failure`. */
    async leave() {
        await registration.unregister(this.user);
        remember('left', this.user);
        this.#registers('left');
    }

    /** The device has no token any more. */
    unregistered() {
        if (this.registration === 'none') return;
        this.#endpoint = null;
        this.#registers('none');
    }

    /**
     * This browser stops receiving for the user, then the session ends. The token is given up as well, without waiting: what the push
     * service still holds for it must not reach the next user. Throws `Failure` when the server cannot be reached: then all stays as it was.
     */
    async logOut(device, { everywhere = false } = {}) {
        const user = this.user;
        let isLeft = false; // the registration, at the backend; its token is dead
        try {
            await registration.unregister(user);
        } catch (failure) {
            if (failure.status === 0) throw failure;
            isLeft = true;
        }
        try {
            await (everywhere ? api.logOutEverywhere() : api.logOut());
        } catch (failure) {
            // Half-way: still logged in, and receiving no more. Or it is another user's session.
            if (failure.status === 401) await this.ended();
            else if (!isLeft) this.unregistered();
            throw failure;
        }
        if (isLeft) await registration.forget().catch(() => {});
        await Promise.all([inbox.clear(user), import('./sent.js').then((sent) => sent.clear(user))]).catch(() => {});
        this.#becomes(null, 'here');
        tell({ about: 'session' });
        if (device.subscription) device.drop();
    }

    /** The server said 401 to something: the session is over, or the browser has another user's by now. */
    async ended() {
        const { user } = this;
        const { User } = await api.session().catch(() => ({ User: null }));
        // Meanwhile a user may have logged in here.
        if (user === this.user) this.#becomes(User, User ? null : 'expired');
    }

    #becomes(user, ending = null, isPresumed = false) {
        if (user === this.user && isPresumed === this.isPresumed) return;
        Object.assign(this, { user, ending, isPresumed, registration: 'none', failure: null });
        this.#endpoint = null;
        api.actAs(user);
        if (!isPresumed) remember('user', user);
        this.dispatchEvent(new Event('change'));
    }

    #registers(state, failure = null) {
        Object.assign(this, { registration: state, failure });
        this.dispatchEvent(new Event('change'));
    }
}
