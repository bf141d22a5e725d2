import { isHigh } from './code-point.ts';
import { printable } from './text.ts';
/** A word that cannot be taken for anything but itself: no space, no quote, no sign that our own sentences use. */
const PLAIN_WORD = /^[A-Za-z0-9_@./+*=~-](?:[A-Za-z0-9_@./+*=~:-]*[A-Za-z0-9_@./+*=~-])?$/;
/** A stranger's text inside a sentence of ours: bare where it is a plain word, else quoted so that it cannot close the quotes. */
export function shownText(text, limit = 80) {
    const start = startOf(text, limit);
    if (start === text && PLAIN_WORD.test(text))
        return text;
    const quoted = printable(start.replaceAll(/["\\]/g, '\\$&'));
    return `"${quoted}${start === text ? '' : '…'}"`;
}
/** The first characters; never half of one. */
function startOf(text, limit) {
    if (text.length <= limit)
        return text;
    const last = text.charCodeAt(limit - 1);
    return text.slice(0, isHigh(last) ? limit - 1 : limit);
}
export function durationText(ms) {
    if (ms < 1000)
        return `${String(Math.round(ms))} ms`;
    if (ms < 60000)
        return `${(ms / 1000).toFixed(1)} s`;
    const seconds = Math.round(ms / 1000);
    return `${String(Math.floor(seconds / 60))} min ${String(seconds % 60)} s`;
}
/** `1 file`, `2 files`. */
export function countText(count, one, many = `${one}s`) {
    return `${String(count)} ${count === 1 ? one : many}`;
}
