// SPDX-License-Identifier: Apache-2.0
// The operator's page: who may see it, and its parts. It has no right of its own: the server refuses users who may not.

import * as api from './js/api.js';
import { speak } from './js/admin/speech.js';
import { Findings } from './js/admin/findings.js';
import { Messages } from './js/admin/messages.js';
import { Scheduled } from './js/admin/scheduled.js';
import { Status } from './js/admin/status.js';
import { openTyped } from './js/admin/typed.js';
import { UserDialog } from './js/admin/user-dialog.js';
import { Users } from './js/admin/users.js';
import { hear } from './js/channel.js';
import { $, say } from './js/dom.js';
import { t } from './js/i18n.js';
import { Retry } from './js/retry.js';
import { failureWords } from './js/words.js';

await speak();

const cards = ['statusCard', 'messagesCard', 'usersCard', 'findingsCard'];
const logIn = './?next=admin';
let shown; // whose page it is

function closeDialogs() {
    for (const one of document.querySelectorAll('dialog[open]')) one.close();
}

/** Shows nothing but why, and the way to the page. */
function refuse(words) {
    closeDialogs();
    for (const id of cards) $(id).hidden = true;
    $('refused').hidden = false;
    $('refusedWords').textContent = t(words);
    if (shown) $('refusedWords').focus();
    // Who has no session comes back from the log-in.
    const isOut = words === 'admin.loggedOut';
    $('toPage').href = isOut ? logIn : './';
    $('toPage').textContent = t(isOut ? 'login.title' : 'admin.toPage');
    document.body.dataset.state = 'refused';
    shown = undefined;
    api.actAs(null);
}

/** Nothing is lost of a page on which nothing was shown. */
function ended() {
    if (document.body.dataset.state === 'starting') return location.replace(logIn);
    return refuse('admin.loggedOut');
}

const status = new Status(ended);
const findings = new Findings(ended);
const messages = new Messages(ended);
const scheduled = new Scheduled(ended);
const users = new Users((name) => dialog.open(name), ended);
const dialog = new UserDialog(() => users.load(), ended);

async function look() {
    let session;
    try {
        session = await api.session();
    } catch (failure) {
        if (failure.status === 401) return ended();
        throw failure;
    }
    if (!session.Administer) return refuse('admin.refused');
    if (shown === session.User) return;
    closeDialogs();
    shown = session.User;
    api.actAs(shown);
    dialog.administrator = shown;
    openTyped(shown);
    $('refused').hidden = true;
    await Promise.all([status.load(), findings.load(), messages.load(), scheduled.load(), users.load()]);
    if (!shown) return;
    // All at once: nothing moves that one has begun to read.
    for (const id of cards) $(id).hidden = false;
    document.body.dataset.state = 'ready';
}

const server = new Retry(look, (failure) => {
    say('note', failure ? `${failureWords(failure)} ${t('retry.byItself')}` : '', 'wait');
});
say('note', t('loading'));
hear('session', () => server.start());
// Another page may have been here meanwhile, and the user have logged out there.
addEventListener('pageshow', ({ persisted }) => { if (persisted) server.start(); });
server.start();
