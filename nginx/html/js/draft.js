// SPDX-License-Identifier: Apache-2.0
// What is being written, kept for this tab: a reload, an error or a lost connection costs nothing that was typed.

import { $ } from './dom.js';
import { held, hold } from './memory.js';

const name = 'draft';

/** `{ user, to, text, secure, when, declined, waits }`; null without one. `waits`: Send was pressed, and the server was away. */
export const draft = () => held(name);

/** `declined`: the platforms where it is not to go. */
export function keepDraft(user, declined, waits) {
    const [to, text, when] = ['recipient', 'message', 'when'].map((id) => $(id).value);
    hold(name, to || text || when ? { user, to, text, secure: $('secure').checked, when, declined, waits } : null);
}

export const forgetDraft = () => hold(name, null);
