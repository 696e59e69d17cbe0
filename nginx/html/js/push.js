// SPDX-License-Identifier: Apache-2.0
// What a push says, from any sender: JSON of this backend, a declarative push, plain text, or nothing at all.

import { nameFrom } from './entries.js';
import { t } from './i18n.js';

const limit = 4000; // characters

/**
 * Reads a push's text (null: it had none) into `{kind: 'message', title, body}`, perhaps with `from`, `link`,
 * `image`, `badge` and `message` (under which number the backend keeps it), or `{kind: 'secret', secret}`, where
 * `secret` is the number or token under which the backend keeps the text. Both may have `id`, by which its sender learns that the
 * message was opened. Never throws; everything is bounded.
 */
export function parsePush(text) {
    if (!text) return message(t('push.untitled'), '');
    let json;
    try {
        json = JSON.parse(text);
    } catch {
        return message(t('push.untitled'), text);
    }
    if (json === null || typeof json !== 'object') return message(t('push.untitled'), json);
    const secret = [json.secureId, json.secureToken].map(words).find((name) => /^[A-Za-z0-9_-]{1,256}$/.test(name));
    const id = [json.secureToken, json.messageId].map(words).find((name) => /^[A-Za-z0-9_-]{22}$/.test(name));
    if (secret) return { kind: 'secret', secret, ...(id && { id }) };
    // Declarative Web Push: {"web_push": 8030, "notification": {"title": …, "body": …}}.
    const said = json.web_push === 8030 ? json.notification ?? {} : json;
    const [link, image] = [said.link ?? said.navigate, said.image].map(httpsURL);
    return {
        ...message(said.title, said.body),
        ...(nameFrom(json.sender) && { from: nameFrom(json.sender) }),
        ...(link && { link }),
        ...(image && { image }),
        ...(id && { id }),
        ...(/^\d{1,10}$/.test(words(json.inboxId)) && { message: words(json.inboxId) }),
        ...(Number.isInteger(said.badge) && said.badge >= 0 && { badge: said.badge }),
    };
}

/** An address that may be opened from here; undefined for any other. */
function httpsURL(text) {
    return URL.canParse?.(words(text)) && new URL(text).protocol === 'https:' ? new URL(text).href : undefined;
}

function message(title, body) {
    return {
        kind: 'message',
        title: bounded(oneLine(words(title)), limit) || t('push.untitled'),
        body: bounded(words(body), limit),
    };
}

/** At most `limit` characters, cut between characters and not within one. */
export function bounded(text, limit) {
    if (text.length <= limit) return text;
    const end = /[\uD800-\uDBFF]/.test(text[limit - 2]) ? limit - 2 : limit - 1;
    return `${text.slice(0, end)}…`;
}

const words = (value) => (['string', 'number', 'boolean'].includes(typeof value) ? String(value) : '');
const oneLine = (text) => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
