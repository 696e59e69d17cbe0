// SPDX-License-Identifier: Apache-2.0
// How many messages wait to be read: beside the inbox' name, in the title, and at the page's icon where the browser has
// such a number.

import { $ } from './dom.js';
import { number, t } from './i18n.js';

let shown;

export function showUnread(count) {
    if (count === shown) return;
    shown = count;
    document.title = count > 0 ? `(${number(count)}) ${t('name')}` : t('name');
    $('unread').textContent = number(count);
    $('unread').hidden = count === 0;
    navigator.setAppBadge?.(count).catch(() => {});
}
