// SPDX-License-Identifier: Apache-2.0
// The part of the HTTP API (docs/reference/http-api.md) that only administrators reach: one function per route. What changes
// something takes the administrator's own password.

import { call } from '../api.js';

const user = (name) => `admin/users/${encodeURIComponent(name)}`;

export const status = () => call('GET', 'admin/status');
/** What the last look at the service has found. A call begins another, when that one is a minute old. */
export const findings = () => call('GET', 'admin/findings');
/** So many messages behind the one of the id `after`, of or to `user`, sent before `before`. */
export const messages = (query) => call('GET', 'admin/messages', { query });
export const message = (id) => call('GET', `admin/messages/${encodeURIComponent(id)}`);
/** So many that wait for their time, of or to `user`, the soonest first. */
export const scheduled = (query) => call('GET', 'admin/messages/scheduled', { query });
export const cancelMessage = (id, Password) =>
    call('DELETE', `admin/messages/scheduled/${encodeURIComponent(id)}`, { json: { Password } });
/** So many users behind `after`, whose names begin with `name`. */
export const users = (query) => call('GET', 'admin/users', { query });
export const find = (name) => call('GET', user(name));
export const add = (UserName, Password, Roles, AdministratorPassword) =>
    call('POST', 'admin/users', { json: { UserName, Password, Roles, AdministratorPassword } });
export const enable = (name, Password) => call('POST', `${user(name)}/enable`, { json: { Password } });
export const disable = (name, Password) => call('POST', `${user(name)}/disable`, { json: { Password } });
export const remove = (name, Password) => call('DELETE', user(name), { json: { Password } });
export const removeDevice = (name, id, Password) =>
    call('DELETE', `${user(name)}/devices/${encodeURIComponent(id)}`, { json: { Password } });
export const endSessions = (name, Password) => call('DELETE', `${user(name)}/sessions`, { json: { Password } });
export const endSession = (name, id, Password) =>
    call('DELETE', `${user(name)}/sessions/${encodeURIComponent(id)}`, { json: { Password } });
