// SPDX-License-Identifier: Apache-2.0
// The API's routes for those who send, which no reader's page needs: as api.js, but loaded on demand.

import { call } from './api.js';

const below = (path, id) => `notifications/${path}${encodeURIComponent(id)}`;

/** Sends a message object (docs/build/send.md) to a user's devices; once, however often it is called with the same key. */
export const send = (message, key) => call('POST', 'notifications', { json: message, key });

export const outcomes = (notification) => call('GET', below('outcomes/', notification));
export const timeline = (message) => call('GET', `${below('', message)}/timeline`);

/** What waits for its time: `{MessageId, To, Title, Body, SendAt}`, and secure ones have `Secure` and no text. */
export const scheduled = () => call('GET', 'notifications/scheduled');
export const cancel = (message) => call('DELETE', below('scheduled/', message));
