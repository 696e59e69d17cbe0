// SPDX-License-Identifier: Apache-2.0
// One user: devices, sessions, and what can be done about them.

import { $, element, say } from '../dom.js';
import { isolated, t, time } from '../i18n.js';
import { platformOf, platformWords } from '../outcomes.js';
import { failureWords } from '../words.js';
import * as calls from './calls.js';
import { confirm } from './confirm.js';
import { lastSeen } from './seen.js';
import { states } from './users.js';

export class UserDialog {
    /** The name of the one who looks. */
    administrator;
    #changed;
    #ended;
    #name;

    /** `changed` is called when the table is old; `ended` when there is no session any more. */
    constructor(changed, ended) {
        this.#changed = changed;
        this.#ended = ended;
        $('closeUser').addEventListener('click', () => $('user').close());
        $('user').addEventListener('close', () => {
            // The row that opened it may be another element by now.
            const row = [...$('users').children].find((one) => one.dataset.name === this.#name);
            (row?.querySelector('button') ?? $('usersHeading')).focus();
        });
        $('enable').addEventListener('click', () => this.#ask('admin.enable', 'admin.enableWords', calls.enable));
        $('disable').addEventListener('click', () => this.#ask('admin.disable', 'admin.disableWords', calls.disable));
        $('remove').addEventListener('click', () => this.#ask('admin.remove', 'admin.removeWords', calls.remove));
        $('endSessions').addEventListener('click', () =>
            this.#ask('admin.endSessions', 'admin.endSessionsWords', calls.endSessions));
    }

    async open(name) {
        this.#name = name;
        say('userNote', '');
        if (!await this.#load()) return;
        $('user').showModal();
        $('userHeading').focus();
    }

    /** Not where the dialog was left while something was under way, and is perhaps another user's by now. */
    #isShown(name) {
        return $('user').open && name === this.#name;
    }

    /** Whether the user is there. */
    async #load() {
        try {
            const name = this.#name;
            const user = await calls.find(name);
            // Another user may have been opened meanwhile.
            if (name !== this.#name) return false;
            this.#show(user);
            return true;
        } catch (failure) {
            if (failure.status === 401) this.#ended();
            else say($('user').open ? 'userNote' : 'usersNote', failureWords(failure, { 404: t('admin.gone') }), 'bad');
            return false;
        }
    }

    #show(user) {
        $('userHeading').textContent = user.Name;
        const last = user.LastSeenAt ? t('admin.seen', { time: lastSeen(user.LastSeenAt) }) : t('admin.notSeen');
        $('userWords').textContent = [states(user), last].filter(Boolean).join(' · ');
        const isSelf = user.Name === this.administrator;
        $('disable').hidden = isSelf || Boolean(user.DisabledAt);
        $('enable').hidden = !user.DisabledAt && !(user.ExpiresAt && Date.parse(user.ExpiresAt) <= Date.now());
        $('remove').hidden = isSelf;
        $('endSessions').hidden = user.Sessions.length === 0;
        for (const [kind, items] of [['Devices', user.Devices], ['Sessions', user.Sessions]]) {
            $(`no${kind}`).hidden = items.length > 0;
            $(kind.toLowerCase()).replaceChildren(...items.map((one) => kind === 'Devices' ? this.#device(one) : this.#session(one)));
        }
    }

    #device({ RegistrationId: id, Platform: platform, Handle: handle, App: app, Tags: tags, Gone: gone }) {
        const told = [isolated(app ?? ''), handle && t('settings.handle', { end: handle }), tags.map(isolated).join(' '),
            gone && t('settings.gone', { time: time(Date.parse(gone.At)) })].filter(Boolean).join(' · ');
        return this.#item(platformWords(platformOf(platform)), told, 'admin.removeDevice', 'admin.removeDeviceWords',
            (name, password) => calls.removeDevice(name, id, password));
    }

    #session({ Id: id, CreatedAt: from, ExpiresAt: until }) {
        const since = t('admin.since', { time: time(Date.parse(from)) });
        return this.#item(since, t('admin.until', { time: time(Date.parse(until)) }), 'admin.endSession', 'admin.endSessionWords',
            (name, password) => calls.endSession(name, id, password));
    }

    #item(title, told, key, words, work) {
        const button = element('button', { type: 'button', className: 'small quiet' }, t(key));
        button.setAttribute('aria-label', `${t(key)}: ${title}, ${told}`);
        button.addEventListener('click', () => this.#ask(key, words, work));
        return element('li', {}, element('span', {}, element('b', {}, title), element('small', {}, told)), button);
    }

    #ask(key, words, work) {
        const name = this.#name;
        confirm(t(key), t(words, { name }), async (password) => {
            try {
                await work(name, password);
            } catch (failure) {
                if (failure.status === 401) return this.#ended();
                throw failure;
            }
            await this.#changed();
            const isShown = this.#isShown(name);
            if (work === calls.remove) {
                if (isShown) $('user').close();
                say('usersNote', t('admin.removed', { name }), 'good');
            } else if (isShown && await this.#load()) {
                say('userNote', t('admin.done'), 'good');
                // What was pressed is gone, or hidden.
                return $('userHeading');
            }
        });
    }
}
