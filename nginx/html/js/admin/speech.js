// SPDX-License-Identifier: Apache-2.0
// The language of the operator's page: the one that the page has, with texts of its own beside the page's.

import { current, t } from '../i18n.js';
import { load, put, start } from '../language.js';
import english from './texts-en.js';

export async function speak() {
    await start();
    const name = current();
    // A text that cannot be loaded now is no reason to show nothing.
    const [own] = await Promise.all([
        name === 'en' ? {} : import(`./texts-${name}.js`).then((one) => one.default, () => ({})),
        load().catch(() => {}),
    ]);
    put({ ...english, ...own });
    document.title = t('admin.title');
}
