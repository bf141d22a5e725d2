import path from 'node:path';

import { cleanText, estimateTokens, printable, quoted, SkillError, type SkillEntry } from '#core';
import { parseSkillMd, readSkillFile } from '#skills';
import { inConfined, isPresent, padText, textWidth, type ConfinedDirectory } from '#platform';
import type { Distrust, Runtime } from '#runtime';
import { openVocabulary } from '#tools';
import { defineCommand, toggle, type Invocation } from '../command.ts';
import { EXIT } from '../exit.ts';
import { skillJson } from '../json.ts';
import { openRuntime } from '../open-runtime.ts';
import { diagnosticJson, diagnosticText } from './show-diagnostics.ts';
import type { Terminal } from '../terminal/terminal.ts';

const flags = {
  body: toggle('also print the instructions'),
} as const;

export const command = defineCommand({
  usage: 'inspect NAME|PATH [--body]',
  details: [
    'Shows one skill: its fields, the tools and skills it requests, its files, its problems, and skills of the same name.',
    'Reads and prints the instructions only with --body.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright inspect csv-report', 'inspect a skill by name'],
    ['skillwright inspect builtin/csv-report --body', 'inspect the skill of one source, with its instructions'],
    ['skillwright inspect ./my-skill --json', 'inspect a folder outside all roots'],
  ],
  positionals: [1, 1],
  async run(invocation) {
    const { flags: options, terminal } = invocation;
    const { skill, runtime } = await findSkill(invocation);
    const files = listEntries(skill.dir);
    const diagnostics = runtime.diagnostics.filter(({ path: file }) => file.startsWith(`${skill.dir}/`));
    const shadows = runtime.index.shadowed.filter(({ by, dir }) => by === skill.dir || dir === skill.dir);
    const body = options.body === true ? readBody(skill) : undefined;
    const distrust = (await runtime.distrust([skill], { files: true })).get(skill.dir);
    const missing = runtime.missing(skill, knownTools(runtime));
    const answer = {
      skill: skillJson(skill, distrust),
      missing,
      tokens: estimateTokens(`${skill.name} ${skill.description}`),
      files: files.files,
      filesCut: files.isCut,
      shadows,
      diagnostics: diagnostics.map(diagnosticJson),
      body,
    };
    if (terminal.printJson(answer)) return EXIT.done;
    terminal.out([...fieldLines(skill, { distrust, missing }, terminal), ...fileLines(files, terminal)]);
    if (distrust !== undefined)
      terminal.remark(`hidden from models: ${printable(distrust.reason)}\n  ${printable(distrust.command)}`);
    for (const { name, source, dir, reason, by } of shadows) {
      const text = `${printable(`${source}/${name}`)} at ${printable(dir)} by ${printable(by)} (${reason})`;
      terminal.out(terminal.wrap(`${terminal.style('yellow', 'hidden')}: ${text}`, 2));
    }
    if (diagnostics.length > 0) terminal.out(`\n${terminal.style('bold', 'Problems')}`);
    terminal.out(diagnostics.map((diagnostic) => diagnosticText(diagnostic, terminal)));
    if (body !== undefined) terminal.out(`\n${terminal.wrap(cleanText(body))}`);
    return EXIT.done;
  },
});

/** The tools of a session here; undefined if MCP servers offer more, because they are not started to ask them. */
function knownTools(runtime: Runtime): readonly string[] | undefined {
  const { mcp_servers: configured = {}, vocabulary = 'skillwright' } = runtime.config;
  const hasServers = Object.keys(configured).length > 0 || runtime.plugins().some(({ servers }) => servers.length > 0);
  return hasServers ? undefined : openVocabulary(vocabulary).tools.map(({ name }) => name);
}

/** Every file of a skill folder, whether or not a model may read it; empty if the folder is gone. */
function listEntries(dir: string): ReturnType<ConfinedDirectory['list']> {
  return inConfined(
    dir,
    (folder) => folder.list({ maxFiles: 2_000, maxDepth: 12 }),
    () => ({ files: [], misnamed: [], problems: [], isCut: false }),
  );
}

