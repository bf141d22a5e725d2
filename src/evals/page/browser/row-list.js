/** Rows of one height below a fixed head. Only those in sight are in the document, so that thousands of them cost no more than forty. */
import { h, list, styled } from './dom.ts';
/** One line a row, or two where the window is narrow. */
const ROW_HEIGHTS = { wide: 34, narrow: 46 };
const NARROW = '(max-width: 760px)';
/** Rows above and below those in sight. */
const AROUND = 10;
export function rowList(head, makeRow) {
    let [count, active] = [0, 0];
    const space = h('div', { class: 'rows', role: 'rowgroup' });
    const scroller = h('div', { class: 'scroller', tabindex: -1, scroll: draw }, head, space);
    function draw() {
        const height = rowHeight();
        const first = Math.max(0, Math.floor(scroller.scrollTop / height) - AROUND);
        const last = Math.min(count, first + Math.ceil((scroller.clientHeight || 800) / height) + 2 * AROUND);
        const isFocused = hasFocus();
        styled(space, { height: `${String(count * height)}px`, '--row-height': `${String(height)}px` });
        const indexes = Array.from({ length: Math.max(0, last - first) }, (_, at) => first + at);
        space.replaceChildren(list(indexes, (index) => placed(makeRow(index), index, height)));
        if (count === 0)
            space.append(h('p', { class: 'empty faint' }, 'No case is like that.'));
        markActive();
        if (isFocused)
            focusActive();
    }
    function placed(row, index, height) {
        row.dataset['index'] = String(index);
        row.setAttribute('aria-rowindex', String(index + 2));
        row.addEventListener('focus', () => {
            active = index;
            markActive();
        });
        return styled(row, { top: `${String(index * height)}px` });
    }
    function markActive() {
        for (const row of space.querySelectorAll('.row')) {
            const isActive = row.dataset['index'] === String(active);
            row.classList.toggle('active', isActive);
            row.tabIndex = isActive ? 0 : -1;
        }
    }
    function focusActive() {
        space.querySelector(`[data-index="${String(active)}"]`)?.focus({ preventScroll: true });
    }
    function hasFocus() {
        return space.contains(document.activeElement);
    }
    function activate(index) {
        active = Math.max(0, Math.min(count - 1, index));
        const height = rowHeight();
        const [top, room] = [active * height, scroller.clientHeight - head.offsetHeight];
        if (top < scroller.scrollTop)
            scroller.scrollTop = top;
        else if (top + height > scroller.scrollTop + room)
            scroller.scrollTop = top + height - room;
        draw();
        focusActive();
    }
    return {
        element: scroller,
        reset(next) {
            [count, active] = [next, 0];
            scroller.scrollTop = 0;
            draw();
        },
        draw,
        active: () => active,
        activate,
        hasFocus,
    };
}
function rowHeight() {
    return matchMedia(NARROW).matches ? ROW_HEIGHTS.narrow : ROW_HEIGHTS.wide;
}
