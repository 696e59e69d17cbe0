// SPDX-License-Identifier: Apache-2.0
// What is being written, to whom and where: the line that writer.js shows unfolds. Checks it before it is sent, and keeps it until then.

import { $, absolve, blame, element, pressTwice, say } from './dom.js';
import { draft, forgetDraft, keepDraft } from './draft.js';
import { amount, number, t } from './i18n.js';
import { offerPeople } from './people.js';
import { platformOf, platforms, platformWords } from './outcomes.js';
import { bounded } from './push.js';
import { faultWords, makeField, sendAt, showField } from './when.js';

const fields = ['recipient', 'message', 'when'];
const hasKeysOnScreen = matchMedia('(pointer: coarse) and (hover: none)');

export class Composer extends EventTarget {
    #writer; // the user whose text is in the form: the last one who was logged in
    #limit = 2500; // bytes; the server tells its own
    #offered = new Set(['browser']);
    #declined = new Set(); // platforms that the person switched off
    #isSecureOnly = false;
    #other = ''; // user to whom the person would write if they had not begun a message

    /** Emits `input` when the person changes anything. */
    constructor() {
        super();
        makeSwitches();
        this.#makeInstead();
        makeField(() => {
            absolve('when');
            this.#changed();
        });
        $('close').addEventListener('click', () => this.#fold());
        $('sendForm').addEventListener('keydown', (event) => this.#key(event));
        // Who has written since the page was opened is among them.
        $('recipient').addEventListener('focus', () => offerPeople(this.#writer));
        for (const id of [...fields, 'secure']) $(id).addEventListener('input', () => this.#changed());
        for (const name of platforms) $(name).addEventListener('change', () => this.#switched(name));
        this.#look();
    }

    /** What the server told: which platforms there are, whether it delivers there, how long a message may be, and whether each
     *  is a secret. */
    configure({ Platforms: list, MaximumMessageBytes: limit, SecureOnly: isSecureOnly }) {
        if (Number.isSafeInteger(limit) && limit > 0) this.#limit = limit;
        if (Array.isArray(list)) this.#offer(new Map(list.map(({ Name, Delivers }) => [platformOf(Name), Delivers === true])));
        // Whatever is sent there is kept as a secret, and the person must see that.
        this.#isSecureOnly = isSecureOnly === true;
        if (this.#isSecureOnly) $('secure').checked = true;
        $('secure').disabled = this.#isSecureOnly;
        this.#look();
    }

    /**
     * Another user, or none: what was written is its writer's, also when no draft could be kept. Gives whether a message waits
     * to be sent.
     */
    open(user) {
        if (!user) return false;
        const kept = draft();
        const former = this.#writer ?? kept?.user ?? user;
        if (former !== user) this.empty();
        this.#writer = user;
        const isMine = kept?.user === user;
        if (isMine && !$('recipient').value && !$('message').value) {
            Object.assign($('recipient'), { value: kept.to });
            Object.assign($('message'), { value: kept.text });
            Object.assign($('when'), { value: kept.when ?? '' });
            $('secure').checked = kept.secure || this.#isSecureOnly;
            this.#declined = new Set(kept.declined);
            this.#choose();
            this.unfold({ quietly: true });
        }
        this.#look();
        offerPeople(user);
        return isMine && kept.waits === true;
    }

    /** Shows all of the form; `to` is who it is for, unless a text for another user is in it. */
    unfold({ quietly = false, to } = {}) {
        $('sendForm').hidden = false;
        $('compose').hidden = true;
        $('compose').setAttribute('aria-expanded', 'true');
        if (to !== undefined) this.#address(to);
        if (!quietly) $($('recipient').value ? 'message' : 'recipient').focus();
    }

    /** A text stays that user's to whom it was written, and what waits to be sent goes on waiting. */
    #address(to) {
        const known = $('recipient').value.trim();
        if (known.toLowerCase() === to.toLowerCase()) return;
        if (known !== '' && $('message').value !== '') {
            say('sendError', t('compose.otherBegun'), 'wait');
            return this.#offerOther(to);
        }
        $('recipient').value = to;
        this.#changed();
    }

    /** The way out: that message goes, at the second press. */
    #makeInstead() {
        const instead = element('button', { type: 'button', id: 'instead', hidden: true });
        $('sendError').after(instead);
        const words = (key) => () => { instead.textContent = t(key, { name: this.#other }); };
        pressTwice(instead, words('compose.instead'), words('compose.insteadSure'), () => {
            const to = this.#other;
            this.empty();
            $('secure').checked = this.#isSecureOnly;
            $('recipient').value = to;
            $('message').focus();
            this.#changed();
        });
    }

    #offerOther(name) {
        this.#other = name;
        $('instead').hidden = !name;
        $('instead').textContent = t('compose.instead', { name });
    }

    /** What became of the last message is in the list of what was sent. */
    #fold() {
        if (this.#other) say('sendError', '');
        this.#offerOther('');
        this.#look();
        $('sendForm').hidden = true;
        $('results').hidden = true;
        $('compose').hidden = false;
        $('compose').setAttribute('aria-expanded', 'false');
        $('compose').focus();
    }

    /**
     * As in a chat: Enter sends, and with Shift it begins a new line. Not while an input method is at work. A keyboard on a screen has no
     * Shift for that, so Enter always begins a new line there.
     */
    #key(event) {
        // Safari says so by the code alone.
        if (event.isComposing || event.keyCode === 229) return;
        if (event.key === 'Escape') return this.#fold();
        if (event.target.id !== 'message' || event.key !== 'Enter' || event.shiftKey) return;
        if (hasKeysOnScreen.matches && !event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        $('sendForm').requestSubmit();
    }

    /**
     * What is to be sent, and where: `{user, recipient, text, secure, places, message}`, and `message` is what the server gets;
     * null after it said what is wrong with it. `hasWaited`: for the server, so that its time may have come.
     */
    read(hasWaited) {
        this.absolve();
        const [recipient, text, secure] = [$('recipient').value.trim(), $('message').value, $('secure').checked];
        const places = platforms.filter((name) => $(name).checked && this.#offered.has(name));
        const message = { To: recipient, Body: text, ...(secure ? { Secure: true } : { Platforms: places }) };
        const fault = hasWaited ? '' : faultWords();
        if (recipient === '') blame('recipient', t('compose.toMissing'));
        else if (text === '') blame('message', t('compose.messageMissing'));
        else if (this.#count() > 0) blame('message', t('compose.tooLong'));
        else if (fault) this.#blameTime(fault);
        else if (!secure && places.length === 0) this.#blamePlatforms();
        else return { user: this.#writer, recipient, text, secure, places, message: { ...message, SendAt: sendAt() } };
        return null;
    }

    /** Nothing is said to be wrong. */
    absolve() {
        fields.forEach(absolve);
        say('sendError', '');
        this.#offerOther('');
    }

    /** `user`'s message was sent. What was typed meanwhile stays. */
    clear(user, message) {
        if (user !== this.#writer) return;
        if ($('message').value === message) {
            this.#clear('message', 'when');
            $('secure').checked = this.#isSecureOnly;
        }
        this.keep(false);
        this.#look();
    }

    #clear(...ids) {
        for (const id of ids) $(id).value = '';
        showField(false);
    }

    /** It was not sent after all. Gives whether it is there again, as nothing else was typed meanwhile, nor another recipient. */
    restore(recipient, message) {
        const isSame = $('recipient').value.trim() === recipient;
        if (isSame && $('message').value === '') $('message').value = message;
        this.unfold({ quietly: true });
        this.keep(false);
        this.#look();
        return isSame && $('message').value === message;
    }

    empty() {
        this.#clear(...fields);
        forgetDraft();
        this.#look();
    }

    /** `waits`: Send was pressed, and the server was away. */
    keep(waits) {
        keepDraft(this.#writer, [...this.#declined], waits);
    }

    #changed() {
        this.keep(false);
        this.#offerOther('');
        this.#look();
        this.dispatchEvent(new Event('input'));
    }

    #switched(name) {
        if ($(name).checked) this.#declined.delete(name);
        else this.#declined.add(name);
        this.#changed();
    }

    /** Those that deliver are offered, and switched on until the person says otherwise; where none does, all that record. */
    #offer(delivers) {
        const delivering = platforms.filter((name) => delivers.get(name));
        this.#offered = new Set(delivering.length > 0 ? delivering : platforms.filter((name) => delivers.has(name)));
        for (const name of platforms) {
            const note = !delivers.has(name) ? t('compose.notOffered') : delivers.get(name) ? '' : t('compose.recorded');
            say(`${name}Note`, note);
            $(name).closest('label').hidden = !this.#offered.has(name);
        }
        this.#choose();
    }

    #choose() {
        for (const name of platforms) $(name).checked = this.#offered.has(name) && !this.#declined.has(name);
    }

    #blameTime(words) {
        showField(true);
        blame('when', words);
    }

    #blamePlatforms() {
        $('where').open = true;
        say('sendError', t('compose.nowhere'), 'bad');
        $([...this.#offered][0]).focus();
    }

    #look() {
        this.#count();
        const secure = $('secure').checked;
        const only = this.#isSecureOnly ? `${t('compose.secureOnly')} ` : '';
        const hasTime = $('when').value !== '';
        if (hasTime) showField(true);
        $('send').textContent = t(hasTime ? 'compose.sendLater' : 'compose.send');
        say('secureNote', secure ? `${only}${t('compose.secureNote')}` : '');
        $('where').hidden = secure || this.#offered.size < 2;
        const on = [...this.#offered].filter((one) => $(one).checked);
        const places = on.length === this.#offered.size ? t('compose.everywhere') : on.map(platformWords).join(', ') || '–';
        $('whereNow').textContent = t('compose.where', { places });
        this.#tellDraft();
    }

    /** What is begun is seen while the form is folded. */
    #tellDraft() {
        const [name, text] = [$('recipient').value.trim(), $('message').value];
        const draft = [name && t('sent.to', { name }), bounded(text, 80)].filter(Boolean).join(' – ');
        $('compose').textContent = text === '' ? t('compose') : t('compose.draft', { text: draft });
        $('compose').classList.toggle('begun', text !== '');
    }

    #count() {
        const bytes = new TextEncoder().encode($('message').value).length;
        const over = bytes - this.#limit;
        const text = amount('compose.bytes', this.#limit, { used: number(bytes) });
        $('counter').textContent = over > 0 ? t('compose.over', { text, over: number(over) }) : text;
        $('counter').dataset.tone = over > 0 ? 'bad' : '';
        return over;
    }
}

/** One for each platform; which of them are shown, the server tells. */
function makeSwitches() {
    $('platforms').append(...platforms.map((name) => element('label', { className: 'switch', htmlFor: name, hidden: true },
        element('span', {}, platformWords(name), element('small', { id: `${name}Note` })),
        element('input', { type: 'checkbox', role: 'switch', id: name, name, checked: name === 'browser' }))));
}
