export function listenToKeys(targets) {
    document.addEventListener('keydown', (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey)
            return;
        if (isDone(event, targets))
            event.preventDefault();
    });
}
function isDone({ key, target }, targets) {
    if (target instanceof HTMLInputElement || target instanceof HTMLSelectElement)
        return whileTyping(key, targets);
    if (key === '/')
        return startFilter(targets);
    const { view, argument } = targets.here();
    if (view === 'case')
        return inCase(key, Number(argument), targets);
    return view === 'cases' && inTable(key, targets);
}
function startFilter({ cases, goTo }) {
    if (!cases.element.isConnected)
        goTo('#cases');
    cases.filter.focus();
    cases.filter.select();
    return true;
}
/** Escape empties the filter first, and leaves it then. */
function whileTyping(key, { cases }) {
    const { filter } = cases;
    if (document.activeElement !== filter)
        return false;
    if (key === 'Enter' || key === 'ArrowDown')
        cases.move(0);
    else if (key !== 'Escape')
        return false;
    else if (filter.value === '')
        filter.blur();
    else {
        filter.value = '';
        filter.dispatchEvent(new Event('input'));
    }
    return true;
}
function inCase(key, place, { neighbours, goTo }) {
    const { before, after } = neighbours(place);
    const next = key === 'j' ? after : key === 'k' ? before : undefined;
    if (next !== undefined)
        goTo(`#case:${String(next)}`);
    else if (key === 'Escape')
        goTo('#cases');
    else
        return false;
    return true;
}
const MOVES = new Map([
    ['j', 1],
    ['k', -1],
    ['ArrowDown', 1],
    ['ArrowUp', -1],
    ['PageDown', 10],
    ['PageUp', -10],
    ['Home', -Infinity],
    ['End', Infinity],
]);
/** These lead into the table from anywhere in the view; the others scroll the page there. */
const WAYS_IN = new Set(['j', 'k', 'ArrowDown']);
function inTable(key, { cases, goTo }) {
    const by = MOVES.get(key);
    if (by !== undefined && (cases.hasFocus() || WAYS_IN.has(key)))
        cases.move(by);
    else if (key === 'Enter' && cases.hasFocus())
        goTo(`#case:${String(cases.active() ?? 0)}`);
    else
        return false;
    return true;
}
