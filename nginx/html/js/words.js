// SPDX-License-Identifier: Apache-2.0
// What went wrong, as a sentence. What a status means depends on what was asked, so the caller hands in sentences for those
// that mean something of their own there. What became of a message is in outcomes.js.

import { amount, has, t } from './i18n.js';

/** A sentence for a failed call. `own` maps statuses to sentences that take precedence. */
export function failureWords(failure, own = {}) {
    const { status, detail, retryAfter, late } = failure;
    const again = retryAfter === null || retryAfter === undefined ? t('again.soon') : amount('again.in', retryAfter);
    // No call failed, but something in the browser: its database, most likely.
    if (status === undefined) return t('failure.browser');
    if (own[status]) return own[status];
    if (status === 0) return t(late ? 'failure.late' : navigator.onLine === false ? 'failure.offline' : 'failure.unreachable');
    if (status === 429) return t('failure.429', { again });
    if (status >= 500) return t('failure.server', { status, again });
    return has(`failure.${status}`) ? t(`failure.${status}`) : t('failure.refused', { status, detail }).trim();
}

const longestName = 111; // characters
const longestPassword = 511; // bytes
const shortestPassword = 8; // characters

/** What is wrong with a name that the server refused, or does not know; empty for what could be a user's. */
export function nameFault(name) {
    if (name.length > longestName) return t('name.tooLong', { longest: longestName });
    return /[^\p{L}\p{Nd}_@#.-]/u.test(name) ? t('name.unusable') : '';
}

/** The same of a password. */
export const passwordFault = (password) => (
    new TextEncoder().encode(password).length > longestPassword ? t('password.tooLong', { longest: longestPassword }) : '');

/** Why the server refuses it as a new one. */
export const newPasswordFault = (password) => passwordFault(password) || ([...password].length < shortestPassword
    ? t('password.tooShort', { shortest: shortestPassword }) : t('password.unusable'));

/** Why this browser has no device token, or which one. The names are the states of `Device`, and reasons within them. */
export const deviceWords = (reason) => (has(`device.${reason}`) ? t(`device.${reason}`) : '');
