// SPDX-License-Identifier: Apache-2.0
// One entry of the list of what was received, as an element.

import { element } from './dom.js';
import { kindOf, nameOf, titleOf } from './entries.js';

/** `isAble`: a user is logged in, who may press the buttons that call `read` and `erase`. */
export function item(entry, isAble, { read, erase }) {
    const kind = kindOf(entry);
    const isSealed = kind === 'locked' || kind === 'read';
    // What `data-look` does not hold does not change without a call of `read` or `erase`.
    const look = [kind, titleOf(entry), isAble].join('\n');
    const made = element('li', { tabIndex: -1, data: { kind, name: nameOf(entry), look } });
    if (entry.key) made.id = `received-${entry.key}`;
    made.append(element('p', { className: 'title' }, titleOf(entry)));
    if (entry.at) made.append(timeOf(entry.at));
    if (!isSealed && entry.text) made.append(element('p', { className: 'text' }, entry.text));
    if (entry.fault) made.append(element('p', { className: 'note', data: { tone: 'bad' } }, entry.fault));
    if (kind !== 'message' && isAble) made.append(buttons(entry, kind, read, erase));
    else if (isSealed) made.append(element('p', { className: 'note' }, 'Log in to read it.'));
    return made;
}

function buttons(entry, kind, read, erase) {
    const shows = { locked: 'Read', read: 'Show' }[kind];
    const all = element('div', { className: 'buttons' });
    if (shows) all.append(button(entry, shows, read));
    // What is deleted is gone for good, so it takes a second press.
    let isSure = false;
    const last = button(entry, 'Delete', () => {
        if (isSure) return erase();
        isSure = true;
        name(last, entry, 'Delete for good');
    });
    last.classList.add('quiet');
    last.addEventListener('blur', () => { isSure = false; name(last, entry, 'Delete'); });
    all.append(last);
    return all;
}

function button(entry, text, press) {
    const made = element('button', { type: 'button', className: 'small' });
    name(made, entry, text);
    made.addEventListener('click', press);
    return made;
}

function name(place, entry, text) {
    const told = [entry.from && `from ${entry.from}`, entry.at && words(entry.at)].filter(Boolean).join(', ');
    place.textContent = text;
    place.setAttribute('aria-label', `${text}: secret no. ${entry.secret} ${told}`.trim());
}

const timeOf = (at) => element('time', { dateTime: new Date(at).toISOString() }, words(at));

function words(at) {
    const date = new Date(at);
    const today = date.toDateString() === new Date().toDateString();
    return new Intl.DateTimeFormat('en-GB', today ? { timeStyle: 'short' } : { dateStyle: 'medium', timeStyle: 'short' }).format(date);
}
