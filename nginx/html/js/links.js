// SPDX-License-Identifier: Apache-2.0
// A text with the addresses in it as links. Nothing is read as markup: the parts are text nodes and anchors, and an
// anchor leads to http or https alone.

import { element } from './dom.js';

const address = /\bhttps?:\/\/[^\s<>"]+/gi;
const trailing = /[.,:;!?'")\]}»”’]+$/; // of the sentence, not of the address

/** Nodes for `text`. */
export function linked(text) {
    const nodes = [];
    let end = 0;
    for (const { 0: found, index } of text.matchAll(address)) {
        const own = balanced(found);
        if (!isWeb(own)) continue;
        nodes.push(text.slice(end, index), link(own, own));
        end = index + own.length;
    }
    return [...nodes, text.slice(end)].filter((node) => node !== '');
}

/** A link that opens in a window of its own and tells it nothing of this page. `href` is http or https. */
export function link(href, words) {
    return element('a', { href, target: '_blank', rel: 'noopener noreferrer', dir: 'auto' }, words);
}

/** Without the punctuation behind it; a bracket that was opened within the address belongs to it. */
function balanced(found) {
    const cut = found.replace(trailing, '');
    const closing = found.slice(cut.length).startsWith(')') && cut.includes('(') && !cut.includes(')');
    return closing ? `${cut})` : cut;
}

function isWeb(text) {
    return Boolean(URL.canParse?.(text)) && ['http:', 'https:'].includes(new URL(text).protocol);
}
