// SPDX-License-Identifier: Apache-2.0
// Texts, numbers and times in the language that was chosen. English is always there; the page loads another language's
// module on demand (language.js), and the texts of what it loads on demand with that. The service worker reads the few
// sentences it needs from the database.

import en from './texts/en.js';

export const languages = { en: 'English', de: 'Deutsch', es: 'Español' };

let texts = en;
let language = 'en';

/** From now on texts are in this language; what `own` lacks is said in English. */
export function use(name, own) {
    language = Object.hasOwn(languages, name) ? name : 'en';
    texts = own;
}

export const current = () => language;

/** More texts of that language, for what was loaded later. */
export function add(own) {
    texts = { ...texts, ...own };
}

/** The text with this key; `{name}` in it is replaced by `values.name`. */
export function t(key, values = {}) {
    return String(texts[key] ?? en[key] ?? key).replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ''));
}

/** Of the texts that are there from the start. */
export const keys = () => Object.keys(en);

/** Whether there is such a text. */
export const has = (key) => Object.hasOwn(texts, key) || Object.hasOwn(en, key);

export const number = (value) => value.toLocaleString(language);

/** `1 device`, `2 devices`: the text `<key>.one` or `<key>.other`. */
export function amount(key, count, values = {}) {
    const form = new Intl.PluralRules(language).select(count) === 'one' ? 'one' : 'other';
    return t(`${key}.${form}`, { ...values, count: number(count) });
}

/** A time of today without its date. `at` is in milliseconds since 1970. */
export function time(at) {
    const date = new Date(at);
    const today = date.toDateString() === new Date().toDateString();
    const style = today ? { timeStyle: 'short' } : { dateStyle: 'medium', timeStyle: 'short' };
    return new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : language, style).format(date);
}
