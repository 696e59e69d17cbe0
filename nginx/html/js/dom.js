// SPDX-License-Identifier: Apache-2.0
// The document, by text alone: nothing from outside is ever read as markup.

export const $ = (id) => document.getElementById(id);

/** A new element with these properties and children; `data` fills its `data-` attributes. */
export function element(tag, { data = {}, ...properties } = {}, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    Object.assign(made.dataset, data);
    made.append(...children);
    return made;
}

/**
 * Says something beside its control; with `tone` `bad` in the colour of errors. The place is never hidden: a screen
 * reader listens only to what was there before. An empty one takes no room.
 */
export function say(id, text, tone = '') {
    const place = $(id);
    // The same text is no news.
    if (place.textContent !== text) place.textContent = text;
    place.dataset.tone = tone;
}

/** Reads a sentence to those who listen to the page and do not see it. */
export function announce(text) {
    $('announce').textContent = text;
}

/** Marks a field as wrong, by the place that says why, and leads there. */
export function blame(field, why) {
    field.setAttribute('aria-invalid', 'true');
    field.setAttribute('aria-errormessage', why);
    field.focus();
    field.select?.();
    field.addEventListener('input', () => absolve(field), { once: true });
}

export function absolve(field) {
    field.removeAttribute('aria-invalid');
    field.removeAttribute('aria-errormessage');
}
