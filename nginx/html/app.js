// SPDX-License-Identifier: Apache-2.0
// Introduces the parts of the page to each other: what the device or the session becomes is shown by all, and a user with a device token
// is registered. No part waits for the device. What is not needed to read is loaded on demand.

import * as api from './js/api.js';
import { Banner } from './js/banner.js';
import { hear } from './js/channel.js';
import { Device } from './js/device.js';
import { $, announce, element, say } from './js/dom.js';
import { current, languages, t } from './js/i18n.js';
import { choose, load, start } from './js/language.js';
import { LoginForm } from './js/login-form.js';
import { Received } from './js/received.js';
import { Retry } from './js/retry.js';
import { Session } from './js/session.js';
import { Settings } from './js/settings.js';
import { failureWords } from './js/words.js';
import { Writer } from './js/writer.js';

await start();

const device = new Device();
const session = new Session();
const loginForm = new LoginForm(session, device);
const writer = new Writer(session);
const received = new Received(session, (name) => writer.write({ to: name }));
const settings = new Settings(session);
const banner = new Banner(session, device);

let shown; // the user whose things are shown, and whether the server has said so
let sentList; // a promise of the list of what was sent, which is loaded when it is looked at first

/** One word for where device and session stand together: `data-state` of the body. */
function state() {
    if (session.user && session.isPresumed) return 'offline';
    if (session.user && session.registration === 'registering') return 'registering';
    if (session.user && session.registration === 'registered') return 'registered';
    if (['starting', 'asking', 'subscribing'].includes(device.state)) return device.state;
    return session.user ? 'loggedin' : device.state;
}

function show() {
    document.body.dataset.state = state();
    document.body.dataset.device = device.state;
    for (const part of [loginForm, writer, settings, banner]) part.show();
}

/** `inbox` or `sent`. */
function view(name) {
    document.body.dataset.view = name;
    $('sentCard').hidden = name !== 'sent' || !session.user;
    $('showInbox').setAttribute('aria-pressed', name === 'inbox');
    $('showSent').setAttribute('aria-pressed', name === 'sent');
    if (name === 'sent') listSent();
}

const showInbox = () => view('inbox');

function listSent() {
    if (!sentList) tellOfSent('loading', true);
    sentList ??= load('sent-list').then(([{ SentList }]) => new SentList(session));
    sentList.then((list) => list.load(), () => {
        sentList = undefined;
        tellOfSent('failure.unreachable', false);
    });
}

/** In the place of the list. */
function tellOfSent(key, isBusy) {
    $('sentEmpty').textContent = t(key);
    $('sentCard').ariaBusy = isBusy;
}

/** What the page must know from the server: who is logged in, and what the form offers. */
async function ask() {
    const [config] = await Promise.all([api.config(), session.look()]);
    writer.configure(config);
}

/** The server has answered, or not; it is asked until it has. */
function told(failure) {
    const had = document.activeElement === $('retry');
    $('retry').hidden = !failure;
    say('connection', failure ? `${failureWords(failure)} ${t('retry.byItself')}` : '', 'wait');
    if (had && !failure) $('connection').focus();
    if (failure) return show();
    // The device may have failed for the same reason.
    if (device.reason === 'config') device.look();
    show();
    writer.resume();
}

function deviceChanged() {
    if (device.state === 'token') session.register(device.subscription);
    else session.unregistered();
    show();
}

/** What is shown of one user is not for the next one. */
function forget() {
    for (const part of [writer, settings]) part.forget();
    sentList?.then((list) => list.forget(), () => {});
    announce('');
}

function sessionChanged() {
    const { user, isPresumed } = session;
    // The operator's page has sent the person here to log in.
    if (user && !isPresumed && new URLSearchParams(location.search).get('next') === 'admin') location.replace('admin');
    if (user && device.state === 'token') session.register(device.subscription);
    const isOther = shown?.user !== user;
    if (isOther) forget();
    if (shown?.user && !user) loginForm.ended(session.ending);
    if (user === null && session.ending === 'here') writer.empty();
    if (isOther) {
        view('inbox');
        writer.open(user);
    }
    if (isOther || shown.isPresumed !== isPresumed) received.load();
    shown = { user, isPresumed };
    show();
}

device.addEventListener('change', deviceChanged);
session.addEventListener('change', sessionChanged);
// What the push service still holds for the one before must not come to this one.
session.addEventListener('takeover', () => device.drop());
hear('subscription', () => device.look());
document.addEventListener('inbox', showInbox);
$('showInbox').addEventListener('click', showInbox);
$('showSent').addEventListener('click', () => view('sent'));
for (const select of document.querySelectorAll('.languages select')) {
    for (const [value, name] of Object.entries(languages)) {
        select.append(element('option', { value, lang: value, selected: value === current() }, name));
    }
    select.addEventListener('change', () => choose(select.value));
}

// The person may allow or block notifications in the browser's own settings at any time.
navigator.permissions?.query({ name: 'notifications' })
    .then((permission) => permission.addEventListener('change', () => device.look()), () => {});

const server = new Retry(ask, told);
$('retry').addEventListener('click', () => server.now());

show();
server.start();
device.look();
