// SPDX-License-Identifier: Apache-2.0
// Small pictures of counts, each with the same in words.

import { element } from '../dom.js';
import { number, t, time } from '../i18n.js';
import { platformOf, platformWords } from '../outcomes.js';
import { known } from './known.js';

const hour = 3_600_000; // milliseconds
const hours = 24;

const sum = (counts) => counts.reduce((total, one) => total + one.Count, 0);

/** A bar of what was taken and what was not. */
export function bar(platform, counts) {
    const all = sum(counts);
    const good = sum(counts.filter((one) => one.Outcome === 'Success'));
    const others = counts.filter((one) => one.Outcome !== 'Success').map((one) => `${known('outcome', one.Outcome)}: ${number(one.Count)}`);
    const share = all === 0 ? 0 : good / all * 100;
    return item(platform, taken(good, all), others.join(', '), '', 100, 1,
        [rectangle('good', 0, share, 0, 1), rectangle('bad', share, 100 - share, 0, 1)]);
}

/** A column for each of the last 24 hours, as high as its share of the busiest: below what was taken, above what was not. */
export function day(platform, counts, now = Date.now()) {
    const first = Math.floor(now / hour) - hours + 1;
    const own = counts.map((one) => ({ ...one, place: Math.floor(Date.parse(one.From) / hour) - first }))
        .filter(({ place }) => place >= 0 && place < hours);
    const [good, bad] = ['Taken', 'Failed'].map((name) => own.reduce((total, one) => total + one[name], 0));
    const busiest = own.reduce((most, one) => (one.Taken + one.Failed > most.Taken + most.Failed ? one : most), own[0]);
    const top = busiest ? Math.max(1, busiest.Taken + busiest.Failed) : 1;
    const columns = own.flatMap(({ place, Taken, Failed }) => [
        rectangle('good', place + .1, .8, 1 - Taken / top, Taken / top),
        rectangle('bad', place + .1, .8, 1 - (Taken + Failed) / top, Failed / top),
    ]);
    const peak = busiest ? t('admin.busiest', { time: time(Date.parse(busiest.From)), count: number(top) }) : '';
    return item(platform, taken(good, good + bad), peak, 'hours', hours, 1, columns);
}

/** Where all failed it is said in the colour of errors. */
const taken = (good, all) => ({
    words: t('admin.taken', { good: number(good), all: number(all) }), tone: good === 0 && all > 0 ? 'bad' : '',
});

function item(platform, { words, tone }, more, kind, width, height, shapes) {
    const name = platformWords(platformOf(platform));
    const label = [`${name}: ${words}`, more].filter(Boolean).join('; ');
    return element('li', {},
        element('p', {}, element('b', {}, name), element('span', { data: { tone } }, words)),
        drawn('svg', {
            viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label, class: kind,
        }, ...shapes),
        element('small', {}, more));
}

const rectangle = (kind, x, width, y, height) => drawn('rect', { class: kind, x, width, y, height });

function drawn(tag, attributes, ...children) {
    const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
}
