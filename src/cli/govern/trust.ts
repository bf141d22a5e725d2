import path from 'node:path';

import { countText, printable, quoted, type Surroundings } from '#core';
import { isDirectory, isInside, realPath } from '#platform';
import { projectTop, reviewSkills, readSurroundings, createRuntime } from '#runtime';
import { openTrust } from '#policy';
import { askStreams, confirm } from '../terminal/ask.ts';
import { defineCommand, toggle, type GlobalInvocation } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import { requireValidConfig } from '../surroundings.ts';
import { showPlan } from '../terminal/terminal.ts';
import { pluginLines, reviewPlugins } from './review-plugins.ts';
import { projectLine, reviewLines, reviewedSkills } from './trust-question.ts';

export const command = defineCommand({
  usage: 'trust [PATH] [--mine] [--yes] | trust --list | trust --revoke [PATH]',
  details: [
    'Models do not see the skills of a project before you trust them. Shows the skills with their scripts, digests and what they use, asks for confirmation, and stores the answer in ~/.agent/trust.json. PATH is a project folder (default: the current project). Without a terminal, --yes confirms.',
    'MCP servers of Agent Plugins are shown whole: run and chat use them only after this.',
    'A skill is trusted as it is now: after a change it needs trust again. Skills that you installed and confirmed, or created with skillwright new, are already trusted; run, chat, exec and call ask about the others.',
    'Exit code 3: not trusted.',
  ].join('\n'),
  flags: {
    yes: toggle('do not ask for confirmation', { short: 'y' }),
    mine: toggle('you write these skills: they stay trusted after edits, MCP servers do not'),
    list: toggle('list the trusted folders'),
    revoke: toggle('revoke the trust in the folder'),
    'dry-run': toggle('show the skills of the folder without asking or storing anything'),
  },
  examples: [
    ['skillwright trust', 'review the skills of this project and trust it'],
    ['skillwright trust --mine', 'trust your own skills also after you edit them'],
    ['skillwright trust /srv/app --yes', 'trust a folder without a prompt'],
    ['skillwright trust --revoke', 'revoke the trust in this project'],
  ],
  positionals: [0, 1],
  async run({ flags, positionals, ...invocation }) {
    if ([flags.yes, flags.list, flags.revoke].filter(Boolean).length > 1)
      throw usageError('--yes, --list and --revoke cannot be combined', 'see skillwright trust --help');
    const { home } = invocation.surroundings;
    // The binding matters only when a skill is used; both are stored the same way.
    const store = openTrust({ home, bind: 'digest' });
    const trusting: TrustInvocation = { ...invocation, flags, positionals, store };
    for (const problem of store.list().problems) invocation.terminal.remark(`warning: ${problem}`);
    if (flags.list === true) return list(trusting);
    if (flags['dry-run'] === true && flags.revoke === true)
      throw usageError('--dry-run and --revoke cannot be combined', 'see skillwright trust --list');
    // Revoking only reduces what is allowed.
    if (flags.revoke !== true && flags['dry-run'] !== true) await requireValidConfig({ ...invocation, flags });
    return flags.revoke === true
      ? revoke(trusting)
      : trust(trusting, {
          isConfirmed: flags.yes === true,
          dryRun: flags['dry-run'] === true,
          isOwn: flags.mine === true,
        });
  },
});

interface TrustInvocation extends GlobalInvocation {
  readonly store: ReturnType<typeof openTrust>;
}

/** Skills of the folder that are links to another one. Trust in the folder does not cover them. */
async function elsewhereLines(surroundings: Surroundings, folder: string): Promise<readonly string[]> {
  const { index } = await createRuntime({ ...surroundings, cache: false });
  const real = realPath(folder);
  return index.all
    .map(({ dir }) => dir)
    .filter((dir) => isInside(dir, folder) && !isInside(realPath(dir), real))
    .map(
      (dir) =>
        `  not trusted: ${printable(dir)} is a link to ${printable(realPath(dir))}; trust that folder, or name it as a root`,
    );
}

