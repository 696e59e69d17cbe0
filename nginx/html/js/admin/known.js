// SPDX-License-Identifier: Apache-2.0
// Names of which the server has a fixed set, in words.

import { has, t } from '../i18n.js';

/** The text `admin.<kind>.<name>`; a name that only a newer server has stays as it is. */
export const known = (kind, name) => (has(`admin.${kind}.${name}`) ? t(`admin.${kind}.${name}`) : String(name));
