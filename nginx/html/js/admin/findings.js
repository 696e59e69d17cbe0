// SPDX-License-Identifier: Apache-2.0
// What the service has found wrong with its site, and what to change.

import { $, element, say, whileBusy } from '../dom.js';
import { number, t, time } from '../i18n.js';
import { failureWords } from '../words.js';
import * as calls from './calls.js';

const pause = 1_000; // milliseconds between two questions while a look is under way
const longPause = 5_000; // and after a failure, of which so many may follow each other
const patience = 5;
/** What is wrong comes first. */
const verdicts = {
    wrong: ['bad', 'admin.wrong'], warning: ['wait', 'admin.warning'], skipped: ['quiet', 'admin.skipped'],
    ok: ['good', 'admin.fine'],
};
const order = Object.keys(verdicts);

export class Findings {
    #ended;
    #turn = 0;

    /** `ended` is called when there is no session any more. */
    constructor(ended) {
        this.#ended = ended;
        $('lookAgain').addEventListener('click', () => whileBusy($('lookAgain'), () => this.load()));
    }

    /** Shows what is known now, and asks again until the look that is under way has ended. */
    async load(failures = 0) {
        const turn = this.#turn += 1;
        try {
            const { LookedAt, Looking, Findings } = await calls.findings();
            if (turn !== this.#turn) return;
            say('findingsNote', words(LookedAt, Looking));
            if (LookedAt || !Looking) show(Findings);
            else $('verdict').textContent = t('admin.looking');
            if (Looking) this.#ask(turn, pause, 0);
        } catch (failure) {
            if (turn !== this.#turn) return;
            if (failure.status === 401) return this.#ended();
            say('findingsNote', failureWords(failure), 'bad');
            if (failures < patience) this.#ask(turn, longPause, failures + 1);
        }
    }

    #ask(turn, milliseconds, failures) {
        setTimeout(() => {
            if (turn === this.#turn && document.body.dataset.state !== 'refused') this.load(failures);
        }, milliseconds);
    }
}

function words(lookedAt, isLooking) {
    const known = lookedAt ? t('admin.looked', { time: time(Date.parse(lookedAt)) }) : '';
    return [known, isLooking ? t('admin.looking') : ''].filter(Boolean).join(' ');
}

/** What is to be corrected is seen at once, the rest on demand. The status says how many there are of each. */
function show(findings) {
    const rank = ({ Verdict }) => order.indexOf(Verdict);
    const sorted = [...findings].sort((one, other) => rank(one) - rank(other));
    const faults = sorted.filter((one) => rank(one) < 2);
    const others = sorted.slice(faults.length);
    $('faults').replaceChildren(...faults.map(row));
    $('others').replaceChildren(...others.map(row));
    $('othersNow').textContent = counted(others);
    $('findings').hidden = false;
    $('verdict').textContent = `${t('admin.findings')}: ${counted(sorted)}`;
}

/** How many of each verdict: `warning: 1 · fine: 5`. */
function counted(findings) {
    return [...new Set(findings.map(({ Verdict }) => Verdict))].map((verdict) => {
        const count = findings.filter((one) => one.Verdict === verdict).length;
        return `${t(verdicts[verdict]?.[1] ?? verdict)}: ${number(count)}`;
    }).join(' · ');
}

/** The sentences are the program's own, in English. */
function row({ Step, Verdict, Found, Fix }) {
    const [tone, key] = verdicts[Verdict] ?? ['quiet', ''];
    const badge = element('span', { className: 'state', data: { tone } }, key ? t(key) : Verdict);
    return element('li', { data: { step: Step, verdict: Verdict } }, badge,
        element('span', { lang: 'en' }, element('b', {}, Step), ` ${Found}`, element('small', {}, Fix ? `→ ${Fix}` : '')));
}
