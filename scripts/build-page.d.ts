/** The text of src/evals/page/page-text.ts, made from src/viewer/page. */
export function pageText(): Promise<string>;
