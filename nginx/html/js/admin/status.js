// SPDX-License-Identifier: Apache-2.0
// What the service knows of itself: what waits and why, and what push services have said since its start.

import { $, element, say } from '../dom.js';
import { number, t, time } from '../i18n.js';
import { platformOf, platformWords } from '../outcomes.js';
import { failureWords } from '../words.js';
import * as calls from './calls.js';

export class Status {
    #ended;

    /** `ended` is called when there is no session any more. */
    constructor(ended) {
        this.#ended = ended;
        $('refresh').addEventListener('click', () => this.load());
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
            ['admin.version', status.Version], ['admin.started', moment(status.StartedAt)], ['admin.store', status.Store],
            ['admin.hub', status.Hub], ['admin.queue', queue],
            ['admin.workers', `${number(status.WorkersBusy)} / ${number(status.Workers)}`],
            ['admin.sends', number(sum(status.Sends))],
        ];
        $('facts').replaceChildren(...facts.filter(([, value]) => value !== null).map(([key, value]) =>
            element('div', {}, element('dt', {}, t(key)), element('dd', {}, value))));
        $('waiting').hidden = status.Waiting.length === 0;
        $('waiting').replaceChildren(...status.Waiting.map((one) => element('li', {},
            element('span', {}, element('b', {}, t('admin.waits', { channel: one.Channel })),
                element('small', {}, `${one.Reason} (${t('admin.since', { time: moment(one.Since) })})`)))));
        const platforms = [...new Set(status.Pushes.map((one) => one.Platform))];
        $('noPushes').hidden = platforms.length > 0;
        $('pushes').replaceChildren(...platforms.map((name) =>
            bar(name, status.Pushes.filter((one) => one.Platform === name))));
    }
}

const moment = (text) => time(Date.parse(text));
const sum = (counts) => counts.reduce((total, one) => total + one.Count, 0);

/** A bar of what was taken and what was not, with the same in words. */
function bar(platform, counts) {
    const all = sum(counts);
    const good = sum(counts.filter((one) => one.Outcome === 'Success'));
    const others = counts.filter((one) => one.Outcome !== 'Success').map((one) => `${one.Outcome} ${number(one.Count)}`);
    const words = t('admin.taken', { good: number(good), all: number(all) });
    const name = platformWords(platformOf(platform));
    const share = all === 0 ? 0 : good / all * 100;
    return element('li', {},
        element('p', {}, element('b', {}, name), element('span', {}, words)),
        drawing({ viewBox: '0 0 100 1', preserveAspectRatio: 'none', role: 'img', 'aria-label': `${name}: ${words}` },
            rectangle('good', 0, share), rectangle('bad', share, 100 - share)),
        element('small', {}, others.join(', ')));
}

const rectangle = (kind, x, width) => drawn('rect', { class: kind, x, width, y: 0, height: 1 });
const drawing = (attributes, ...children) => drawn('svg', attributes, ...children);

function drawn(tag, attributes, ...children) {
    const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
}
