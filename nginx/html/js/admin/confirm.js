// SPDX-License-Identifier: Apache-2.0
// Asks for the administrator's own password before something is changed.

import { $, absolve, blame, say } from '../dom.js';
import { t } from '../i18n.js';
import { failureWords, passwordFault } from '../words.js';

let act = null;

/**
 * `work(password)` throws `Failure`; the dialog stays open until it succeeds or the person gives up. It may give the element
 * that has the focus then.
 */
export function confirm(heading, words, work) {
    act = work;
    $('confirmHeading').textContent = heading;
    $('confirmWords').textContent = words;
    $('sure').textContent = heading;
    $('ownPassword').value = '';
    absolve('ownPassword');
    say('confirmNote', '');
    $('confirm').showModal();
    $('ownPassword').focus();
}

$('cancel').addEventListener('click', () => $('confirm').close());
$('confirm').addEventListener('close', () => {
    // The event comes later than the end: by then the dialog may ask for something else.
    if ($('confirm').open) return;
    // It is not kept in the document.
    $('ownPassword').value = '';
    act = null;
});
$('confirmForm').addEventListener('submit', async (event) => {
    event.preventDefault();
    if ($('sure').ariaBusy === 'true') return undefined;
    const password = $('ownPassword').value;
    if (!password) return blame('ownPassword', t('login.passwordMissing'));
    const work = act;
    // A button that is disabled loses the focus.
    $('sure').ariaBusy = true;
    try {
        const next = await work(password);
        // A person who left it by Escape has gone on.
        if (work !== act) return;
        $('confirm').close();
        // A dialog that closes gives the focus back, and the button it came from may be gone.
        next?.focus();
    } catch (failure) {
        if (work !== act) return;
        const isWrong = failure.status === 403 && ['Password', 'AdministratorPassword'].includes(failure.field);
        if (isWrong) blame('ownPassword', passwordFault(password) || t('admin.wrongPassword'));
        else say('confirmNote', failureWords(failure, { 404: t('admin.gone') }), 'bad');
    } finally {
        $('sure').ariaBusy = false;
    }
});
