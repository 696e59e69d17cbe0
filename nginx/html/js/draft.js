// SPDX-License-Identifier: Apache-2.0
// What is being written, kept for this tab: a reload, an error or a lost connection costs nothing that was typed.

import { $ } from './dom.js';
import { held, hold } from './memory.js';

const name = 'draft';

/** `{ user, to, text, secure, waits }`; null when there is none. `waits`: Send was pressed, and the server was away. */
export const draft = () => held(name);

export function keepDraft(user, waits) {
    const [to, text, secure] = [$('recipient').value, $('message').value, $('secure').checked];
    hold(name, to || text ? { user, to, text, secure, waits } : null);
}

export const forgetDraft = () => hold(name, null);
