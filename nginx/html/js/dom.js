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

/** Shows these items. Those that stay are not touched, so what is read, selected or focused does not jump; at the upper end they slide. */
export function arrange(list, items) {
    const kept = items.find((one) => one.parentNode === list);
    const top = kept?.offsetTop;
    for (const one of [...list.children]) if (!items.includes(one)) one.remove();
    items.forEach((one, place) => {
        if (one !== list.children[place]) list.insertBefore(one, list.children[place] ?? null);
    });
    const way = kept ? top - kept.offsetTop : 0;
    if (way < 0 && scrollY === 0 && !matchMedia('(prefers-reduced-motion)').matches) {
        // What is above the list stays in sight, and in reach.
        const [from, to] = [way, 0].map((y) => ({ translate: `0 ${y}px`, clipPath: `inset(${-y}px -1rem -1rem)` }));
        list.animate([from, to], { duration: 200, easing: 'ease-out', composite: 'add' });
    }
}

/** Says at a field, in the place `<id>Error`, what is wrong with it, and leads there. What was typed stays. */
export function blame(id, words) {
    const field = $(id);
    say(`${id}Error`, words, 'bad');
    field.setAttribute('aria-invalid', 'true');
    field.setAttribute('aria-errormessage', `${id}Error`);
    field.focus();
    // A name is replaced at once; a message is not lost to the next key.
    if (field.tagName === 'INPUT') field.select();
    field.addEventListener('input', () => absolve(id), { once: true });
}

export function absolve(id) {
    say(`${id}Error`, '');
    $(id).removeAttribute('aria-invalid');
    $(id).removeAttribute('aria-errormessage');
}

/** Until the work is done the button shows it, and another press does nothing. */
export async function whileBusy(button, work) {
    if (button.ariaBusy === 'true') return;
    button.ariaBusy = true;
    try {
        await work();
    } finally {
        button.ariaBusy = false;
    }
}

const pause = 600; // milliseconds

/**
 * A button whose press is for good: it asks once more, in the words `sure`, and acts at the second press. One that comes sooner than a
 * person has read them is no answer: the second half of a double click, or a key that is held.
 */
export function pressTwice(button, words, sure, act) {
    let isSure = false;
    let last = 0; // press
    const ask = (isAsked) => {
        isSure = isAsked;
        button.classList.toggle('danger', isSure);
        (isSure ? sure : words)(button);
    };
    button.addEventListener('click', ({ timeStamp }) => {
        const isAnswer = timeStamp - last >= pause;
        last = timeStamp;
        if (!isSure) ask(true);
        else if (isAnswer) whileBusy(button, act);
    });
    button.addEventListener('blur', () => { if (isSure) ask(false); });
}
