// SPDX-License-Identifier: Apache-2.0
// The HTTP API (docs/reference/http-api.md) as the page and its service worker call it: one function per route.
//
// The session's cookie, which no script can read, says who calls. So nothing here holds a password, and a service
// worker that was restarted in between is still logged in. No secret is in a URL.

const base = new URL('../api/', import.meta.url);
const seconds = 20;

/**
 * A call without the answer that was asked for. `status` is 0 when no answer came, or none that could be read. `replayed`:
 * it is the answer that the first call with this key had, and will not change.
 */
export class Failure extends Error {
    name = 'Failure';

    constructor(status, { detail = '', field = null, retryAfter = null, late = false, replayed = false } = {}) {
        super(`status ${status}`);
        Object.assign(this, { status, detail, field, retryAfter, late, replayed });
    }
}

const fresh = 60; // seconds that an answer to `config` is good for: the key may be another one after that
let known, knownAt;

let caller; // a user's name

/**
 * From now on calls are made as that user (null: as the one who is logged in). When another one has logged in in another window, the cookie
 * is theirs: then the server answers 401, and neither tells nor does anything.
 */
export const actAs = (user) => { caller = user; };

/** What the page must know before anybody has logged in. Asked for again when the answer is old, and after a failure. */
export function config() {
    if (known && performance.now() - knownAt < fresh * 1000) return known;
    knownAt = performance.now();
    known = call('GET', 'config').catch((failure) => {
        known = undefined;
        throw failure;
    });
    return known;
}

export const session = () => call('GET', 'session', { user: null });
export const logIn = (name, password) => call('POST', 'session', { json: { UserName: name, Password: password } });
export const logOut = () => call('DELETE', 'session');
/** Ends all sessions of the user, this one too. */
export const logOutEverywhere = () => call('DELETE', 'session', { query: { everywhere: true } });

/** The user's sessions: `{Id, CreatedAt, ExpiresAt, Current}`, and `Current` is this browser's. */
export const sessions = () => call('GET', 'sessions');
export const endSession = (id) => call('DELETE', `sessions/${encodeURIComponent(id)}`);
/** The user's app tokens: `{Id, Label, Scopes, To, CreatedAt, ExpiresAt, LastUsedAt}`, of which some may lack. */
export const tokens = () => call('GET', 'tokens');
export const endToken = (id) => call('DELETE', `tokens/${encodeURIComponent(id)}`);
/** All other sessions end, and app tokens unless they are kept: `{TokensEnded, TokensKept}`. */
export const changePassword = (present, wanted, keeps) =>
    call('PUT', 'password', { json: { Password: present, NewPassword: wanted, KeepTokens: keeps } });

/** The caller's devices: `{RegistrationId, Platform, Handle, Tags}`, of the handle its end. */
export const registrations = () => call('GET', 'register');

/** A registration id that is the caller's. The handle is not told yet: in a query it would be in logs. */
export const newRegistrationId = () => call('POST', 'register');

export function putRegistration(id, subscription) {
    const { endpoint, keys } = subscription.toJSON();
    return call('PUT', `register/${encodeURIComponent(id)}`, {
        json: { Platform: 'browser', Handle: endpoint, Keys: { p256dh: keys?.p256dh, auth: keys?.auth } },
    });
}

export const deleteRegistration = (id) => call('DELETE', `register/${encodeURIComponent(id)}`);

export const deleteSecret = (id) => call('DELETE', `notifications/${encodeURIComponent(id)}`);
export const deleteMessage = (id) => call('DELETE', `inbox/${encodeURIComponent(id)}`);
export const markAsRead = (id) => call('POST', `inbox/${encodeURIComponent(id)}/read`);
export const noteOpening = (id) => call('POST', `notifications/${encodeURIComponent(id)}/opened`);
export const secret = (id) => call('GET', `notifications/${encodeURIComponent(id)}`);
/**
 * The newest messages of the caller, or those behind the one of the id `after`, read ones too: `{tag, Unread, Messages}`. Of `{Id, Secure,
 * Read, From, SentAt}` old ones lack the last two; plain ones have `Body`, and perhaps `Title` and `Link`. Null when nothing has changed
 * since `known`, a tag of before.
 */
export async function inbox(limit, { known, after }) {
    const answer = await fetched('GET', 'inbox', { query: { limit, ...(after && { after }) }, known });
    return answer.status === 304 ? null : { ...answer.body, tag: answer.headers.get('ETag') };
}

export const call = async (...request) => (await fetched(...request)).body;

async function fetched(method, path, { query, json, key, known, user = caller } = {}) {
    const url = new URL(path, base);
    if (query) url.search = new URLSearchParams(query);
    const request = { method, headers: {}, credentials: 'same-origin', cache: 'no-store', redirect: 'error' };
    if (key !== undefined) request.headers['Idempotency-Key'] = `"${key}"`;
    if (user) request.headers['App-Backend-User'] = encodeURIComponent(user);
    if (known) request.headers['If-None-Match'] = known;
    if (json !== undefined) {
        request.headers['Content-Type'] = 'application/json';
        request.body = JSON.stringify(json);
    }
    let answer, text;
    try {
        answer = await fetch(url, { ...request, signal: AbortSignal.timeout(seconds * 1000) });
        text = await answer.text();
    } catch (error) {
        throw new Failure(0, { late: error?.name === 'TimeoutError' });
    }
    const { status, headers } = answer;
    if (!answer.ok && !(known && status === 304)) {
        const { detail, field } = parsed(text) ?? {};
        throw new Failure(status, {
            detail: typeof detail === 'string' ? detail.slice(0, 300) : '',
            field: typeof field === 'string' ? field : null,
            retryAfter: delay(headers.get('Retry-After')),
            replayed: headers.has('Idempotency-Replayed'),
        });
    }
    const body = text === '' ? null : parsed(text);
    if (body === undefined) throw new Failure(0);
    return { status, headers, body };
}

function parsed(text) {
    try {
        return JSON.parse(text);
    } catch {
        return undefined;
    }
}

/** `Retry-After` in seconds; it may be a number of them or a date (RFC 9110, 10.2.3). */
function delay(field) {
    if (field === null) return null;
    const after = /^\d{1,6}$/.test(field) ? Number(field) : Math.ceil((Date.parse(field) - Date.now()) / 1000);
    return Number.isFinite(after) ? Math.max(1, after) : null;
}
