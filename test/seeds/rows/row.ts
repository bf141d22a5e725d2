/** One statement of a source document and what a trial of it gave. The conformance page lists every row. */
export interface SeedRow {
  readonly id: string;
  /** What the document says. */
  readonly says: string;
  readonly result: 'works' | 'deviates';
  /** The title of a test that shows it. */
  readonly test?: string;
  /** For a deviation: the reason. */
  readonly why?: string;
  /** For a deviation: the setting that restores the document's behaviour. */
  readonly setting?: string;
}

/** A document with its page and its rows. */
export interface SeedDocument {
  readonly title: string;
  /** The page of the vocabulary, below `docs/`. */
  readonly page: string;
  readonly rows: readonly SeedRow[];
}
