/**
 * 64 bits of a text in hex, to recognize the text again. Not a cryptographic hash: a hook that starts for each prompt would spend more time
 * on loading Node's crypto module than on the whole answer.
 */
export function shortHash(text: string): string {
  let low = 0x811c9dc5;
  let high = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ unit ^ (low >>> 13), 0x5bd1e995);
  }
  return [mix(low), mix(high ^ low)].map((half) => half.toString(16).padStart(8, '0')).join('');
}

/** Spreads a difference in one bit over all. */
function mix(half: number): number {
  const first = Math.imul(half ^ (half >>> 16), 0x85ebca6b);
  const second = Math.imul(first ^ (first >>> 13), 0xc2b2ae35);
  return (second ^ (second >>> 16)) >>> 0;
}
