// SPDX-License-Identifier: Apache-2.0
// The tries of one message. A person who sends again after an answer was lost wants it sent, and not sent twice: so a
// message keeps its key (`Idempotency-Key`) until the server has told what became of it, through reloads too.

import { held, hold } from './memory.js';

const name = 'attempts';

export class Attempts {
    #last = held(name) ?? {}; // `{message, key}`

    /** The key of a message: the same at each try. Another message, another place or another sender has another one. */
    async key(user, message) {
        // A digest: the text of a secret is not kept for this.
        const own = await digest(JSON.stringify([user, message]));
        if (own !== this.#last.message || !this.#last.key) {
            this.#last = { message: own, key: crypto.randomUUID() };
            hold(name, this.#last);
        }
        return this.#last.key;
    }

    /** After a failure: the next try has a new key where the old one would only bring the same answer again. */
    failed({ status, retryAfter, replayed }) {
        if (replayed || (status === 409 && retryAfter === null)) this.end();
    }

    /** It was sent. The same text once more is another message. */
    end() {
        this.#last = {};
        hold(name, null);
    }
}

async function digest(text) {
    const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
    return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
