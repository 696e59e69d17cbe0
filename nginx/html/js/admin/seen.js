// SPDX-License-Identifier: Apache-2.0
// When a user was here last, which the server knows to an hour.

import { current, date, t } from '../i18n.js';

const hour = 3_600_000; // milliseconds
const hours = 24;

/** Of the server's `LastSeenAt`: in the last hour, so many hours ago, or a date. */
export function lastSeen(text) {
    const at = Date.parse(text);
    const age = Math.floor((Date.now() - at) / hour);
    if (age < 1) return t('admin.lastHour');
    return age < hours ? new Intl.RelativeTimeFormat(current()).format(-age, 'hour') : date(at);
}
