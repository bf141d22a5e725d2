/** Which results the table shows, and in which order. Pure, so that it can be tested without a browser. */
import { tokensOf } from '../../report/report-text.ts';
export const COLUMNS = ['status', 'case', 'tags', 'arm', 'checks', 'tokens', 'time'];
export const EVERYTHING = { text: '', statuses: [], tag: '', column: '', isDescending: false };
export function rowsOf(results) {
    return results.map((result, place) => ({
        result,
        place,
        words: [
            result.case,
            result.name,
            result.input.slice(0, 500),
            result.reason.slice(0, 300),
            ...result.tags,
            ...result.loaded,
        ]
            .join('\n')
            .toLowerCase(),
    }));
}
/** Every word of the text must stand somewhere. */
export function selected(rows, { text, statuses, tag, column, isDescending }) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const found = rows.filter((row) => (statuses.length === 0 || statuses.includes(row.result.status)) &&
        (tag === '' || row.result.tags.includes(tag)) &&
        words.every((word) => row.words.includes(word)));
    if (column === '')
        return found;
    const sign = isDescending ? -1 : 1;
    return found.toSorted((a, b) => sign * compared(a.result, b.result, column) || a.place - b.place);
}
const ORDER = { failed: 0, error: 1, skipped: 2, passed: 3 };
function compared(a, b, column) {
    switch (column) {
        case 'status':
            return ORDER[a.status] - ORDER[b.status];
        case 'case':
            return text(a.case, b.case);
        case 'tags':
            return text(a.tags.join(), b.tags.join());
        case 'arm':
            return text(a.arm, b.arm) || a.attempt - b.attempt;
        case 'checks':
            return passedPart(a) - passedPart(b);
        case 'tokens':
            return tokensOf(a.cost) - tokensOf(b.cost);
        case 'time':
            return a.cost.wallMs - b.cost.wallMs;
    }
}
function text(a, b) {
    return a < b ? -1 : a > b ? 1 : 0;
}
function passedPart({ checks }) {
    return checks.length === 0 ? -1 : checks.filter(({ status }) => status === 'passed').length / checks.length;
}
