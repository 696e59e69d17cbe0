// SPDX-License-Identifier: Apache-2.0
// Platforms, and what became of a message at each, in words. Loaded with the parts that show it.

import { amount, has, t } from './i18n.js';

/** The server was away: the same call may succeed in a moment. */
export const isAway = ({ status, retryAfter }) => [0, 503, 504].includes(status) || (status === 409 && retryAfter !== null);

/** Platforms by the names of the switches; what else the hub calls them. */
export const platforms = ['browser', 'apns', 'gcm', 'wns'];
const aliases = { fcm: 'gcm', fcmv1: 'gcm', apple: 'apns', windows: 'wns' };
export const platformOf = (name) => {
    const own = String(name).toLowerCase();
    return aliases[own] ?? own;
};
export const platformWords = (name) => (has(`platform.${name}`) ? t(`platform.${name}`) : String(name).slice(0, 40));

/** What an outcome has in the place of a platform for devices of the older registration call, which are of any. */
export const templates = 'template';

/** What `sent.js` keeps of an outcome, as the server tells it. */
export const lineOf = ({ Platform, State: state, NotificationId: notification, Counts: counts = {} }) => (
    { platform: platformOf(Platform), state, notification, counts });

/** States of a message after which nothing more happens to it. */
export const finalStates = ['Completed', 'Abandoned', 'NoTargetFound', 'Cancelled', 'Skipped'];

const tones = {
    Sending: 'wait', Failed: 'bad', Enqueued: 'wait', Processing: 'wait', NoTargetFound: 'quiet', Abandoned: 'bad',
    Cancelled: 'quiet', Completed: 'good',
};

/** The state of a message at one platform: a word or two, the tone (good, bad, wait, quiet), and a sentence. */
export function outcomeWords(state, counts = {}) {
    const known = Object.entries(counts).filter(([, count]) => Number.isSafeInteger(count) && count > 0);
    const sentence = known.map(([name, count]) => countWords(name, count)).join('; ');
    // The hub calls it abandoned, as it asked no push service; it has done all that it does.
    const isSkipped = known.length > 0 && known.every(([name]) => name === 'Skipped');
    if (['Completed', 'Abandoned'].includes(state) && isSkipped) return { label: t('state.Recorded'), tone: 'quiet', sentence };
    if (state === 'Completed' && known.length && !known.some(([name]) => name === 'Success')) {
        return { label: t('state.Undelivered'), tone: 'bad', sentence };
    }
    const label = has(`state.${state}`) ? t(`state.${state}`) : String(state).slice(0, 40);
    const usual = has(`stateWords.${state}`) ? t(`stateWords.${state}`) : '';
    return { label, tone: tones[state] ?? 'quiet', sentence: sentence || usual };
}

const same = {
    BadChannel: 'ExpiredChannel', WrongToken: 'WrongChannel', PnsUnavailable: 'PnsServerError', ChannelThrottled: 'Throttled',
};

/** A hub's outcome names (Azure's `PnsError`) for so many devices. */
function countWords(name, count) {
    const devices = amount('devices', count);
    const key = `count.${same[name] ?? name}`;
    return has(key) ? t(key, { devices }) : `${String(name).slice(0, 60)}: ${devices}`;
}
