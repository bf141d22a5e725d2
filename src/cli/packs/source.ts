/** Sources to browse: indexes of skills that are not installed. */
import { countText, isProblem, printable, quoted } from '#core';
import { addSource, openSourceStore, updateSource, type PackSettings } from '#packs';
import type { GlobalInvocation } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import { openProgress } from '../terminal/progress.ts';
import { reportProblem, reportWarning } from '../terminal/terminal.ts';
import { definePackCommand, progressText, readingSettings, settingsFor } from './pack-command.ts';

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
    const context: SourceContext = { invocation, settings, store: openSourceStore(settings.surroundings) };
    const [name = '', source = ''] = words;
    if (verb === 'list' && words.length === 0) return list(context);
    if (verb === 'add' && words.length === 2) return add(context, name, source);
    if (verb === 'update') return update(context, words);
    if (verb === 'remove' && words.length === 1) return remove(context, name);
    throw usageError('invalid arguments', `usage: skillwright ${command.usage}`);
  },
});

type SourceStore = ReturnType<typeof openSourceStore>;

interface SourceContext {
  readonly invocation: GlobalInvocation;
  readonly settings: PackSettings;
  readonly store: SourceStore;
}

type SourceIndex = ReturnType<SourceStore['read']>;

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
    if (sources.length === 0) terminal.remark(NO_SOURCES);
  }
  for (const problem of problems) reportWarning(terminal, problem);
  return problems.length === 0 ? EXIT.done : EXIT.failed;
}

const NO_SOURCES = 'no sources; add one with skillwright source add NAME SOURCE';

async function add(context: SourceContext, name: string, source: string): Promise<number> {
  const { invocation, settings } = context;
  const { terminal, signal } = invocation;
  const indexed = await reading(context, name, (onProgress) =>
    addSource(source, { settings, name, signal, onProgress }),
  );
  reportLeftOut(context, name, indexed.leftOut);
  if (!terminal.printJson({ ok: true, source: sourceJson(indexed.index), leftOut: indexed.leftOut }))
    terminal.out(
      `added ${name}: ${countText(indexed.index.skills.length, 'skill')}; find them with skillwright search`,
    );
  return EXIT.done;
}

async function update(context: SourceContext, names: readonly string[]): Promise<number> {
  const { invocation, store } = context;
  const { flags, terminal } = invocation;
  const { sources, problems } = store.list();
  const chosen = names.length === 0 ? sources : names.map((name) => store.read(name));
  const done: Awaited<ReturnType<typeof updateOne>>[] = [];
  for (const before of chosen) {
    const outcome = await updateOne(context, before);
    done.push(outcome);
    if (flags.json === true || !outcome.ok) continue;
    const { name, added, changed, removed } = outcome;
    const words = [...named('added', added), ...named('changed', changed), ...named('removed', removed)];
    terminal.out(`${name}: ${words.length === 0 ? 'no changes' : words.join('; ')}`);
  }
  if (!terminal.printJson({ ok: done.every(({ ok }) => ok), sources: done, problems }) && chosen.length === 0)
    terminal.remark(NO_SOURCES);
  if (names.length === 0) for (const problem of problems) reportWarning(terminal, problem);
  const isGood = done.every(({ ok }) => ok) && (names.length > 0 || problems.length === 0);
  return isGood ? EXIT.done : EXIT.failed;
}

/** A source that fails keeps its index, and the others are still updated. */
async function updateOne(context: SourceContext, before: SourceIndex) {
  const { invocation, settings } = context;
  const { name } = before;
  const updated = await reading(context, name, (onProgress) =>
    updateSource(before, { settings, signal: invocation.signal, onProgress }),
  );
  if (!isProblem(updated)) {
    const { added, removed, changed, leftOut } = updated;
    reportLeftOut(context, name, leftOut);
    return { name, ok: true, added, removed, changed };
  }
  const { code, message, hint } = updated;
  reportProblem(invocation.terminal, {
    message: `${name}: ${message}; the index of ${before.at.slice(0, 10)} is kept`,
    hint,
    code,
  });
  return { name, ok: false, added: [], removed: [], changed: [], error: { code, message } };
}

async function reading<T>(
  { invocation: { terminal } }: SourceContext,
  name: string,
  act: (onProgress: (step: Parameters<typeof progressText>[0]) => void) => Promise<T>,
): Promise<T> {
  const progress = openProgress(terminal);
  try {
    progress.show(`reading ${name}`);
    return await act((step) => progress.show(`${name}: ${progressText(step)}`));
  } finally {
    progress.end();
  }
}

function reportLeftOut({ invocation: { terminal } }: SourceContext, name: string, leftOut: readonly string[]): void {
  const [first] = leftOut;
  if (first === undefined) return;
  const more = leftOut.length > 1 ? ` and ${String(leftOut.length - 1)} more` : '';
  reportWarning(terminal, `${name}: left out: ${first}${more}`);
}

const MAX_NAMED = 5;

function named(what: string, names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  const more = names.length > MAX_NAMED ? ` and ${String(names.length - MAX_NAMED)} more` : '';
  return [`${what} ${names.slice(0, MAX_NAMED).map(printable).join(', ')}${more}`];
}

async function remove({ invocation: { terminal }, store }: SourceContext, name: string): Promise<number> {
  await store.remove(name);
  if (!terminal.printJson({ ok: true, removed: name })) terminal.out(`removed ${quoted(name)}; installed skills stay`);
  return EXIT.done;
}
