// SPDX-License-Identifier: Apache-2.0
// Every wait ends: what a browser's promise does not promise by itself.

/** Nothing came in time. The promise that was waited for may still settle later. */
export class Late extends Error {
    name = 'Late';
}

/** What `promise` gives, or throws; throws `Late` when it has not settled after `seconds`. */
export function within(seconds, promise) {
    let timer;
    const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Late(`nothing within ${seconds} s`)), seconds * 1000);
    });
    return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
