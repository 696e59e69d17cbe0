// SPDX-License-Identifier: Apache-2.0
// What a person has looked at: it was in view for a while, in a window that has the focus.

const patience = 1500; // milliseconds
const composer = 88; // pixels at the lower edge, which it covers
const steps = Array.from({ length: 21 }, (_, place) => place / 20);

export class Seen {
    #tell;
    #watched = [];
    #inView = new Map(); // elements; each with the look that it is a part of
    #observer = new IntersectionObserver((changes) => this.#change(changes), { rootMargin: `0px 0px -${composer}px`, threshold: steps });

    /** `tell(elements)`: these were looked at. */
    constructor(tell) {
        this.#tell = tell;
        const again = () => this.#look([...this.#inView.keys()]);
        for (const event of ['focus', 'blur']) addEventListener(event, again);
        document.addEventListener('visibilitychange', again);
    }

    /** Watches these elements, and no others. */
    watch(elements) {
        for (const one of this.#watched.filter((former) => !elements.includes(former))) {
            this.#observer.unobserve(one);
            this.#inView.delete(one);
        }
        // One that is watched already is not told again.
        for (const one of elements) this.#observer.observe(one);
        this.#watched = elements;
    }

    /** In view is what is seen by half, or fills half of the window. */
    #change(changes) {
        const isSeen = ({ intersectionRatio, intersectionRect, rootBounds }) => (
            intersectionRatio >= .5 || (intersectionRatio > 0 && intersectionRect.height >= rootBounds.height / 2));
        for (const one of changes.filter((change) => !isSeen(change))) this.#inView.delete(one.target);
        this.#look(changes.filter(isSeen).map(({ target }) => target).filter((one) => this.#watched.includes(one) && !this.#inView.has(one)));
    }

    /** A look begins, and counts for those that stay in view without another one. */
    #look(elements) {
        const own = {};
        for (const one of elements) this.#inView.set(one, own);
        if (elements.length === 0 || document.hidden || !document.hasFocus()) return;
        setTimeout(() => {
            const seen = elements.filter((one) => this.#inView.get(one) === own);
            if (seen.length > 0) this.#tell(seen);
        }, patience);
    }
}
