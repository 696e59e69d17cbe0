// SPDX-License-Identifier: Apache-2.0
// The tries of one message. Who presses Send again after an answer was lost wants it sent, and not sent twice: so each
// request of a message keeps its key (`Idempotency-Key`) until the server has told what became of it.

export class Attempts {
    #message;
    #keys = new Map();

    /** Another message than before has keys of its own; `parts` are what makes it another one. */
    begin(...parts) {
        const message = JSON.stringify(parts);
        if (message === this.#message) return;
        this.#message = message;
        this.#keys.clear();
    }

    /** The key of one of the message's requests: the same at each try. */
    key(name) {
        if (!this.#keys.has(name)) this.#keys.set(name, crypto.randomUUID());
        return this.#keys.get(name);
    }

    /** After a failure: the next try has a new key where the old one would only bring the same answer again. */
    failed(name, { status, retryAfter, replayed }) {
        if (replayed || (status === 409 && retryAfter === null)) this.#keys.delete(name);
    }

    /** All of it was sent. The same text once more is another message. */
    end() {
        this.#message = undefined;
        this.#keys.clear();
    }
}
