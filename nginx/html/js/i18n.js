// SPDX-License-Identifier: Apache-2.0
// Texts, numbers and times in the language that was chosen. The page loads its texts (language.js), and later those of what
// it loads on demand. The service worker reads the few sentences it needs from the database.

export const languages = { en: 'English', de: 'Deutsch', es: 'Español' };

let texts = {};
let language = 'en';

/** From now on texts are in this language. */
export function use(name, own) {
    language = Object.hasOwn(languages, name) ? name : 'en';
    texts = own;
}

export const current = () => language;

/** More texts of that language, for what was loaded later. */
export function add(own) {
    texts = { ...texts, ...own };
}

// Letters that are written from right to left, and what changes the direction without being seen.
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}\p{Bidi_Control}]/u;

/** A user's words as a part of a sentence: in whichever direction they are written, those around them stay where they are. */
export const isolated = (text) => (rightToLeft.test(text) ? `\u2068${text.replace(/\p{Bidi_Control}/gu, '')}\u2069` : text);

/** The text with this key; `{name}` in it is replaced by `values.name`. */
export function t(key, values = {}) {
    return String(texts[key] ?? key).replace(/\{(\w+)\}/g, (_, name) => isolated(String(values[name] ?? '')));
}

/** Whether there is such a text. */
export const has = (key) => Object.hasOwn(texts, key);

export const number = (value) => value.toLocaleString(language);

/** `1 device`, `2 devices`: the text `<key>.one` or `<key>.other`. */
export function amount(key, count, values = {}) {
    const form = new Intl.PluralRules(language).select(count) === 'one' ? 'one' : 'other';
    return t(`${key}.${form}`, { ...values, count: number(count) });
}

/** Where the browser wants English, it says which; else it is that of Great Britain, as a language without a country. */
const locale = () => {
    const wanted = navigator.languages.find((one) => /^en/i.test(one));
    return language !== 'en' ? language : wanted?.toLowerCase() === 'en-us' ? 'en-US' : 'en-GB';
};

const formats = {}; // each takes longer to make than a message to draw

function formatted(at, name, style) {
    formats[language + name] ??= new Intl.DateTimeFormat(locale(), style);
    return formats[language + name].format(at);
}

export const date = (at) => formatted(at, 'date', { dateStyle: 'medium' });

/** A time of today without its date. `at` is in milliseconds since 1970. */
export function time(at) {
    if (new Date(at).toDateString() === new Date().toDateString()) return formatted(at, 'time', { timeStyle: 'short' });
    return formatted(at, 'both', { dateStyle: 'medium', timeStyle: 'short' });
}
