/**
 * The character at a place; a half that stands alone is itself, and 0 stands behind the end. Not `codePointAt` of strings: that of Node 24
 * (V8 13.6), once compiled, looks behind the end of a text that is a piece of a longer one, and takes the other half from there. Texts that
 * were cut in the middle of a character must not pass for whole ones.
 */
export function codePointAt(text, at) {
    const first = text.charCodeAt(at);
    if (Number.isNaN(first))
        return 0;
    const second = isHigh(first) ? text.charCodeAt(at + 1) : 0;
    return isLow(second) ? (first - 0xd800) * 0x400 + (second - 0xdc00) + 65536 : first;
}
/** The first half of a character that takes two units. */
export function isHigh(unit) {
    return unit >= 0xd800 && unit <= 0xdbff;
}
export function isLow(unit) {
    return unit >= 0xdc00 && unit <= 0xdfff;
}
