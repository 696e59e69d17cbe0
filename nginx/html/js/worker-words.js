// SPDX-License-Identifier: Apache-2.0
// The service worker's few sentences, in the language that the page spoke last, else in English. A worker may load no module on
// demand.

import { transact } from './database.js';
import { use } from './i18n.js';
import en from './texts/en.js';

export async function recallWords() {
    const kept = await transact('device', 'readonly', (store) => store.get('words')).catch(() => null);
    use(kept?.language, { ...en, ...kept?.words });
}
