/** The text of src/evals/page/page-text.ts, generated from console. */
export function pageText(): Promise<string>;
