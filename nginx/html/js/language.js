// SPDX-License-Identifier: Apache-2.0
// Which language the page speaks: the one chosen here, else the first of the browser's that there is. Puts the texts into
// the document: `data-t` names an element's text, `data-t-label` and `data-t-hint` its aria-label and placeholder.

import { transact } from './database.js';
import { add, current, languages, t, use } from './i18n.js';
import { recall, remember } from './memory.js';

const workers = ['inbox.untitled', 'push.open', 'push.untitled', 'secret.waiting', 'secret.waitingFrom', 'secret.title', 'secret.titleFrom'];

const loadTexts = async (name) => ({ name, own: (await import(`./texts/${name}.js`)).default });

// The document names this module, too: the texts are on their way before all other modules are there. A language that cannot be
// loaded now is no reason to show nothing.
const loading = loadTexts(wanted()).catch(() => loadTexts('en'));

/** Puts the language's texts into the document, and hands the worker those that it needs. */
export async function start() {
    const { name, own } = await loading;
    use(name, own);
    document.documentElement.lang = current();
    translate(Object.keys(own));
    document.title = t('name');
    const words = Object.fromEntries(workers.map((key) => [key, own[key]]));
    // The page does not wait for its disk.
    transact('device', 'readwrite', (store) => store.put({ language: current(), words }, 'words')).catch(() => {});
}

let hasMore = false; // texts
let tries = ''; // in each address

/**
 * Loads modules that are needed on demand, and their texts. Rejects when that is not possible now. A browser remembers which
 * address it could not load, so the next try has others.
 */
export async function load(...modules) {
    const names = [`texts/${current()}-more`, ...modules];
    try {
        const [texts, ...loaded] = await Promise.all(names.map((name) => import(`./${name}.js${tries}`)));
        if (!hasMore) put(texts.default);
        hasMore = true;
        return loaded;
    } catch (failure) {
        tries += '?';
        throw failure;
    }
}

/** More texts of the page's language, which are put into the document as well. */
export function put(texts) {
    add(texts);
    translate(Object.keys(texts));
}

/** Speaks another language from now on. What was typed is kept (draft.js). */
export function choose(name) {
    remember('language', name);
    location.reload();
}

function wanted() {
    const known = (name) => Object.hasOwn(languages, name);
    const chosen = recall('language');
    if (known(chosen)) return chosen;
    return navigator.languages.map((one) => one.slice(0, 2).toLowerCase()).find(known) ?? 'en';
}

/** Puts the texts of these keys into the document; once each, as the page may say something else in their places later. */
function translate(names) {
    const known = new Set(names);
    const put = (name, set) => {
        for (const place of document.querySelectorAll(`[data-${name}]`)) {
            const key = place.getAttribute(`data-${name}`);
            if (known.has(key)) set(place, t(key));
        }
    };
    put('t', (place, text) => { place.textContent = text; });
    put('t-label', (place, text) => place.setAttribute('aria-label', text));
    put('t-hint', (place, text) => { place.placeholder = text; });
}
