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
  {
    theirs: '`name` is any text',
    ours: 'a name with a backslash, `..`, a control character (tab, line break) or a slash other than in `org/name` gives way to the name of the folder, and `check` says so; spaces around it and hidden characters are removed, and compatibility characters such as `ａ` become plain ones',
    why: 'names are parts of paths and rules, and of lists with one line for each',
    test: 'test/seeds/foreign-heads.test.ts: a name that is a path or has two lines is that of the folder, hidden characters go, and check says so',
  },
  {
    theirs: 'no field forbids a tool',
    ours: '`disallowed-tools`, a field of Claude Code, forbids what it names while its skill is loaded; no setting lifts it',
    why: 'a skill must not do more than it declares',
    test: 'test/seeds/foreign-heads.test.ts: disallowed-tools forbids while its skill is loaded in each of the four systems, and no setting lifts it',
  },
];

/** For the systems whose models call tools; a plan of skills-agent is part of its actions. */
export const CHOSEN_FOR_CALLS: readonly Choice[] = [
  {
    theirs: 'the model has the tools of the system',
    ours: '`run` and `chat` add `update_plan` to a request of several steps, and `recall_output` once an output was removed from the conversation; `openSkillTools`, `openSkills`, `call` and `mcp` add none',
    why: 'long work needs a plan, and what was removed must be there again on request',
    test: 'test/seeds/foreign-fields.system.test.ts: %s: a run offers and names the tools of the system, and update_plan for a request of several steps',
  },
];

/** For openseed and ManusX, which read the folders of one root with PyYAML. */
export const CHOSEN_FOR_FOLDERS: readonly Choice[] = [
  {
    theirs: '`safe_load` follows YAML anchors, and takes the last of a repeated key',
    ours: 'a skill with an anchor, a merge key (`<<`), or a tag for other types than text, numbers, booleans, lists and maps, is left out with the reason; the first of a repeated key counts, with a warning',
    why: 'an alias can make a small file large; a text has one meaning in every vocabulary',
    test: 'test/seeds/manusx-files.test.ts: a SKILL.md with a YAML anchor is left out with the reason, and of a repeated key the first one counts',
  },
  {
    theirs: 'a hidden folder, or one called `node_modules`, with a SKILL.md is a skill',
    ours: 'it is none',
    why: 'tools keep their own files there, such as half of an install',
    test: 'test/seeds/manusx-files.test.ts: a hidden folder, or node_modules, is no skill',
  },
  {
    theirs: 'the shell gives all that was printed',
    ours: 'up to 16 KiB of `stdout` and of `stderr`, half from the start and half from the end with a warning, without control and invisible characters (a lone `\\r` becomes a line break); `stdout_ref` names the file that has every byte',
    why: 'one command must not fill the context, nor print what people do not see',
    test: 'test/seeds/shells.system.test.ts: the output of a command comes without control and invisible characters and up to 16 KiB, and a file has every byte',
  },
  {
    theirs: 'the shell has the environment of the process, its network, and no limits',
    ours: 'an environment of its own; no network but hosts that you grant, except with `local`; and limits, by default 1 GiB of memory, 64 processes, 64 MiB of output, and 20,000 files of up to 64 MiB and 256 MiB in all (`execution: { limits }`)',
    why: 'the environment has keys, and a program of others must not send them away or stop the machine',
    test: 'test/seeds/shells.system.test.ts: a command has an environment of its own, limits, and no network where it is isolated',
  },
  {
    theirs: 'the shell starts without a question',
    ours: 'the command line asks (not about the plainest commands, such as `echo`), unless `--yes` or `--auto` is given; a program that opens the tools is not asked',
    why: 'the user decides what runs',
    test: 'test/seeds/shells.system.test.ts: the command line asks before a command, unless --yes is given',
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
