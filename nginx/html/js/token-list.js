// SPDX-License-Identifier: Apache-2.0
// In the settings: the user's app tokens, which apps and scripts show in place of the password.

import * as api from './api.js';
import { $ } from './dom.js';
import { EndableList } from './endable-list.js';
import { timeFrom } from './entries.js';
import { t, time } from './i18n.js';

export class TokenList extends EndableList {
    constructor(session) {
        super(session, 'tokens', { list, end: api.endToken });
    }

    forget() {
        super.forget();
        $('tokensPart').hidden = true;
    }

    show(tokens) {
        super.show(tokens ?? []);
        $('tokensPart').hidden = !tokens;
        $('noTokens').hidden = tokens?.length !== 0;
        $('keepTokensPart').hidden = !tokens?.length;
    }

    item({ Id: id, Label: label, Scopes: scopes, To: to, CreatedAt: from, ExpiresAt: until, LastUsedAt: used }) {
        const at = (text) => time(timeFrom(text) ?? 0);
        const told = [
            ...scopes.map((one) => t(`tokens.${one}`)), to && t('tokens.to', { names: to.join(', ') }),
            t('tokens.made', { time: at(from) }), used ? t('tokens.used', { time: at(used) }) : t('tokens.unused'),
            until && t('tokens.until', { time: at(until) }),
        ];
        return this.entry(label || t('tokens.unnamed'), told.filter(Boolean).join(' · '), id);
    }
}

/** Null where the server takes no app tokens. */
async function list() {
    try {
        return await api.tokens();
    } catch (failure) {
        if (failure.status !== 404) throw failure;
        return null;
    }
}