/** Finds a skill by name in the index or by path. For a path, its parent folder is the only root. */
async function findSkill(
  invocation: Invocation<typeof flags>,
): Promise<{ readonly skill: SkillEntry; readonly runtime: Runtime }> {
  const { flags: options, positionals, surroundings } = invocation;
  const [reference = ''] = positionals;
  const asPath = path.resolve(surroundings.cwd, reference);
  const dir = /^skill\.md$/i.test(path.basename(asPath)) ? path.dirname(asPath) : asPath;
  const isPath =
    /^[.~/]|^[a-z]:|\.md$/i.test(reference) ||
    ['SKILL.md', 'skill.md'].some((file) => isPresent(path.join(asPath, file)));
  if (!isPath) {
    const runtime = await openRuntime(invocation);
    return { skill: runtime.find(reference, options.source), runtime };
  }
  const runtime = await openRuntime({
    ...invocation,
    flags: { ...options, root: [path.dirname(dir)], 'only-root': true },
  });
  const skill = runtime.index.all.find((entry) => path.resolve(entry.dir) === dir);
  if (skill !== undefined) return { skill, runtime };
  const problem = runtime.diagnostics.find(({ path: file }) => path.resolve(file).startsWith(dir));
  throw new SkillError({
    code: 'skill/invalid',
    message: `no readable skill at ${quoted(reference, 200)}${problem === undefined ? '' : `: ${problem.message}`}`,
    hint: problem?.hint ?? 'name a folder that contains a SKILL.md',
    data: { path: dir },
  });
}

function readBody({ dir, file }: SkillEntry): string {
  const read = readSkillFile(dir, file);
  if (read.type === 'read')
    return parseSkillMd(
      { path: file, directory: path.basename(dir), fileName: file, text: read.text, validUtf8: true },
      { mode: 'lenient' },
    ).body;
  const cause = read.type === 'absent' ? 'the file was removed' : read.reason;
  throw new SkillError({
    code: 'io/failed',
    message: `cannot read the instructions: ${cause}`,
    hint: 'run skillwright check on the skill',
    data: { path: dir, cause },
  });
}

function fieldLines(
  skill: SkillEntry,
  { distrust, missing }: { readonly distrust: Distrust | undefined; readonly missing: readonly string[] },
  { style, wrap }: Terminal,
): readonly string[] {
  const { controls, meta } = skill;
  const fields: readonly (readonly [string, string])[] = [
    ['description', skill.description],
    ['source', skill.source],
    ['folder', skill.dir],
    ['state', distrust === undefined ? skill.state : `${skill.state}, untrusted`],
    ['license', skill.license ?? ''],
    ['compatibility', skill.compatibility ?? ''],
    ['allowed tools', controls.allowedTools === undefined ? '' : controls.allowedTools.join(', ') || 'none'],
    ['denied tools', controls.disallowedTools?.join(', ') ?? ''],
    [
      'chosen by',
      controls.disableModelInvocation
        ? 'the user only'
        : controls.userInvocable
          ? 'the model or the user'
          : 'the model only',
    ],
    ['runs', controls.runMode],
    ['paths', controls.paths?.join(', ') ?? ''],
    ['requires', controls.requires?.join(', ') ?? ''],
    ['dependencies', controls.dependencies?.map((names) => names.join(' | ')).join(', ') ?? ''],
    ...missing.map((sentence): [string, string] => ['missing', sentence]),
    ...Object.entries(meta).filter(([key]) => key !== 'dependencies' || controls.dependencies === undefined),
    ['digest', skill.digest],
  ];
  const shown = fields.filter(([, value]) => value !== '');
  const width = Math.max(...shown.map(([name]) => textWidth(printable(name))));
  return [
    style('bold', printable(skill.name)),
    ...shown.map(([name, value]) =>
      wrap(`  ${style('dim', padText(printable(name), width))}  ${printable(value)}`, width + 4),
    ),
  ];
}

function fileLines({ files, isCut }: ReturnType<typeof listEntries>, { style }: Terminal): readonly string[] {
  return [
    '',
    style('bold', 'Files'),
    ...files.map(({ path: file, bytes, type, isExecutable }) => {
      const kind = type === 'file' ? (isExecutable ? 'executable' : '') : type === 'link' ? 'link' : 'not a file';
      return `  ${String(bytes).padStart(9)}  ${printable(file)} ${style('dim', kind)}`.trimEnd();
    }),
    ...(isCut ? ['  ... and more'] : []),
  ];
}
