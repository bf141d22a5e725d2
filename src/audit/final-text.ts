import { cleanText } from '../core/text.ts';

/** The answer as a file that can be shown on a screen; its exact characters are in the journal. */
export function finalText(answer: string): string {
  return cleanText(answer);
}
