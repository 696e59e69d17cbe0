// SPDX-License-Identifier: Apache-2.0
// Repeats what failed because the server was away, until it succeeds: after the time that the server names (`Retry-After`,
// at most an hour), else after 2, 4, 8 … 60 seconds, at once when the browser is online again, or when the person says so.

const first = 2; // seconds
const longest = 60; // seconds
const obedience = 3600; // seconds
const spread = 0.25; // of the wait: pages that failed together do not come back together

export class Retry {
    #work;
    #tell;
    #timer;
    #tries = 0;
    #turn = 0;
    #isAtWork = false;
    #isWaiting = false;

    /** `work` throws `Failure`; `tell` is called with it after each try, and with null after the one that succeeded. */
    constructor(work, tell) {
        this.#work = work;
        this.#tell = tell;
        addEventListener('online', () => { if (this.#isWaiting) this.now(); });
    }

    get isWaiting() {
        return this.#isWaiting;
    }

    /** False after `stop`, even if the work has not ended yet. */
    get isAtWork() {
        return this.#isAtWork;
    }

    /** Begins from the beginning; what an earlier beginning is still waiting for is forgotten. */
    start() {
        this.stop();
        return this.now();
    }

    stop() {
        this.#turn += 1;
        this.#tries = 0;
        this.#rest();
        this.#isAtWork = false;
    }

    /** Does not wait any longer. */
    async now() {
        if (this.#isAtWork) return;
        this.#rest();
        this.#isAtWork = true;
        const turn = this.#turn;
        let failed = null;
        try {
            await this.#work();
        } catch (failure) {
            failed = failure;
        }
        if (turn !== this.#turn) return;
        this.#isAtWork = false;
        if (failed) this.#wait(Math.min(failed.retryAfter ?? Math.min(first * 2 ** this.#tries, longest), obedience));
        this.#tries = failed ? this.#tries + 1 : 0;
        this.#tell(failed);
    }

    #wait(seconds) {
        this.#isWaiting = true;
        this.#timer = setTimeout(() => this.now(), seconds * (1 + spread * Math.random()) * 1000);
    }

    #rest() {
        clearTimeout(this.#timer);
        this.#isWaiting = false;
    }
}
