// SPDX-License-Identifier: Apache-2.0
// Notifications on this device: what keeps them away, or a question, above the inbox of a logged-in user. After
// "Not now" it is in the settings alone. Nothing waits for it.

import { $, say } from './dom.js';
import { t } from './i18n.js';
import { recall, remember } from './memory.js';
import { deviceWords, failureWords } from './words.js';

const quiet = ['starting', 'subscribing', 'token'];
const unregistered = ['failed', 'left'];

export class Banner {
    #session;
    #device;

    constructor(session, device) {
        this.#session = session;
        this.#device = device;
        for (const id of ['enable', 'enableHere']) $(id).addEventListener('click', () => device.enable());
        $('again').addEventListener('click', () => session.register(device.subscription, { again: true }));
        $('later').addEventListener('click', () => {
            remember('later', this.#matter());
            this.show();
        });
    }

    show() {
        const { user, registration } = this.#session;
        const device = this.#device;
        const words = this.#words();
        const tone = registration === 'failed' ? 'bad' : '';
        say('device', words, tone);
        say('deviceState', words, tone);
        const canAsk = ['idle', 'asking', 'silent'].includes(device.state);
        const had = $('banner').contains(document.activeElement);
        for (const id of ['enable', 'enableHere']) {
            $(id).hidden = !canAsk;
            $(id).textContent = t(device.state === 'silent' ? 'retry' : 'device.enable');
        }
        $('again').hidden = !unregistered.includes(registration);
        const isQuiet = !unregistered.includes(registration) && quiet.includes(device.state);
        $('banner').hidden = !user || this.#session.isPresumed || isQuiet || recall('later') === this.#matter();
        if (had && $('banner').hidden) $('receivedHeading').focus();
    }

    /** What the banner is about; another matter is shown again after "Not now". */
    #matter() {
        const { user, registration } = this.#session;
        return `${user} ${unregistered.includes(registration) ? registration : this.#device.state}`;
    }

    #words() {
        const { user, registration, failure } = this.#session;
        if (registration === 'registered') return t('device.registered', { user });
        if (registration === 'left') return t('device.left', { user });
        if (registration === 'failed') {
            return t('device.failed', { why: failureWords(failure, { 403: t('device.notAllowed') }) });
        }
        return deviceWords(this.#device.reason);
    }
}
