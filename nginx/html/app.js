// SPDX-License-Identifier: Apache-2.0
// Introduces the parts of the page to each other: what the device or the session becomes is shown by all, and a user
// with a device token is registered.

import * as api from './js/api.js';
import { hear } from './js/channel.js';
import { Device } from './js/device.js';
import { $, say } from './js/dom.js';
import { LoginForm } from './js/login-form.js';
import { Received } from './js/received.js';
import { Retry } from './js/retry.js';
import { SendForm } from './js/send-form.js';
import { Session } from './js/session.js';
import { deviceWords } from './js/words.js';

const device = new Device();
const session = new Session();
const loginForm = new LoginForm(session, device);
const sendForm = new SendForm(session, device);
const received = new Received(session);

let user; // whose things are shown

/** One word for where device and session stand together: `data-state` of the body. */
function state() {
    if (session.user && session.registration === 'registering') return 'registering';
    if (session.user && session.registration === 'registered') return 'registered';
    if (['starting', 'asking', 'subscribing'].includes(device.state)) return device.state;
    return session.user ? 'loggedin' : device.state;
}

function show() {
    document.body.dataset.state = state();
    document.body.dataset.device = device.state;
    const host = device.subscription ? `: ${new URL(device.subscription.endpoint).host}` : '';
    say('device', (deviceWords[device.reason] ?? '') + host);
    $('enable').hidden = !['idle', 'silent'].includes(device.state);
    $('enable').textContent = device.state === 'silent' ? 'Try again' : 'Enable notifications';
    $('without').hidden = device.optional || session.user || !['idle', 'asking'].includes(device.state);
    loginForm.show();
    sendForm.show();
}

/** What the page must know from the server: who is logged in, and what the form offers. */
async function ask() {
    const [config] = await Promise.all([api.config(), session.look()]);
    sendForm.configure(config);
}

/** The server has answered, or not; it is asked until it has. */
function told(failure) {
    loginForm.tellServer(failure);
    // The device may have failed for the same reason.
    if (!failure && device.reason === 'config') device.look();
    show();
}

function deviceChanged() {
    if (device.state === 'token') session.register(device.subscription);
    else session.unregistered();
    show();
}

function sessionChanged() {
    if (session.user && device.state === 'token') session.register(device.subscription);
    if (user && !session.user) loginForm.ended(session.ending);
    if (user !== session.user) received.load();
    user = session.user;
    show();
}

device.addEventListener('change', deviceChanged);
session.addEventListener('change', sessionChanged);
// What the push service still holds for the one before must not come to this one.
session.addEventListener('takeover', () => device.drop());
hear('subscription', () => device.look());
$('enable').addEventListener('click', () => device.enable());
$('without').addEventListener('click', () => device.goWithout());

// The person may allow or block notifications in the browser's own settings at any time.
navigator.permissions?.query({ name: 'notifications' })
    .then((permission) => permission.addEventListener('change', () => device.look()), () => {});

const server = new Retry(ask, told);
$('retry').addEventListener('click', () => server.now());

show();
server.start();
device.look();
