// SPDX-License-Identifier: Apache-2.0
// What the settings show of a user: devices, sessions, app tokens, the password; and the way to the page on a telephone.

import { Devices } from './devices.js';
import { PasswordForm } from './password-form.js';
import { SessionList } from './session-list.js';
import { Telephone } from './telephone.js';
import { TokenList } from './token-list.js';

export class Account {
    #parts;

    constructor(session) {
        const keys = [new SessionList(session), new TokenList(session)];
        this.#parts = [new Devices(session), ...keys, new PasswordForm(session, keys), new Telephone()];
    }

    load() {
        return Promise.all(this.#parts.map((part) => part.load()));
    }

    /** Another user, or none: nothing of the last one stays. */
    forget() {
        for (const part of this.#parts) part.forget();
    }
}
