// SPDX-License-Identifier: Apache-2.0
// Where the focus goes when what had it is gone.

/**
 * Gives `place` the focus if it is still in one of `from`, or lost: then something around them has it. A person who has gone on, and
 * perhaps types elsewhere, keeps it.
 */
export function lead(place, ...from) {
    const had = document.activeElement;
    if (from.some((one) => one.contains(had) || had.contains(one))) place?.focus();
}
