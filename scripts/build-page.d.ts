/** The text of src/evals/page/page-text.ts, generated from src/evals/page/browser. */
export function pageText(): Promise<string>;
