/** Sources to browse: indexes of skills that are not installed. */
import { countText, isSkillError, printable, quoted } from '#core';
import {
  indexSource,
  isRefusal,
  openSourceStore,
  type AvailableSkill,
  type IndexedSource,
  type PackRefusal,
  type PackSettings,
  type SourceIndex,
  type SourceStore,
} from '#packs';
import type { GlobalInvocation } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { openProgress } from '../terminal/progress.ts';
import { reportProblem, reportWarning } from '../terminal/terminal.ts';
import { accepted, definePackCommand, progressText, readingSettings, settingsFor } from './pack-command.ts';

export const command = definePackCommand({
  usage: 'source [list] | source add NAME SOURCE | source update [NAME...] | source remove NAME',
  details: [
    'Keeps an index of skills that are not installed: name, description, folder and digest, in ~/.agent/sources. search shows them below the installed ones, with the command that installs them.',
    'SOURCE is what install takes: a git repository, a site with /.well-known/agent-skills, a folder, an archive or npm:PACKAGE. Only add and update read it; search uses no network.',
    'Exit code 1: a source could not be read; its old index is kept.',
  ].join('\n'),
  flags: {},
  examples: [
    ['skillwright source add anthropic anthropics/skills', 'index a repository'],
    ['skillwright source add team https://skills.example.com', 'index a site'],
    ['skillwright search make slides', 'search installed skills, then the sources'],
    ['skillwright source update', 'read every source again'],
    ['skillwright source remove team', 'forget a source; installed skills stay'],
  ],
  positionals: [0, Number.POSITIVE_INFINITY],
  async run(invocation) {
    const [verb = 'list', ...words] = invocation.positionals;
    const settings = await (verb === 'list' ? readingSettings : settingsFor)(invocation);
    const store = openSourceStore(settings.surroundings);
    const context: SourceContext = { invocation, settings, store };
    const [name = '', source = ''] = words;
    if (verb === 'list' && words.length === 0) return list(context);
    if (verb === 'add' && words.length === 2) return add(context, name, source);
    if (verb === 'update') return update(context, words);
    if (verb === 'remove' && words.length === 1) return remove(context, name);
    throw new UsageError('invalid arguments', `usage: skillwright ${command.usage}`);
  },
});

interface SourceContext {
  readonly invocation: GlobalInvocation;
  readonly settings: PackSettings;
  readonly store: SourceStore;
}

function sourceJson({ name, source, at, revision, skills }: SourceIndex): object {
  return { name, source, at, revision: revision ?? null, skills: skills.length };
}

function list({ invocation: { terminal }, store }: SourceContext): number {
  const { sources, problems } = store.list();
  if (!terminal.printJson({ sources: sources.map(sourceJson), problems })) {
    for (const { name, source, at, skills } of sources)
      terminal.out(
        `${name}  ${printable(source)}  ${countText(skills.length, 'skill')}, read ${printable(at.slice(0, 16))}`,
      );
    if (sources.length === 0) terminal.remark('no sources; add one with skillwright source add NAME SOURCE');
  }
  for (const problem of problems) reportWarning(terminal, problem);
  return problems.length === 0 ? EXIT.done : EXIT.failed;
}

async function add(context: SourceContext, name: string, source: string): Promise<number> {
  const { invocation, store } = context;
  const { terminal, signal } = invocation;
  // Before anything is fetched.
  store.checkNew(name);
  const indexed = accepted(await read(context, { name, source }));
  await store.save(indexed.index, { isNew: true, signal });
  reportLeftOut(context, indexed);
  if (!terminal.printJson({ ok: true, source: sourceJson(indexed.index), leftOut: indexed.leftOut }))
    terminal.out(
      `added ${name}: ${countText(indexed.index.skills.length, 'skill')}; find them with skillwright search`,
    );
  return EXIT.done;
}

interface Updated {
  readonly name: string;
  readonly ok: boolean;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
  readonly error?: { readonly code: string; readonly message: string };
}

