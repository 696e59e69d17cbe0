// SPDX-License-Identifier: Apache-2.0
// Who sent what to whom and when, found by user, time and id, and what became of one message. Titles and texts are not told.

import { $, absolve, blame, element, say, whileBusy } from '../dom.js';
import { lead } from '../focus.js';
import { amount, number, t, time } from '../i18n.js';
import { outcomeWords, platformOf, platformWords } from '../outcomes.js';
import { failureWords, nameFault } from '../words.js';
import * as calls from './calls.js';

const pageLength = 50;

export class Messages {
    #ended;
    #turn = 0;
    #last;
    #sought = {};
    #opener;

    /** `ended` is called when there is no session any more. */
    constructor(ended) {
        this.#ended = ended;
        $('messageSearch').addEventListener('submit', (event) => {
            event.preventDefault();
            this.#find();
        });
        $('moreMessages').addEventListener('click', () => this.load({ isMore: true }));
        $('closeMessage').addEventListener('click', () => $('message').close());
        $('message').addEventListener('close', () => (this.#opener?.isConnected ? this.#opener : $('messagesHeading')).focus());
    }

    async load({ isMore = false } = {}) {
        const turn = this.#turn += 1;
        if (!isMore) {
            const [user, before] = [$('messageUser').value.trim(), moment($('messageBefore').value)];
            this.#sought = { ...(user && { user }), ...(before && { before }) };
        }
        say('messagesNote', t('loading'));
        const query = { limit: pageLength, ...this.#sought, ...(isMore && { after: this.#last }) };
        try {
            const messages = await calls.messages(query);
            // Meanwhile something else was looked for.
            if (turn !== this.#turn) return;
            const rows = messages.map((message) => this.#row(message));
            if (isMore) $('messages').append(...rows);
            else $('messages').replaceChildren(...rows);
            this.#last = messages.at(-1)?.MessageId ?? this.#last;
            $('moreMessages').hidden = messages.length < pageLength;
            const count = $('messages').children.length;
            $('messagesTable').hidden = count === 0;
            say('messagesNote', count === 0 ? t('admin.noMessages') : amount('admin.shownMessages', count));
            if (isMore) lead(rows[0]?.querySelector('button'), $('moreMessages'));
            const fault = count === 0 && nameFault(this.#sought.user ?? '');
            if (fault) blame('messageUser', fault);
        } catch (failure) {
            if (failure.status === 401) return this.#ended();
            if (turn !== this.#turn) return;
            // Behind a message that is forgotten by now there are only others that are, or it is found by its time.
            if (failure.field === 'after') return this.load();
            const isTooLong = failure.status === 414;
            say('messagesNote', isTooLong ? '' : failureWords(failure), 'bad');
            if (isTooLong) blame('messageUser', nameFault(this.#sought.user));
        }
    }

    async #find() {
        for (const field of ['messageUser', 'messageBefore', 'messageId']) absolve(field);
        const { value, validity } = $('messageBefore');
        if (validity.badInput || (value && !moment(value))) return blame('messageBefore', t('compose.whenIncomplete'));
        const id = $('messageId').value.trim();
        if (!id) return this.load();
        const find = $('findMessages');
        await whileBusy(find, () => this.#open(id, find, (words) => blame('messageId', words)));
    }

    #row(message) {
        const button = element('button', { type: 'button' }, time(Date.parse(message.SentAt)));
        const refuse = (words) => say('messagesNote', words, 'bad');
        button.addEventListener('click', () => whileBusy(button, () => this.#open(message.MessageId, button, refuse)));
        const cell = (text) => element('td', {}, element('bdi', {}, text));
        return element('tr', { data: { id: message.MessageId } },
            element('th', { scope: 'row' }, button, element('small', {}, message.Secure ? t('admin.secure') : '')),
            cell(message.From), cell(message.To), element('td', { className: 'number last' }, number(message.Opened)));
    }

    /** `refuse(words)` says why it cannot be shown. */
    async #open(id, opener, refuse) {
        let message;
        try {
            message = await calls.message(id);
        } catch (failure) {
            if (failure.status === 401) return this.#ended();
            const unknown = t(isID(id) ? 'admin.noMessage' : 'admin.noMessageId');
            return refuse(failureWords(failure, { 400: unknown, 404: unknown, 414: unknown }));
        }
        this.#opener = opener;
        show(message);
        $('message').showModal();
        $('messageHeading').focus();
    }
}

const isID = (text) => /^[\w-]{22}$/.test(text);

/** The server's form of a time that was entered in this browser's time zone; empty where none was. */
function moment(text) {
    const at = Date.parse(text);
    return Number.isNaN(at) ? '' : new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
}

function show(message) {
    $('messageHeading').textContent = t('admin.fromTo', { from: message.From, to: message.To });
    const read = message.Read === undefined ? 'admin.readUnknown' : message.Read ? 'admin.read' : 'admin.unread';
    const facts = [
        ['admin.sentAt', time(Date.parse(message.SentAt))], ['admin.messageId', message.MessageId],
        ['admin.kind', t(message.Secure ? 'admin.secure' : 'admin.plain')],
        ['admin.kept', message.Kept ? t(read) : t('admin.notKept')], ['admin.opened', number(message.Opened)],
    ];
    $('messageFacts').replaceChildren(...facts.map(([key, value]) =>
        element('div', {}, element('dt', {}, t(key)), element('dd', {}, value))));
    $('outcomes').replaceChildren(...message.Outcomes.map((one) =>
        outcome(one, (message.Devices ?? []).filter((device) => device.Platform === one.Platform))));
}

function outcome({ Platform: platform, State: state, Counts: counts, WaitsFor: waits }, devices) {
    const { label, tone, sentence } = outcomeWords(state, counts);
    const told = [sentence, waits && t('admin.waitsForCredential')].filter(Boolean).join('; ');
    return element('li', {},
        element('span', {}, element('b', {}, platformWords(platformOf(platform))), element('small', {}, told)),
        element('span', { className: 'state', data: { tone } }, label),
        ...(devices.length ? [element('ul', {}, ...devices.map(deviceOutcome))] : []));
}

function deviceOutcome({ RegistrationId: id, User: user, Outcome: name }) {
    return element('li', {},
        element('bdi', {}, user ?? t('admin.removedDevice')), ` (${id}): `, outcomeWords('Completed', { [name]: 1 }).sentence);
}
