// SPDX-License-Identifier: Apache-2.0
// What the service knows of itself: what waits and why, and what push services have said since its start.

import { $, element, say, whileBusy } from '../dom.js';
import { number, t, time } from '../i18n.js';
import { failureWords } from '../words.js';
import { platformOf, platformWords } from '../outcomes.js';
import * as calls from './calls.js';
import { bar, day } from './charts.js';
import { known } from './known.js';

const patience = 60_000; // milliseconds

export class Status {
    #ended;

    /** `ended` is called when there is no session any more. */
    constructor(ended) {
        this.#ended = ended;
        $('refresh').addEventListener('click', () => whileBusy($('refresh'), () => this.load()));
    }

    async load() {
        try {
            this.#show(await calls.status());
            say('statusNote', '');
        } catch (failure) {
            if (failure.status === 401) return this.#ended();
            say('statusNote', failureWords(failure), 'bad');
        }
    }

    #show(status) {
        const queue = status.Queue === undefined ? null
            : number(status.Queue) + (status.QueuedSince ? ` (${t('admin.since', { time: moment(status.QueuedSince) })})` : '');
        const facts = [
            ['admin.version', status.Version], ['admin.started', moment(status.StartedAt)], ['admin.store', known('storeIs', status.Store)],
            ['admin.hub', known('hubIs', status.Hub)], ['admin.queue', queue, isLate(status) ? 'wait' : ''],
            ['admin.workers', `${number(status.WorkersBusy)} / ${number(status.Workers)}`],
            ['admin.sends', number(sum(status.Sends))],
        ];
        $('facts').replaceChildren(...facts.filter(([, value]) => value !== null).map(([key, value, tone]) =>
            element('div', {}, element('dt', {}, t(key)), element('dd', { data: tone ? { tone } : {} }, value))));
        $('noWaiting').hidden = status.Waiting.length > 0;
        $('waiting').hidden = status.Waiting.length === 0;
        $('waiting').replaceChildren(...status.Waiting.map(waiting));
        draw('day', status.History, day);
        draw('pushes', status.Pushes, bar);
    }
}

/** A queue empties itself within seconds. */
const isLate = ({ QueuedSince: since }) => Date.now() - Date.parse(since) > patience;

/** The reason is the program's own sentence, in English. */
function waiting({ Channel: channel, Cause: cause, Since: since, Reason: reason }) {
    const words = `${known('cause', cause)} (${t('admin.since', { time: moment(since) })})`;
    return element('li', {},
        element('span', {}, element('b', {}, t('admin.waits', { platform: platformWords(platformOf(channel)) })), element('small', {}, words),
            element('small', { lang: 'en' }, reason)));
}

/** One picture for each platform, or a sentence where nothing was pushed. */
function draw(id, counts, picture) {
    const platforms = [...new Set(counts.map((one) => one.Platform))];
    $(`no${id[0].toUpperCase()}${id.slice(1)}`).hidden = platforms.length > 0;
    $(id).replaceChildren(...platforms.map((name) => picture(name, counts.filter((one) => one.Platform === name))));
}

const moment = (text) => time(Date.parse(text));
const sum = (counts) => counts.reduce((total, one) => total + one.Count, 0);