async function update(context: SourceContext, names: readonly string[]): Promise<number> {
  const { invocation, store } = context;
  const { flags, terminal, signal } = invocation;
  const { sources, problems } = store.list();
  const chosen = names.length === 0 ? sources : names.map((name) => store.read(name));
  const done: Updated[] = [];
  for (const before of chosen) {
    const outcome = await updateOne(context, before, signal);
    done.push(outcome);
    if (flags.json !== true && outcome.ok) terminal.out(updatedLine(outcome));
  }
  if (!terminal.printJson({ ok: done.every(({ ok }) => ok), sources: done, problems }) && chosen.length === 0)
    terminal.remark('no sources; add one with skillwright source add NAME SOURCE');
  if (names.length === 0) for (const problem of problems) reportWarning(terminal, problem);
  const isGood = done.every(({ ok }) => ok) && (names.length > 0 || problems.length === 0);
  return isGood ? EXIT.done : EXIT.failed;
}

/** A source that fails keeps its index, and the others are still updated. */
async function updateOne(context: SourceContext, before: SourceIndex, signal: AbortSignal): Promise<Updated> {
  const { name, source } = before;
  const failed = ({
    code,
    message,
    hint,
  }: Pick<PackRefusal, 'message' | 'hint'> & { readonly code: string }): Updated => {
    reportProblem(context.invocation.terminal, {
      message: `${name}: ${message}; the index of ${before.at.slice(0, 10)} is kept`,
      hint,
      code,
    });
    return { name, ok: false, added: [], removed: [], changed: [], error: { code, message } };
  };
  const indexed = await read(context, { name, source, before });
  if (isRefusal(indexed)) return failed(indexed);
  try {
    await context.store.save(indexed.index, { isNew: false, signal });
  } catch (error) {
    if (!isSkillError(error)) throw error;
    return failed({ code: error.code, message: error.message, hint: error.hint ?? 'try again' });
  }
  reportLeftOut(context, indexed);
  return { name, ok: true, ...difference(before.skills, indexed.index.skills) };
}

async function read(
  { invocation: { terminal, signal }, settings }: SourceContext,
  { name, source, before }: Pick<SourceIndex, 'name' | 'source'> & { readonly before?: SourceIndex },
): Promise<IndexedSource | PackRefusal> {
  const progress = openProgress(terminal);
  try {
    progress.show(`reading ${name}`);
    return await indexSource(source, {
      settings,
      name,
      signal,
      onProgress: (step) => progress.show(`${name}: ${progressText(step)}`),
      before,
    });
  } finally {
    progress.end();
  }
}

function reportLeftOut({ invocation: { terminal } }: SourceContext, { leftOut, index }: IndexedSource): void {
  const [first] = leftOut;
  if (first === undefined) return;
  const more = leftOut.length > 1 ? ` and ${String(leftOut.length - 1)} more` : '';
  reportWarning(terminal, `${index.name}: left out: ${first}${more}`);
}

function difference(
  before: readonly AvailableSkill[],
  now: readonly AvailableSkill[],
): Pick<Updated, 'added' | 'removed' | 'changed'> {
  const [old, fresh] = [before, now].map((skills) => new Map(skills.map((skill) => [skill.name, skill])));
  return {
    added: now.filter(({ name }) => old?.has(name) !== true).map(({ name }) => name),
    removed: before.filter(({ name }) => fresh?.has(name) !== true).map(({ name }) => name),
    changed: now
      .filter(({ name, digest, description }) => {
        const known = old?.get(name);
        return known !== undefined && (known.digest !== digest || known.description !== description);
      })
      .map(({ name }) => name),
  };
}

function updatedLine({ name, added, removed, changed }: Updated): string {
  const words = [
    ...joinWithLimit('added', added),
    ...joinWithLimit('changed', changed),
    ...joinWithLimit('removed', removed),
  ];
  return `${name}: ${words.length === 0 ? 'no changes' : words.join('; ')}`;
}

const MAX_NAMED = 5;

function joinWithLimit(what: string, names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  const more = names.length > MAX_NAMED ? ` and ${String(names.length - MAX_NAMED)} more` : '';
  return [`${what} ${names.slice(0, MAX_NAMED).map(printable).join(', ')}${more}`];
}

async function remove({ invocation: { terminal }, store }: SourceContext, name: string): Promise<number> {
  await store.remove(name);
  if (!terminal.printJson({ ok: true, removed: name })) terminal.out(`removed ${quoted(name)}; installed skills stay`);
  return EXIT.done;
}
