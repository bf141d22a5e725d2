/** Making elements. Text goes in as text, never as markup. */
import { printable } from '../../../core/text/text.ts';
export function h(tag, attributes = {}, ...children) {
    return filled(document.createElement(tag), attributes, children);
}
export function svg(tag, attributes = {}, ...children) {
    return filled(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}
function filled(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
        if (value === undefined || value === false)
            continue;
        if (typeof value === 'function')
            element.addEventListener(name, value);
        else
            element.setAttribute(name, value === true ? '' : String(value));
    }
    for (const child of children)
        if (child !== undefined)
            element.append(child);
    return element;
}
/** The policy of the page forbids style attributes; properties set by the script are allowed. */
export function styled(element, styles) {
    for (const [name, value] of Object.entries(styles))
        element.style.setProperty(name, value);
    return element;
}
export function list(items, make) {
    const fragment = document.createDocumentFragment();
    for (const [place, item] of items.entries())
        fragment.append(make(item, place));
    return fragment;
}
/** A stranger's text of several lines: what would hide or change the direction of reading is written out. */
export function visible(text) {
    return text
        .split('\n')
        .map((line) => line.split('\t').map(printable).join('\t'))
        .join('\n');
}
/** The same on one line. */
export function line(text) {
    return printable(text);
}
