// SPDX-License-Identifier: Apache-2.0
// What is typed on the operator's page, kept for this tab: a reload, or a session that ends, costs nothing but passwords.

import { $ } from '../dom.js';
import { held, hold } from '../memory.js';

const ids = ['search', 'messageUser', 'messageBefore', 'messageId', 'newName', 'newRoles'];
let owner; // a user's name

/** What `user` has typed is there again; what another one has typed goes. */
export function openTyped(user) {
    const kept = held('typed');
    const isMine = kept?.user === user;
    ids.forEach((id, place) => { $(id).value = isMine ? kept.values[place] ?? '' : ''; });
    if (owner !== user) $('newPassword').value = '';
    $('adding').open ||= Boolean($('newName').value || $('newRoles').value);
    owner = user;
}

export const keepTyped = () => hold('typed', { user: owner, values: ids.map((id) => $(id).value) });

$('main').addEventListener('input', keepTyped);
