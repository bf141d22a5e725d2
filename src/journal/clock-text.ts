/** Times as a line of a journal has them. The engine's own way to write them took as long as all other text of a line together. */

/** Moments as ISO text: many events come in the same millisecond. */
export class ClockText {
  #at = Number.NaN;
  #text = '';

  text(moment: Date): string {
    const at = moment.getTime();
    if (at !== this.#at) {
      this.#at = at;
      this.#text = moment.toISOString();
    }
    return this.#text;
  }
}

/** A whole number of thousandths as JSON has the number: 1230 is 1.23, 2000 is 2. */
export function thousandths(count: number): string {
  const rest = count % 1000;
  const whole = String((count - rest) / 1000);
  if (rest === 0) return whole;
  const digits = rest % 100 === 0 ? 1 : rest % 10 === 0 ? 2 : 3;
  return `${whole}.${String(1000 + rest).slice(1, 1 + digits)}`;
}
