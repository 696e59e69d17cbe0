// SPDX-License-Identifier: Apache-2.0
// In the settings: the user's sessions, on all browsers.

import * as api from './api.js';
import { $, pressTwice } from './dom.js';
import { EndableList } from './endable-list.js';
import { timeFrom } from './entries.js';
import { t, time } from './i18n.js';

export class SessionList extends EndableList {
    #others = []; // ids

    constructor(session) {
        super(session, 'sessions', { list: api.sessions, end: api.endSession }, $('others'));
        const words = (key) => (button) => { button.textContent = t(key); };
        pressTwice($('others'), words('sessions.endOthers'), words('sessions.endOthersSure'), () => this.end(this.#others));
    }

    show(sessions) {
        this.#others = sessions.filter(({ Current }) => !Current).map(({ Id }) => Id);
        super.show(sessions);
        $('others').hidden = this.#others.length === 0;
    }

    item({ Id: id, CreatedAt: from, ExpiresAt: until, Current: isThisOne }) {
        const [since, end] = [from, until].map((text) => time(timeFrom(text) ?? 0));
        const told = t('sessions.times', { since, end });
        // This one ends by logging out.
        return isThisOne ? this.entry(t('settings.thisOne'), told, null, { here: true }) : this.entry(t('sessions.other'), told, id);
    }
}
