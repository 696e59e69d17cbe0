// SPDX-License-Identifier: Apache-2.0
// The dialog behind the user's name: this device, the user's other devices, sessions.

import * as api from './api.js';
import { $, element, pressTwice, say } from './dom.js';
import { t } from './i18n.js';
import * as registration from './registration.js';
import { failureWords, platformOf, platformWords } from './words.js';

export class Settings {
    #session;

    constructor(session) {
        this.#session = session;
        $('showSettings').addEventListener('click', () => this.#open());
        $('closeSettings').addEventListener('click', () => $('settings').close());
    }

    show() {
        const { user } = this.#session;
        $('account').hidden = !user;
        $('who').textContent = user ?? '';
        $('showSettings').setAttribute('aria-label', t('nav.settings', { user: user ?? '' }));
        $('settingsHeading').textContent = user ?? '';
    }

    /** Another user, or none: the last one's devices go. */
    forget() {
        $('settings').close();
        $('devices').replaceChildren();
        say('settingsNote', '');
    }

    #open() {
        say('logoutResult', '');
        $('settings').showModal();
        $('settingsHeading').focus();
        this.#list();
        $('administration').hidden = true;
        api.session().then(({ Administer }) => { $('administration').hidden = !Administer; }, () => {});
    }

    async #list(note = '') {
        const { user } = this.#session;
        try {
            const [devices, own] = await Promise.all([api.registrations(), registration.current().catch(() => null)]);
            if (user !== this.#session.user) return;
            const items = devices.map((device) => this.#item(device, device.RegistrationId === own?.id));
            $('devices').replaceChildren(...items);
            say('settingsNote', note || (items.length > 0 ? '' : t('settings.noDevices')));
        } catch (failure) {
            if (user !== this.#session.user) return;
            if (failure.status === 401) return this.#session.ended();
            say('settingsNote', failureWords(failure), 'bad');
        }
    }

    #item({ RegistrationId: id, Platform: platform, Handle: handle, App: app }, isThisOne) {
        const told = [isThisOne && t('settings.thisOne'), app, handle && t('settings.handle', { end: handle })].filter(Boolean);
        const name = platformWords(platformOf(platform));
        const remove = element('button', { type: 'button', className: 'small quiet' }, t('settings.remove'));
        const label = (key) => (button) => {
            button.textContent = t(key);
            button.setAttribute('aria-label', `${t(key)}: ${name}, ${told.join(', ')}`);
        };
        label('settings.remove')(remove);
        pressTwice(remove, label('settings.remove'), label('settings.removeSure'), () => this.#remove(id, isThisOne));
        return element('li', { data: { here: isThisOne } },
            element('span', {}, element('b', {}, name), element('small', { dir: 'auto' }, told.join(' · '))), remove);
    }

    async #remove(id, isThisOne) {
        try {
            if (isThisOne) await this.#session.leave();
            else await api.deleteRegistration(id);
        } catch (failure) {
            if (failure.status === 401) return this.#session.ended();
            return say('settingsNote', failureWords(failure), 'bad');
        }
        await this.#list(t('settings.removed'));
        $('devicesHeading').focus();
    }
}
