/** The text of src/evals/page/page-text.ts, generated from src/console. */
export function pageText(): Promise<string>;
