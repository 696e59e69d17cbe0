// SPDX-License-Identifier: Apache-2.0
// The tries of one message. A person who sends again after an answer was lost wants it sent, and not sent twice: so each
// request of a message keeps its key (`Idempotency-Key`) until the server has told what became of it, through reloads too.

import { held, hold } from './memory.js';

const name = 'attempts';

export class Attempts {
    #message;
    #keys;

    constructor() {
        const { message, keys = [] } = held(name) ?? {};
        this.#message = message;
        this.#keys = new Map(keys);
    }

    /** Another message than before has keys of its own; `parts` are what makes it another one. */
    async begin(...parts) {
        // A digest: the text of a secret is not kept for this.
        const message = await digest(JSON.stringify(parts));
        if (message === this.#message) return;
        this.#message = message;
        this.#keys.clear();
    }

    /** The key of one of the message's requests: the same at each try. */
    key(request) {
        if (!this.#keys.has(request)) {
            this.#keys.set(request, crypto.randomUUID());
            this.#keep();
        }
        return this.#keys.get(request);
    }

    /** After a failure: the next try has a new key where the old one would only bring the same answer again. */
    failed(request, { status, retryAfter, replayed }) {
        if (!replayed && !(status === 409 && retryAfter === null)) return;
        this.#keys.delete(request);
        this.#keep();
    }

    /** All of it was sent. The same text once more is another message. */
    end() {
        this.#message = undefined;
        this.#keys.clear();
        hold(name, null);
    }

    #keep() {
        hold(name, { message: this.#message, keys: [...this.#keys] });
    }
}

async function digest(text) {
    const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
    return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
