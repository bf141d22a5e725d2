/** One statement of a source document, and whether it holds. `docs/conformance.md` is made of these. */
export interface SeedRow {
  readonly id: string;
  /** What the document says, in our words. */
  readonly says: string;
  readonly result: 'works' | 'deviates';
  /** `file: title` of the test that shows it. */
  readonly test?: string;
  /** Why we differ. */
  readonly why?: string;
  /** What restores the behaviour of the document. */
  readonly setting?: string;
}

/** Rows of one document, numbered in order. `tests` gives each file a short name. */
export function seedRows<Name extends string>(
  prefix: string,
  tests: Readonly<Record<Name, string>>,
  rows: readonly (readonly [says: string, file: Name, title: string, deviation?: Pick<SeedRow, 'why' | 'setting'>])[],
): readonly SeedRow[] {
  return rows.map(([says, file, title, deviation], place) => ({
    id: `${prefix}-${String(place + 1)}`,
    says,
    result: deviation === undefined ? 'works' : 'deviates',
    test: `${tests[file]}: ${title}`,
    ...deviation,
  }));
}

/** A document with the page of its vocabulary, from docs/, and its rows. */
export interface SeedDocument {
  readonly title: string;
  readonly page: string;
  /** The files that replay its worked examples. */
  readonly tests: readonly string[];
  readonly rows: readonly SeedRow[];
}
