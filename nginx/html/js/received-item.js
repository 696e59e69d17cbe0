// SPDX-License-Identifier: Apache-2.0
// One entry of the list of what was received, as an element.

import { element } from './dom.js';
import { kindOf, nameOf, titleOf } from './entries.js';

/** `isAble`: somebody is logged in, who may press the button that calls `read`. */
export function item(entry, isAble, read) {
    const kind = kindOf(entry);
    const isSealed = kind === 'locked' || kind === 'read';
    // What `data-look` does not hold does not change without a call of `read`.
    const look = [kind, titleOf(entry), isAble].join('\n');
    const made = element('li', { tabIndex: -1, data: { kind, name: nameOf(entry), look } });
    if (entry.key) made.id = `received-${entry.key}`;
    made.append(element('p', { className: 'title' }, titleOf(entry)));
    if (entry.at) made.append(timeOf(entry.at));
    if (!isSealed && entry.text) made.append(element('p', { className: 'text' }, entry.text));
    if (isSealed && entry.fault) made.append(element('p', { className: 'note', data: { tone: 'bad' } }, entry.fault));
    if (isSealed && isAble) made.append(button(entry, kind, read));
    else if (isSealed) made.append(element('p', { className: 'note' }, 'Log in to read it.'));
    return made;
}

function button(entry, kind, read) {
    const text = kind === 'read' ? 'Show' : 'Read';
    const made = element('button', { type: 'button', className: 'small' }, text);
    const told = [entry.from && `from ${entry.from}`, entry.at && words(entry.at)].filter(Boolean).join(', ');
    made.setAttribute('aria-label', `${text} secret no. ${entry.secret} ${told}`.trim());
    made.addEventListener('click', read);
    return made;
}

const timeOf = (at) => element('time', { dateTime: new Date(at).toISOString() }, words(at));

function words(at) {
    const date = new Date(at);
    const today = date.toDateString() === new Date().toDateString();
    return new Intl.DateTimeFormat('en-GB', today ? { timeStyle: 'short' } : { dateStyle: 'medium', timeStyle: 'short' }).format(date);
}
