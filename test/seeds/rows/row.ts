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

/** For every document: none of them knows of a project that comes from others, or of secrets. */
export const CHOSEN_FOR_ALL: readonly Choice[] = [
  {
    theirs: "the files of the project are the user's own",
    ours: 'a `vocabulary` in a file of the project leaves your limits (length of bodies, of files and of the list of skills) and offers programs only if you do; from `~/.agent/config.json`, `--vocabulary`, `SKILLWRIGHT_VOCABULARY` or an option, all of it counts',
    why: 'a cloned project must not loosen what the user allows',
    test: 'test/runtime/vocabulary-setting.test.ts: cannot use a vocabulary, or a record of one, to loosen what it may not set itself',
  },
  {
    theirs: 'texts and output are shown with whatever is in them',
    ours: 'the value of a secret that you gave to a skill, or of the key of a model provider in the environment, is shown as `[secret NAME]`',
    why: 'a secret must not reach a model or a record',
    test: 'test/seeds/loaded-rules.test.ts: the key of a provider in the environment is shown by its name, in every vocabulary',
  },
];

/** For openseed and ManusX, which read the folders of one root with PyYAML. */
export const CHOSEN_FOR_FOLDERS: readonly Choice[] = [
  {
    theirs: '`safe_load` follows YAML anchors, and takes the last of a repeated key',
    ours: 'a skill with an anchor, or with a tag for other types than text, numbers, booleans, lists and maps, is left out with the reason; the first of a repeated key counts, with a warning',
    why: 'an alias can make a small file large; a text has one meaning in every vocabulary',
    test: 'test/seeds/manusx-files.test.ts: a SKILL.md with a YAML anchor is left out with the reason, and of a repeated key the first one counts',
  },
  {
    theirs: 'a hidden folder, or one called `node_modules`, with a SKILL.md is a skill',
    ours: 'it is none',
    why: 'tools keep their own files there, such as half of an install',
    test: 'test/seeds/manusx-files.test.ts: a hidden folder, or node_modules, is no skill',
  },
];

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
