// SPDX-License-Identifier: Apache-2.0
// In the settings: the user's devices.

import * as api from './api.js';
import { $, element, pressTwice, say } from './dom.js';
import { lead } from './focus.js';
import { isolated, t, time } from './i18n.js';
import { platformOf, platformWords } from './outcomes.js';
import * as registration from './registration.js';
import { failureWords } from './words.js';

export class Devices {
    #session;

    constructor(session) {
        this.#session = session;
    }

    forget() {
        $('devices').replaceChildren();
        say('settingsNote', '');
    }

    load() {
        return this.#list();
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

    #item({ RegistrationId: id, Platform: platform, Handle: handle, App: app, Gone: gone }, isThisOne) {
        const told = [isThisOne && t('settings.thisOne'), isolated(app ?? ''), handle && t('settings.handle', { end: handle }),
            gone && t('settings.gone', { time: time(Date.parse(gone.At)) })].filter(Boolean);
        const name = platformWords(platformOf(platform));
        const remove = element('button', { type: 'button', className: 'small quiet' }, t('settings.remove'));
        const label = (key) => (button) => {
            button.textContent = t(key);
            button.setAttribute('aria-label', `${t(key)}: ${name}, ${told.join(', ')}`);
        };
        label('settings.remove')(remove);
        pressTwice(remove, label('settings.remove'), label('settings.removeSure'), () => this.#remove(id, isThisOne));
        return element('li', { data: { here: isThisOne } },
            element('span', {}, element('b', {}, name), element('small', {}, told.join(' · '))), remove);
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
        lead($('devicesHeading'), $('devices'));
    }
}
