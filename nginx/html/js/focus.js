// SPDX-License-Identifier: Apache-2.0
// Where the focus goes when what had it is gone.

/**
 * Leads there who was left without a place by what was done, or who is still in one of `from`. Who has gone on meanwhile, and perhaps
 * types elsewhere, stays there.
 */
export function lead(place, ...from) {
    const had = document.activeElement;
    if (had === document.body || from.some((one) => one.contains(had))) place?.focus();
}
