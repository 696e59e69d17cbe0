// SPDX-License-Identifier: Apache-2.0
// In the settings on a wide screen: the site's address as a code that opens the page on a telephone.

import { $ } from './dom.js';
import { t } from './i18n.js';

const wide = matchMedia('(min-width: 48rem)');
const margin = 4; // modules that stay light around the code

export class Telephone {
    constructor() {
        wide.addEventListener('change', () => this.load());
    }

    async load() {
        $('telephone').hidden = !wide.matches;
        if (!wide.matches || $('telephoneCode').firstChild) return;
        const address = new URL('./', location.href).href;
        try {
            const { qrCode } = await import('./qr.js');
            $('telephoneCode').replaceChildren(picture(qrCode(address), t('settings.telephoneCode', { address })));
        } catch {
            // An address that is too long for a code, or no network.
            $('telephone').hidden = true;
        }
    }

    /** The address is no user's. */
    forget() {}
}

/** Dark on light in every theme: readers look for that. */
function picture(code, label) {
    const size = code.length + 2 * margin;
    const path = code.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x + margin} ${y + margin}h1v1h-1z` : ''))).join('');
    return drawn('svg', { viewBox: `0 0 ${size} ${size}`, role: 'img', 'aria-label': label, 'shape-rendering': 'crispEdges' },
        drawn('rect', { width: size, height: size, fill: '#fff' }), drawn('path', { d: path, fill: '#000' }));
}

function drawn(tag, attributes, ...children) {
    const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
}
