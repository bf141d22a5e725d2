import { DIAGNOSTIC_RULES } from './diagnostic-codes.ts';
/** Turns a finding into a diagnostic of the given mode. */
export function diagnose(finding, mode) {
    const rule = DIAGNOSTIC_RULES[finding.code];
    return {
        code: finding.code,
        severity: rule[mode],
        path: finding.path,
        line: finding.line ?? 1,
        column: finding.column ?? 1,
        message: finding.message,
        hint: finding.hint ?? rule.hint,
        ...(finding.edit === undefined ? {} : { edit: finding.edit }),
    };
}
/** Orders diagnostics for people: by file, then position, then code. */
export function compareDiagnostics(a, b) {
    return compareText(a.path, b.path) || a.line - b.line || a.column - b.column || compareText(a.code, b.code);
}
/** Diagnostics in that order. Those of one file mostly come together and in order: then the files are sorted, which are fewer. */
export function sortDiagnostics(all) {
    const starts = [];
    let before;
    for (let at = 0; at < all.length; at += 1) {
        const next = all[at];
        if (next === undefined)
            continue;
        if (before?.path !== next.path)
            starts.push(at);
        else if (compareDiagnostics(before, next) > 0)
            return all.toSorted(compareDiagnostics);
        before = next;
    }
    const pathAt = (start) => all[start]?.path ?? '';
    starts.sort((a, b) => compareText(pathAt(a), pathAt(b)));
    const sorted = [];
    let path;
    for (const start of starts) {
        // Of one file at two places.
        if (pathAt(start) === path)
            return all.toSorted(compareDiagnostics);
        path = pathAt(start);
        for (let at = start; at < all.length; at += 1) {
            const diagnostic = all[at];
            if (diagnostic?.path !== path)
                break;
            sorted.push(diagnostic);
        }
    }
    return sorted;
}
/** Compares by UTF-16 units: the same on every machine and in every locale. */
export function compareText(a, b) {
    return a < b ? -1 : a > b ? 1 : 0;
}
