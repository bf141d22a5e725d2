import { compareText } from './diagnostic.ts';
/**
 * The candidates most like a word that met nothing, best first; none where nothing is like it. Errors teach with it: unknown
 * skills, flags, commands and configuration keys name what was probably meant.
 */
export function nearest(wanted, candidates, count = 3) {
    // Names are short: what is far longer is like none of them.
    const word = wanted.slice(0, 128).toLowerCase();
    if (word === '')
        return [];
    const limit = Math.max(1, Math.floor(word.length / 3));
    const near = [];
    for (const name of candidates) {
        const distance = likeness(word, name.toLowerCase(), limit);
        if (distance !== undefined)
            near.push({ name, distance });
    }
    near.sort((a, b) => a.distance - b.distance || a.name.length - b.name.length || compareText(a.name, b.name));
    return near.slice(0, count).map(({ name }) => name);
}
/** Edits between two names; a name that holds the other one, or all of its words, is as near as the limit allows. */
function likeness(wanted, name, limit) {
    const edits = editDistance(wanted, name, limit);
    if (edits <= limit)
        return edits;
    if (wanted.length >= 3 && name.includes(wanted))
        return limit + 1;
    if (name.length >= 3 && wanted.includes(name))
        return limit + 2;
    const words = new Set(name.split(/[^\p{L}\p{N}]+/u));
    const asked = wanted.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
    return asked.length > 1 && asked.every((word) => words.has(word)) ? limit + 3 : undefined;
}
/** Edits (a swap of neighbours is one) up to `limit`; more than that gives `limit + 1`. */
export function editDistance(a, b, limit) {
    if (Math.abs(a.length - b.length) > limit)
        return limit + 1;
    let before = [];
    let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
    for (let row = 1; row <= a.length; row += 1) {
        const current = [row];
        let best = row;
        for (let column = 1; column <= b.length; column += 1) {
            const same = a[row - 1] === b[column - 1];
            let cost = Math.min((previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, (previous[column - 1] ?? 0) + (same ? 0 : 1));
            const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
            if (swapped)
                cost = Math.min(cost, (before[column - 2] ?? 0) + 1);
            current.push(cost);
            if (cost < best)
                best = cost;
        }
        if (best > limit)
            return limit + 1;
        before = previous;
        previous = current;
    }
    return previous[b.length] ?? limit + 1;
}
