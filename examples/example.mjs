#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Registers a device, sends two messages to its user, reads them, and prints their delivery status. See README.md.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

function setting(name) {
    if (!process.env[name]) throw new Error(`Please set ${name}.`);
    return process.env[name];
}

async function call(method, path, authorization, body) {
    const answer = await fetch(setting('APP_BACKEND_URL') + path, {
        method,
        headers: { Authorization: authorization, 'Content-Type': 'application/json' },
        body: body && JSON.stringify(body),
        signal: AbortSignal.timeout(30_000),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(words(answer.status, text));
    return text ? JSON.parse(text) : null;
}

/** An answer of application/problem+json names the reason, and the field at fault. */
function words(status, text) {
    try {
        const { detail, field } = JSON.parse(text);
        return `${status}: ${detail}${field ? ` (${field})` : ''}`;
    } catch {
        return `${status}: the answer gives no reason`;
    }
}

async function text(message, token) {
    if (!message.Secure) return [message.Title, message.Body].filter(Boolean).join(', ');
    // Only the id travelled to the device. Fetching the text marks the message as read.
    return (await call('GET', `/api/notifications/${message.Id}`, token)).Payload;
}

async function run(user, password) {
    const logIn = 'Basic ' + Buffer.from(`${user}:${password}`).toString('base64');
    // An app keeps this token instead of the password.
    const made = await call('POST', '/api/tokens', logIn, { Scopes: ['register', 'send', 'read'], ExpiresInDays: 1 });
    const token = 'Bearer ' + made.Token;
    try {
        // An app makes this id once and keeps it. The handle comes from the device's push service.
        const device = { Platform: 'fcm', Handle: 'token-of-example-node', Tags: [] };
        await call('PUT', '/api/register/example-node', token, device);
        const sent = await call('POST', '/api/notifications', token, { To: user, Title: 'Lunch', Body: 'At noon' });
        await call('POST', '/api/notifications', token, { To: user, Body: 'The code is 4711', Secure: true });

        const inbox = await call('GET', '/api/inbox?limit=2', token);
        for (const message of inbox.Messages) console.log(`${message.From}: ${await text(message, token)}`);

        let outcomes;
        for (let tries = 0; tries < 30; tries++) {
            outcomes = (await call('GET', `/api/notifications/${sent.MessageId}/timeline`, token)).Outcomes;
            if (!outcomes.some(({ State }) => State === 'Enqueued' || State === 'Processing')) break;
            await pause(1000);
        }
        for (const { Platform, State, Counts } of outcomes) {
            const counts = Object.entries(Counts).map(([name, count]) => `, ${name} ${count}`);
            console.log(`${Platform}: ${State}${counts.join('')}`);
        }
    } finally {
        await call('DELETE', `/api/tokens/${made.Id}`, logIn);
    }
}

/** Throws for an event that this service has not signed just now. */
function verify(secret, id, timestamp, signatures, body) {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    const wanted = Buffer.from('v1,' + createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64'));
    const isRight = (one) => one.length === wanted.length && timingSafeEqual(one, wanted);
    if (!signatures.split(' ').map((one) => Buffer.from(one)).some(isRight)) throw new Error('the signature is wrong');
    if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300)) {
        throw new Error('the signature is right, and the time is more than five minutes off');
    }
}

try {
    if (process.argv[2] === 'verify') {
        verify(setting('APP_BACKEND_WEBHOOK_SECRET'), ...process.argv.slice(3, 6), readFileSync(0));
        console.log('the signature is right');
    } else {
        await run(setting('APP_BACKEND_USER'), setting('APP_BACKEND_PASSWORD'));
    }
} catch (error) {
    console.error(error.cause ? `${error.message}: ${error.cause.message}` : error.message);
    process.exitCode = 1;
}