async function trust(
  trusting: TrustInvocation,
  { isConfirmed, dryRun, isOwn }: { readonly isConfirmed: boolean; readonly dryRun: boolean; readonly isOwn: boolean },
): Promise<number> {
  const { terminal, signal, store } = trusting;
  const place = resolveFolder(trusting);
  if (!isDirectory(place.folder))
    throw usageError(`not a folder: ${quoted(place.folder, 200)}`, 'name a project folder');
  const surroundings = readSurroundings({ cwd: place.cwd });
  const skills = await reviewSkills({ surroundings, folder: place.folder }, signal);
  const elsewhere = await elsewhereLines(surroundings, place.folder);
  const plugins = await reviewPlugins(surroundings, place.folder);
  const own =
    skills.length === 0 && elsewhere.length === 0 ? ['  no skills'] : reviewLines({ skills, isWhole: true }, terminal);
  showPlan(
    [projectLine(place.folder), ...own, ...plugins.flatMap(pluginLines), ...elsewhere],
    !isConfirmed && !dryRun,
    terminal,
  );
  if (dryRun) {
    terminal.printJson({ folder: place.folder, trusted: false, dryRun, skills, plugins });
    return EXIT.done;
  }
  const isTrusted =
    isConfirmed || (await confirm(askStreams(process), 'trust this folder and these skills?', { signal }));
  if (signal.aborted) return EXIT.interrupted;
  if (!isTrusted) {
    terminal.printJson({ folder: place.folder, trusted: false, skills, plugins });
    terminal.err('not trusted; without a terminal pass --yes');
    return EXIT.refused;
  }
  const { folder, at } = await store.trust(place.folder, {
    skills: [
      ...reviewedSkills(skills, isOwn),
      // Not even with --mine do servers stay trusted after an edit: they run without a sandbox.
      ...plugins.flatMap(({ trust: bound }) => (bound === undefined ? [] : [bound])),
    ],
  });
  if (!terminal.printJson({ folder, trusted: true, at, skills, plugins }))
    terminal.out(`trusted: ${printable(folder)}`);
  return EXIT.done;
}

async function revoke(trusting: TrustInvocation): Promise<number> {
  const { terminal, store } = trusting;
  const { folder } = resolveFolder(trusting);
  const gone = await store.revoke(folder);
  if (!terminal.printJson({ revoked: gone.map((entry) => entry.folder) })) {
    for (const entry of gone) terminal.out(`revoked: ${printable(entry.folder)}`);
    if (gone.length === 0) terminal.remark(`${printable(folder)} is not in the list of trusted folders`);
  }
  const whole = store.list().folders.filter(({ only }) => only !== true);
  for (const around of whole.filter((entry) => isInside(realPath(folder), entry.folder)))
    terminal.err(`still trusted, because its parent ${printable(around.folder)} is trusted`);
  return gone.length > 0 ? EXIT.done : EXIT.failed;
}

async function list({ terminal, store }: TrustInvocation): Promise<number> {
  const { folders, problems } = store.list();
  if (terminal.printJson({ folders, problems })) return EXIT.done;
  for (const { folder, at, skills, only } of folders) {
    // Trust in the servers of a plugin is bound to this file.
    const plugins = skills.filter((one) => path.posix.basename(one.path) === 'mcp.json').length;
    const counts = [
      ...(plugins < skills.length || plugins === 0 ? [countText(skills.length - plugins, 'skill')] : []),
      ...(plugins > 0 ? [countText(plugins, 'plugin')] : []),
    ];
    const what = `${only === true ? 'only ' : ''}${counts.join(' and ')}, ${at.slice(0, 10)}`;
    terminal.out(`${printable(folder)}  ${terminal.style('dim', what)}`);
  }
  if (folders.length === 0) terminal.remark('no trusted folders');
  return EXIT.done;
}

/** The folder to trust, and the folder from which its skills are searched. */
function resolveFolder({ surroundings, positionals }: TrustInvocation): {
  readonly folder: string;
  readonly cwd: string;
} {
  const { cwd, home } = surroundings;
  const [argument] = positionals;
  if (argument !== undefined) {
    const folder = path.resolve(cwd, argument);
    return { folder, cwd: folder };
  }
  const top = projectTop({ cwd, home });
  if (top === undefined) throw usageError('the home folder is not a project', 'name the folder to trust');
  return { folder: top, cwd };
}
