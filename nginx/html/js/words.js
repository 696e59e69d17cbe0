// SPDX-License-Identifier: Apache-2.0
// Everything that went right or wrong, as a sentence. What a status means depends on what was asked, so the caller hands
// in sentences for those that mean something of their own there.

/** A sentence for a failed call. `own` maps statuses to sentences that take precedence. */
export function failureWords(failure, own = {}) {
    const { status, detail, retryAfter, late } = failure;
    const again = retryAfter === null || retryAfter === undefined ? 'in a moment' : `in ${amount(retryAfter, 'second')}`;
    // No call failed, but something in the browser: its database, most likely.
    if (status === undefined) return 'Something went wrong in this browser. Reload the page and try again.';
    if (own[status]) return own[status];
    switch (status) {
        case 0:
            if (late) return 'The server did not answer in time. Try again in a moment.';
            return navigator.onLine === false
                ? 'There is no network. Try again when there is.'
                : 'The server cannot be reached. Check the connection and try again.';
        case 401: return 'Your session has ended. Log in again.';
        case 403: return 'You are not allowed to do that.';
        case 410: return 'The server has forgotten this device, and did so again. Try once more.';
        case 413: return 'That is longer than the server takes.';
        case 429: return `Too much at once. Try again ${again}.`;
        default:
            if (status >= 500) return `The server is in trouble (${status}). Try again ${again}.`;
            return `The server did not accept that (${status}). ${detail}`.trim();
    }
}

/** `1 device`, `2 devices`. */
export const amount = (count, thing) => `${count.toLocaleString('en')} ${thing}${count === 1 ? '' : 's'}`;

/** Platforms by the names of the switches; what else the hub calls them. */
export const platforms = { wns: 'WNS', gcm: 'GCM (FCM)', apns: 'APNS', browser: 'Browser' };
const aliases = { fcm: 'gcm', fcmv1: 'gcm', apple: 'apns', windows: 'wns' };
export const platformOf = (name) => {
    const own = String(name).toLowerCase();
    return aliases[own] ?? own;
};

/** What an outcome has in the place of a platform for devices of the older registration call, which are of any. */
export const templates = 'template';

/** States of a message after which nothing more happens to it. */
export const finalStates = ['Completed', 'Abandoned', 'NoTargetFound', 'Cancelled'];

/** Of a message whose push service does not accept what this site shows it. */
export const waitWords = 'waits: the push service does not accept the site’s credential at the moment';

/** The state of a message at one platform: a word or two, the tone (good, bad, wait, quiet), and a sentence. */
export function outcomeWords(state, counts = {}) {
    const known = Object.entries(counts).filter(([, count]) => Number.isSafeInteger(count) && count > 0);
    const sentence = known.map(([name, count]) => countWords(name, count)).join('; ');
    const all = (...names) => known.length > 0 && known.every(([name]) => names.includes(name));
    // The hub calls it abandoned, as it asked no push service; it has done all that it does.
    if (['Completed', 'Abandoned'].includes(state) && all('Skipped')) return { label: 'Recorded', tone: 'quiet', sentence };
    switch (state) {
        case 'Sending': return { label: 'Sending', tone: 'wait', sentence: '' };
        case 'Failed': return { label: 'Not sent', tone: 'bad', sentence: '' };
        case 'Enqueued': return { label: 'Queued', tone: 'wait', sentence: sentence || 'the hub has it' };
        case 'Processing': return { label: 'On its way', tone: 'wait', sentence };
        case 'NoTargetFound': return { label: 'No device', tone: 'quiet', sentence: 'no such device is registered' };
        case 'Abandoned': return { label: 'Given up', tone: 'bad', sentence: sentence || 'the hub could not deliver it' };
        case 'Cancelled': return { label: 'Cancelled', tone: 'quiet', sentence };
        case 'Completed':
            if (known.length && !known.some(([name]) => name === 'Success')) return { label: 'Not delivered', tone: 'bad', sentence };
            return { label: 'Sent', tone: 'good', sentence };
        default: return { label: String(state).slice(0, 40), tone: 'quiet', sentence };
    }
}

/** A hub's outcome names (Azure's `PnsError`) for so many devices. */
function countWords(name, count) {
    const devices = amount(count, 'device');
    switch (name) {
        case 'Success': return `taken by the push service for ${devices}`;
        case 'Skipped': return `${devices} recorded, not delivered: this hub has no connection to that service`;
        case 'ExpiredChannel': case 'BadChannel': return `${devices} gone, and forgotten now`;
        case 'WrongChannel': case 'WrongToken': return `${devices} not of a service that may be sent to`;
        case 'PnsUnreachable': return `push service not reached for ${devices}`;
        case 'PnsServerError': case 'PnsUnavailable': return `push service in trouble for ${devices}`;
        case 'Throttled': case 'ChannelThrottled': return `push service asks to slow down for ${devices}`;
        case 'InvalidCredentials': return `push service refused this server’s key for ${devices}`;
        case 'InvalidNotificationSize': return `too long for ${devices}`;
        case 'AbandonedNotificationMessages': return `tried for too long for ${devices}`;
        default: return `${String(name).slice(0, 60)}: ${devices}`;
    }
}

/** Why this browser has no device token, or which one. The names are the states of `Device`, and reasons within them. */
export const deviceWords = {
    starting: 'Looking at what this browser can do …',
    idle: 'Notifications are not enabled yet. Your browser will ask you for permission.',
    dismissed: 'The browser’s question was closed without an answer. Enable notifications to be asked again.',
    config: 'The server did not tell how this browser can be reached. Try again in a moment.',
    asking: 'Your browser is asking whether this page may show notifications …',
    subscribing: 'Asking the push service for a device token …',
    token: 'Device token ready',
    silent: 'No push service answered; you can still send. This browser receives nothing until one does.',
    blocked: 'Notifications are blocked for this page (in a private window they may always be). Allow them in the browser’s '
        + 'settings for this site, and this page takes note. You can still log in and send.',
    insecure: 'Notifications need a secure connection (https). You can still log in and send.',
    homescreen: 'On iPhone and iPad: tap Share, then “Add to Home Screen”, and open this page from there to receive '
        + 'notifications. You can still log in and send from here.',
    push: 'This browser cannot receive notifications from web pages. You can still log in and send.',
    key: 'This server has no key to reach browsers with, so nothing can be received here. You can still log in and send.',
    certificate: 'This browser does not trust the server’s certificate, and without that it receives nothing. '
        + 'You can still log in and send.',
    worker: 'This browser could not start the part of this page that receives notifications. You can still log in and send.',
};
