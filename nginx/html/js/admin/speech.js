// SPDX-License-Identifier: Apache-2.0
// The language of the operator's page: the one that the page has, with texts of its own beside the page's.

import { current, use } from '../i18n.js';
import { start, translate } from '../language.js';
import english from './texts-en.js';

export async function speak() {
    await start();
    const name = current();
    const [page, own] = name === 'en' ? [{}, {}] : await Promise.all(
        [`../texts/${name}.js`, `./texts-${name}.js`].map((file) => import(file).then((one) => one.default, () => ({}))));
    use(name, { ...english, ...page, ...own });
    translate('admin.title');
}
