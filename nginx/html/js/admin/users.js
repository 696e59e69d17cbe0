// SPDX-License-Identifier: Apache-2.0
// The table of the users, found by the beginning of their names, and the form for one more.

import { $, absolve, blame, element, say, whileBusy } from '../dom.js';
import { lead } from '../focus.js';
import { amount, isolated, number, t, time } from '../i18n.js';
import { failureWords, nameFault, newPasswordFault } from '../words.js';
import * as calls from './calls.js';
import { confirm } from './confirm.js';
import { lastSeen } from './seen.js';
import { keepTyped } from './typed.js';

const pageLength = 50;
const patience = 250; // milliseconds after the last key
const fields = { UserName: 'newName', Password: 'newPassword', Roles: 'newRoles' };

export class Users {
    #open;
    #ended;
    #turn = 0;
    #last;
    #sought = ''; // the beginning of their names
    #timer;

    /** `open(name)` shows one user; `ended` is called when there is no session any more. */
    constructor(open, ended) {
        this.#open = open;
        this.#ended = ended;
        $('search').addEventListener('input', () => {
            clearTimeout(this.#timer);
            this.#timer = setTimeout(() => this.load(), patience);
        });
        $('more').addEventListener('click', () => this.load({ isMore: true }));
        $('addForm').addEventListener('submit', (event) => {
            event.preventDefault();
            this.#add();
        });
    }

    async load({ isMore = false } = {}) {
        const turn = this.#turn += 1;
        // What was typed meanwhile is looked for soon.
        if (!isMore) {
            clearTimeout(this.#timer);
            this.#sought = $('search').value.trim();
        }
        say('usersNote', t('loading'));
        const query = { limit: pageLength, name: this.#sought, ...(isMore && { after: this.#last }) };
        try {
            const users = await calls.users(query);
            // Meanwhile something else was looked for.
            if (turn !== this.#turn) return;
            const rows = users.map((user) => this.#row(user));
            if (isMore) $('users').append(...rows);
            else $('users').replaceChildren(...rows);
            this.#last = users.at(-1)?.Name ?? this.#last;
            $('more').hidden = users.length < pageLength;
            const count = $('users').children.length;
            say('usersNote', count === 0 ? nameFault(query.name) || t('admin.noUsers') : amount('admin.shown', count));
            if (isMore) lead(rows[0]?.querySelector('button'), $('more'));
        } catch (failure) {
            if (failure.status === 401) return this.#ended();
            if (turn !== this.#turn) return;
            say('usersNote', failureWords(failure, { 414: nameFault(query.name) }), 'bad');
        }
    }

    #row(user) {
        const button = element('button', { type: 'button', dir: 'auto' }, user.Name);
        button.addEventListener('click', () => whileBusy(button, () => this.#open(user.Name)));
        const cell = (className, text) => element('td', { className }, text);
        return element('tr', { data: { name: user.Name } },
            element('th', { scope: 'row' }, button, element('small', {}, states(user))),
            cell('number', number(user.DeviceCount)), cell('number', number(user.SessionCount)),
            cell('last', user.LastSeenAt ? lastSeen(user.LastSeenAt) : '–'));
    }

    #add() {
        for (const id of Object.values(fields)) absolve(id);
        const [name, password] = [$('newName').value.trim(), $('newPassword').value];
        if (!name) return blame('newName', t('admin.nameMissing'));
        if (!password) return blame('newPassword', t('password.newMissing'));
        const roles = $('newRoles').value.split(/[\s,]+/).filter(Boolean);
        say('addNote', '');
        confirm(t('admin.add'), t('admin.addWords', { name }), async (own) => {
            try {
                const added = await calls.add(name, password, roles, own);
                // What was typed meanwhile is the next user's.
                if ($('newName').value.trim() === name && $('newPassword').value === password) {
                    $('addForm').reset();
                    keepTyped();
                }
                say('addNote', t('admin.added', { name: added.Name }), 'good');
                this.load();
            } catch (failure) {
                if (failure.status === 401) return this.#ended();
                const id = fields[failure.field];
                if (!id) throw failure;
                // When the dialog is closed, and has given the focus back.
                return { focus: () => blame(id, failureWords(failure, faults(failure.field, name, password))) };
            }
        });
    }
}

/** What the server may have against a new user, by its answer's status. */
function faults(field, name, password) {
    if (field === 'UserName') return { 400: nameFault(name) || t('name.unusable'), 409: t('admin.isThere') };
    if (field === 'Password') return { 400: newPasswordFault(password) };
    return { 400: t('admin.noRole'), 403: t('admin.roleAdministers') };
}

/** What is special about a user, in words. */
export function states(user) {
    return [
        user.Roles.map(isolated).join(', '), user.DisabledAt && t('admin.disabled'), user.SecureOnly && t('admin.secureOnly'),
        !user.HasPassword && t('admin.noPassword'),
        user.ExpiresAt && t('admin.expires', { time: time(Date.parse(user.ExpiresAt)) }),
    ].filter(Boolean).join(' · ');
}
