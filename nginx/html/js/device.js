// SPDX-License-Identifier: Apache-2.0
// This browser as a device: whether it can receive, may, and under which token (its push subscription).
//
//   starting → unsupported | blocked | idle → asking → subscribing → token | silent
//
// Emits `change`. `reason` names the words for the state (words.js) where the state alone does not say enough.

import * as api from './api.js';
import { tell } from './channel.js';
import { Late, within } from './deadline.js';

const seconds = 15; // for a push service, which may never answer, and for the worker to start

export class Device extends EventTarget {
    state = 'starting';
    reason = 'starting';
    /** The device token, in state `token`. */
    subscription = null;
    #worker;
    #turn = 0;

    /** Finds out where things stand, and goes on as far as it can without asking anybody. */
    async look() {
        const turn = ++this.#turn;
        const lack = missing();
        if (lack) return this.#become('unsupported', lack);
        // Known at once: no banner comes while a person reads. The worker is wanted without a network, too.
        if (Notification.permission === 'denied') this.#become('blocked');
        let pending;
        try {
            this.#worker ??= await within(seconds, pending = startWorker());
        } catch (error) {
            if (turn !== this.#turn) return;
            // Better late than never.
            if (error instanceof Late) pending.then((late) => this.#goOnWith(late, turn), () => {});
            return this.#become('unsupported', error?.name === 'SecurityError' ? 'certificate' : 'worker');
        }
        if (turn !== this.#turn) return;
        if (Notification.permission === 'denied') return this.#become('blocked');
        if (Notification.permission === 'granted') return this.#subscribe(turn);
        return this.#askLater(turn);
    }

    /** Permission was not asked for yet. Where the server could not reach this browser, it will not be. */
    async #askLater(turn) {
        const reason = this.state === 'asking' ? 'dismissed' : 'idle';
        const { VapidPublicKey: key } = await api.config().catch(() => ({ VapidPublicKey: true }));
        if (turn !== this.#turn) return;
        if (key) this.#become('idle', reason);
        else this.#become('unsupported', 'key');
    }

    #goOnWith(worker, turn) {
        this.#worker ??= worker;
        if (turn === this.#turn) this.look();
    }

    /** Asks for permission; must be called from a click. */
    async enable() {
        if (Notification.permission === 'default') {
            this.#turn += 1;
            this.#become('asking');
            // What it answers is in `Notification.permission` as well, and that is where `look` reads it.
            await Notification.requestPermission().catch(() => {});
        }
        return this.look();
    }

    /** Gives the token up, so that nothing that was sent to it arrives any more; then looks again. */
    async drop() {
        const old = this.subscription;
        this.#turn += 1;
        this.#become('subscribing');
        await old?.unsubscribe().catch(() => {});
        // Other windows know the former one.
        tell({ about: 'subscription' });
        return this.look();
    }

    async #subscribe(turn) {
        this.#become('subscribing');
        let pending;
        try {
            const { VapidPublicKey: key } = await api.config();
            if (turn !== this.#turn) return;
            if (!key) return this.#become('unsupported', 'key');
            pending = import('./subscription.js').then(({ subscribe }) => subscribe(this.#worker.pushManager, key));
            const subscription = await within(seconds, pending);
            if (turn === this.#turn) this.#take(subscription);
        } catch (error) {
            if (turn !== this.#turn) return;
            if (error instanceof api.Failure) return this.#become('idle', 'config');
            if (error?.name === 'NotAllowedError') return this.#become('blocked');
            this.#become('silent');
            // Better late than never.
            pending?.then((late) => { if (turn === this.#turn) this.#take(late); }, () => {});
        }
    }

    #take(subscription) {
        this.subscription = subscription;
        this.#become('token');
    }

    #become(state, reason = state) {
        if (state !== 'token') this.subscription = null;
        Object.assign(this, { state, reason });
        this.dispatchEvent(new Event('change'));
    }
}

/** What this browser lacks to receive anything, by the name of its words; null when it has all. */
function missing() {
    if (!globalThis.isSecureContext) return 'insecure';
    if ('serviceWorker' in navigator && 'PushManager' in globalThis && 'Notification' in globalThis) return null;
    return navigator.standalone === false ? 'homescreen' : 'push';
}

/** Trusted Types: this is the only script that is ever named by a string here. */
const trusted = globalThis.trustedTypes?.createPolicy('sw', {
    createScriptURL(name) {
        if (name !== 'sw.js') throw new TypeError('not the service worker');
        return name;
    },
});

async function startWorker() {
    const script = trusted ? trusted.createScriptURL('sw.js') : 'sw.js';
    await navigator.serviceWorker.register(script, { type: 'module', updateViaCache: 'none' });
    return navigator.serviceWorker.ready;
}
