// SPDX-License-Identifier: Apache-2.0
// The page's own files, kept by the service worker so that it opens without a network. With one, the files are always the
// server's: what is kept is used when no answer comes, or none from the site's own files (a gateway's 502 to 504).

const name = 'page';
const files = [
    './', 'app.js', 'style.css', 'controls.css', 'icon.svg', 'lock.svg', 'manifest.webmanifest',
    ...['account', 'api', 'attempts', 'banner', 'channel', 'composer', 'database', 'deadline', 'device', 'devices',
        'dom', 'draft', 'endable-list', 'entries', 'focus', 'i18n', 'inbox', 'language', 'links', 'login-form', 'memory', 'outcomes',
        'password-form', 'people', 'push', 'qr', 'received', 'received-item', 'registration', 'results', 'retry', 'scheduled',
        'seen', 'send-form', 'sender-api', 'sent', 'sent-list', 'session', 'session-list', 'settings', 'subscription', 'telephone',
        'texts/de', 'texts/de-more', 'texts/en', 'texts/en-more', 'texts/es', 'texts/es-more', 'timeline', 'token-list', 'when', 'words', 'writer',
    ].map((module) => `js/${module}.js`),
];

/** Keeps all files; those of an earlier version go. */
export async function keepFiles() {
    const cache = await caches.open(name);
    await Promise.all(files.map(async (file) => {
        const answer = await fetch(file, { cache: 'no-cache' });
        if (answer.ok) await cache.put(file, answer);
    }));
}

/** Whether a request is for one of the files, and not for the API. */
export function isFile({ method, url }, scope) {
    if (method !== 'GET' || !url.startsWith(scope)) return false;
    const path = url.slice(scope.length).replace(/[?#].*$/, '');
    return files.includes(path === '' || path === 'index.html' ? './' : path);
}

/** The server's file, else the one that was kept. */
export async function answerFile(request) {
    try {
        const answer = await fetch(request);
        // A line that breaks within a file is as bad as none.
        await answer.clone().arrayBuffer();
        if (answer.ok) await keep(request, answer.clone());
        if (answer.status < 502) return answer;
        return await kept(request) ?? answer;
    } catch (error) {
        const answer = await kept(request);
        if (answer) return answer;
        throw error;
    }
}

const kept = async ({ url }) => (await caches.open(name)).match(address(url), { ignoreVary: true });

async function keep(request, answer) {
    const cache = await caches.open(name);
    // A disk that is full is no reason not to show the page.
    await cache.put(address(request.url), answer).catch(() => {});
}

/** Under which a file is kept. */
const address = (url) => url.replace(/[?#].*$/, '').replace(/index\.html$/, '');
