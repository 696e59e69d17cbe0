// SPDX-License-Identifier: Apache-2.0
// When a message is sent: a field of the form, which is empty for now. The server keeps a message for a week at most.

import { $, element } from './dom.js';
import { t } from './i18n.js';

const week = 7 * 86_400_000; // milliseconds

/** Puts the field into the form. */
export function makeField() {
    const hint = element('small', {}, t('compose.whenHint'));
    const label = element('label', { htmlFor: 'when' }, t('compose.when'), ' ', hint);
    const field = element('input', { type: 'datetime-local', id: 'when', name: 'when' });
    $('where').before(
        element('div', { className: 'line' }, label, field),
        element('p', { id: 'whenError', className: 'fault', role: 'alert' }));
}

/** The field's time, which is the person's own, as the server wants it: `2026-11-24T08:00:00Z`. Undefined: now. */
export function sendAt() {
    const { value } = $('when');
    return value ? new Date(value).toISOString().replace(/\.\d+/, '') : undefined;
}

/** What is wrong with the time, or empty. `isRefused`: by the server, whose clock may be another. */
export function faultWords(isRefused) {
    const { value, validity } = $('when');
    if (validity.badInput) return t('compose.whenIncomplete');
    if (value === '') return '';
    // None for a year of five digits.
    const ahead = Date.parse(value) - Date.now();
    if (ahead <= (isRefused ? week / 2 : 0)) return t('compose.whenPast');
    return ahead <= week && !isRefused ? '' : t('compose.whenFar');
}
