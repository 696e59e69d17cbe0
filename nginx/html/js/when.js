// SPDX-License-Identifier: Apache-2.0
// When a message is sent: a field of the form, which is empty for now. It takes room when it is asked for, by the button beside the
// padlock, and as long as it has a time. The server keeps a message for a week at most.

import { $, element } from './dom.js';
import { t } from './i18n.js';

const week = 7 * 86_400_000; // milliseconds

/** Puts the field and its button into the form. `taken` is called when the person takes the time away. */
export function makeField(taken) {
    const label = element('label', { htmlFor: 'when' }, t('compose.when'));
    const field = element('input', { type: 'datetime-local', id: 'when', name: 'when' });
    const without = element('button', { type: 'button', className: 'quiet icon', id: 'withoutWhen', ariaLabel: t('compose.withoutWhen') },
        element('span', { ariaHidden: 'true' }, '×'));
    const choose = element('button', { type: 'button', className: 'clock', id: 'chooseWhen' }, element('span', {}, t('compose.when')));
    $('where').before(
        element('div', { className: 'line', id: 'whenLine', hidden: true }, label, field, without),
        element('p', { id: 'whenError', className: 'fault', role: 'alert' }));
    $('counter').before(choose);
    choose.addEventListener('click', () => {
        showField(true);
        field.focus();
    });
    without.addEventListener('click', () => {
        field.value = '';
        showField(false);
        taken();
        choose.focus();
    });
}

/** The button gives its place to the field, and gets it back. */
export function showField(isShown) {
    if (!isShown && $('whenLine').contains(document.activeElement)) $('message').focus();
    $('whenLine').hidden = !isShown;
    $('chooseWhen').hidden = isShown;
}

/** The field's time, which is the person's own, as the server wants it: `2026-11-24T08:00:00Z`. Undefined: now. */
export function sendAt() {
    const { value } = $('when');
    return value ? new Date(value).toISOString().replace(/\.\d+/, '') : undefined;
}

/** What is wrong with the time, or empty. `isRefused`: by the server, whose clock may be another. */
export function faultWords(isRefused) {
    const { value, validity } = $('when');
    if (validity.badInput && !$('whenLine').hidden) return t('compose.whenIncomplete');
    if (value === '') return '';
    // None for a year of five digits.
    const ahead = Date.parse(value) - Date.now();
    if (ahead <= (isRefused ? week / 2 : 0)) return t('compose.whenPast');
    return ahead <= week && !isRefused ? '' : t('compose.whenFar');
}
