/** The text of src/viewer/page-text.ts, made from src/viewer/page. */
export function pageText(): Promise<string>;
