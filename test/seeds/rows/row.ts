/** One statement of a source document, and whether it holds. `docs/conformance.md` and the vocabulary pages are made of these. */
export interface SeedRow {
  readonly id: string;
  /** What the document says, in our words. */
  readonly says: string;
  /** `file: title` of the test that shows what happens here. */
  readonly test: string;
  /** Absent where the statement holds. */
  readonly deviation?: Deviation;
}

/** A statement that does not hold here by default. */
interface Deviation {
  /** The sentence of the document, as it is written there. */
  readonly sentence: string;
  /** What happens here instead. */
  readonly ours: string;
  readonly why: string;
  /** Settings that restore the behaviour of the document, each with the test that uses it; empty where nothing does. */
  readonly restoredBy: readonly Restoration[];
}

/** A flag, an option or a line of the configuration, and `file: title` of the test that uses it. */
interface Restoration {
  readonly setting: string;
  readonly test: string;
}

/** What we chose where the document is silent and the code of its system, or a reader, would expect something else. */
export interface Choice {
  readonly theirs: string;
  readonly ours: string;
  readonly why: string;
  /** `file: title` of the test that shows what happens here. */
  readonly test: string;
}

/** For every document: none of them knows of a project that comes from others. */
export const CHOSEN_BY_PROJECT: Choice = {
  theirs: "the files of the project are the user's own",
  ours: 'a `vocabulary` in a file of the project leaves your limits (length of bodies, of files and of the list of skills) and offers programs only if you do; from `~/.agent/config.json`, `--vocabulary`, `SKILLWRIGHT_VOCABULARY` or an option, all of it counts',
  why: 'a cloned project must not loosen what the user allows',
  test: 'test/runtime/vocabulary-setting.test.ts: cannot use a vocabulary, or a record of one, to loosen what it may not set itself',
};

/** A deviation whose tests are named by the short names of a document's files. */
type NamedDeviation<Name> = Omit<Deviation, 'restoredBy'> & {
  readonly restoredBy: readonly (readonly [setting: string, file: Name, title: string])[];
};

/** Rows of one document, numbered in order: append, so that numbers keep their meaning. `tests` gives each file a short name. */
export function seedRows<Name extends string>(
  prefix: string,
  tests: Readonly<Record<Name, string>>,
  rows: readonly (readonly [
    says: string,
    file: NoInfer<Name>,
    title: string,
    deviation?: NamedDeviation<NoInfer<Name>>,
  ])[],
): readonly SeedRow[] {
  return rows.map(([says, file, title, deviation], place) => ({
    id: `${prefix}-${String(place + 1)}`,
    says,
    test: `${tests[file]}: ${title}`,
    deviation: deviation && {
      ...deviation,
      restoredBy: deviation.restoredBy.map(([setting, where, name]) => ({ setting, test: `${tests[where]}: ${name}` })),
    },
  }));
}

/** A document with the page of its vocabulary, from docs/, and its rows. */
export interface SeedDocument {
  readonly title: string;
  readonly page: string;
  /** The files that replay its worked examples. */
  readonly tests: readonly string[];
  readonly rows: readonly SeedRow[];
  readonly choices: readonly Choice[];
}
