/** What the requests of a storm are, by number. */

/** Every so many runs has an action that needs an approval and leaves a line in a file, is refused that action, or is cancelled. */
const APPROVED_EACH = 3;
const REFUSED_EACH = 9;
const CANCELLED_EACH = 7;
/** A refusal says this, and the model repeats it. */
export const NOTE = 'not on a Sunday';

/** Whether the run has an action that needs an approval. */
export function isAsked(number: number): boolean {
  return number % APPROVED_EACH === 0;
}

export function isRefused(number: number): boolean {
  return number % REFUSED_EACH === 0;
}

export function isCancelled(number: number): boolean {
  return number % CANCELLED_EACH === 3;
}
