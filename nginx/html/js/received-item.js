// SPDX-License-Identifier: Apache-2.0
// One entry of the inbox, as an element.

import { element, pressTwice, whileBusy } from './dom.js';
import { isUnread, kindOf, nameOf, numberOf, senderOf, titleOf } from './entries.js';
import { t, time } from './i18n.js';
import { link, linked } from './links.js';

/** `isAble`: a user is logged in, who may press the buttons that call `read`, `reply` and `erase`. */
export function item(entry, isAble, { read, reply, erase }) {
    const kind = kindOf(entry);
    const isSealed = kind === 'locked' || kind === 'read';
    // What `data-look` does not hold does not change without a call of `read`, `erase` or `settle`.
    const look = [kind, titleOf(entry), isAble].join('\n');
    const made = element('li', { tabIndex: -1, data: { kind, name: nameOf(entry), look } });
    if (entry.key) made.id = `received-${entry.key}`;
    if (isUnread(entry)) made.dataset.unread = '';
    const title = element('p', { className: 'title' }, element('bdi', {}, titleOf(entry)));
    // Behind the title, which stays where it is when this goes.
    if (isUnread(entry)) title.append(' ', element('b', { className: 'new' }, t('inbox.new')));
    made.append(title);
    if (entry.at) made.append(element('time', { dateTime: new Date(entry.at).toISOString() }, time(entry.at)));
    if (!isSealed && entry.text) made.append(element('p', { className: 'text', dir: 'auto' }, ...linked(entry.text)));
    if (entry.link) made.append(element('p', { className: 'text' }, link(entry.link, t('inbox.open'))));
    if (entry.fault) made.append(element('p', { className: 'note', data: { tone: 'bad' } }, entry.fault));
    if (isAble) made.append(buttons(entry, kind, { read, reply, erase }));
    else if (isSealed) made.append(element('p', { className: 'note' }, t('inbox.logIn')));
    return made;
}

/** It is not new any more. */
export function settle(made) {
    delete made.dataset.unread;
    made.querySelector('.new')?.remove();
}

function buttons(entry, kind, { read, reply, erase }) {
    const shows = { locked: 'inbox.read', read: 'inbox.show' }[kind];
    const all = element('div', { className: 'buttons' });
    if (shows) all.append(button(entry, shows, read));
    else if (senderOf(entry)) all.append(button(entry, 'inbox.reply', reply, 'quiet'));
    // What is deleted is gone for good, so it takes a second press.
    const last = button(entry, 'inbox.delete', null, 'quiet');
    pressTwice(last, (place) => name(place, entry, 'inbox.delete'), (place) => name(place, entry, 'inbox.deleteSure'), erase);
    all.append(last);
    return all;
}

function button(entry, key, press, kind = '') {
    const made = element('button', { type: 'button', className: `small ${kind}` });
    name(made, entry, key);
    if (press) made.addEventListener('click', () => whileBusy(made, press));
    return made;
}

function name(place, entry, key) {
    const sender = senderOf(entry);
    const number = numberOf(entry) ?? entry.key;
    const about = [number, sender && t('inbox.from', { name: sender }), entry.at && time(entry.at)].filter(Boolean).join(', ');
    place.textContent = t(key);
    place.setAttribute('aria-label', t('inbox.button', { what: t(key), about }));
}
