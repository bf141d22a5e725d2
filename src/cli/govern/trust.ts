import path from 'node:path';

import { printable, quoted } from '../../core/text/text.ts';
import { isDirectory, isInside, realPath } from '../../platform/fs/paths.ts';
import { surroundingsOf } from '../../runtime/config/config.ts';
import { projectTop } from '../../runtime/skill-trust.ts';
import { reviewSkills } from '../../runtime/trust-review.ts';
import type { ReviewedSkill } from '../../runtime/trust-review.ts';
import { openTrust } from '../../policy/trust.ts';
import type { TrustStore } from '../../policy/trust.ts';
import { askStreams, confirm } from '../terminal/ask.ts';
import { defineCommand } from '../command.ts';
import type { GlobalInvocation } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { jsonText } from '../json.ts';
import { showPlan } from '../terminal/terminal.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { padText } from '../../platform/text-width.ts';

export const command = defineCommand({
  usage: 'trust [PATH] [--yes] | trust --list | trust --revoke [PATH]',
  details: [
    'Skills that came with a project are not used until its folder is trusted. Shows the skills of the folder with their scripts and',
    'digests, asks, and keeps the answer in .agent/trust.json of the home folder. PATH is the project you work in unless it is given.',
    'Without a terminal --yes says that you have looked. Exit status 3: it was not trusted.',
  ].join('\n'),
  flags: {
    yes: { type: 'boolean', short: 'y', about: 'do not ask' },
    list: { type: 'boolean', about: 'list the folders that are trusted' },
    revoke: { type: 'boolean', about: 'do not trust the folder any more' },
    'dry-run': { type: 'boolean', about: 'show the skills of the folder, and neither ask nor keep anything' },
  },
  examples: [
    ['skillwright trust', 'look at the skills of this project, and trust it'],
    ['skillwright trust /srv/app --yes', 'for a machine without a person'],
    ['skillwright trust --revoke', 'take it back'],
  ],
  positionals: [0, 1],
  async run({ flags, positionals, ...invocation }) {
    if ([flags.yes, flags.list, flags.revoke].filter(Boolean).length > 1)
      throw new UsageError('--yes, --list and --revoke exclude each other', 'see skillwright trust --help');
    const { home } = surroundingsOf({});
    // Which of the two is kept in the same way, and judged when a skill is used.
    const store = openTrust({ home, bind: 'digest' });
    const asked: Asked = { ...invocation, flags, positionals, store };
    for (const problem of store.list().problems) invocation.terminal.remark(`warning: ${problem}`);
    if (flags.list === true) return list(asked);
    if (flags['dry-run'] === true && flags.revoke === true)
      throw new UsageError(
        '--dry-run shows what would be trusted; --revoke takes trust away',
        'see skillwright trust --list',
      );
    return flags.revoke === true
      ? revoke(asked)
      : trust(asked, { isSaid: flags.yes === true, dryRun: flags['dry-run'] === true });
  },
});

interface Asked extends GlobalInvocation {
  readonly store: TrustStore;
}

async function trust(
  asked: Asked,
  { isSaid, dryRun }: { readonly isSaid: boolean; readonly dryRun: boolean },
): Promise<number> {
  const { flags, terminal, signal, store } = asked;
  const place = folderOf(asked);
  if (!isDirectory(place.folder))
    throw new UsageError(`${quoted(place.folder, 200)} is no folder`, 'give the folder of a project');
  const skills = await reviewSkills({ surroundings: surroundingsOf({ cwd: place.cwd }), folder: place.folder, signal });
  const about = { isAsked: !isSaid && !dryRun, isJson: flags.json === true };
  showPlan(reviewLines(place.folder, skills, terminal), about, terminal);
  if (dryRun) {
    if (flags.json === true) terminal.out(jsonText({ folder: place.folder, trusted: false, dryRun, skills }));
    return EXIT.done;
  }
  const isTrusted = isSaid || (await confirm(askStreams(process), 'trust this folder and these skills?', { signal }));
  if (signal.aborted) return EXIT.interrupted;
  if (!isTrusted) {
    if (flags.json === true) terminal.out(jsonText({ folder: place.folder, trusted: false, skills }));
    terminal.err('it is not trusted; say --yes where nobody can be asked');
    return EXIT.refused;
  }
  const { folder, at } = await store.trust(place.folder, {
    skills: skills.flatMap(({ dir, digest }) => (digest === undefined ? [] : [{ dir, digest }])),
  });
  if (flags.json === true) terminal.out(jsonText({ folder, trusted: true, at, skills }));
  else terminal.out(`trusted: ${printable(folder)}`);
  return EXIT.done;
}

async function revoke(asked: Asked): Promise<number> {
  const { flags, terminal, store } = asked;
  const { folder } = folderOf(asked);
  const gone = await store.revoke(folder);
  if (flags.json === true) terminal.out(jsonText({ revoked: gone.map((entry) => entry.folder) }));
  else {
    for (const entry of gone) terminal.out(`not trusted any more: ${printable(entry.folder)}`);
    if (gone.length === 0) terminal.remark(`${printable(folder)} was not trusted by itself`);
  }
  for (const around of store.list().folders.filter((entry) => isInside(realPath(folder), entry.folder)))
    terminal.err(`it lies in ${printable(around.folder)}, which is trusted`);
  return gone.length > 0 ? EXIT.done : EXIT.failed;
}

async function list({ flags, terminal, store }: Asked): Promise<number> {
  const { folders, problems } = store.list();
  if (flags.json === true) {
    terminal.out(jsonText({ folders, problems }));
    return EXIT.done;
  }
  for (const { folder, at, skills } of folders)
    terminal.out(
      `${printable(folder)}  ${terminal.style('dim', `${String(skills.length)} skills, ${at.slice(0, 10)}`)}`,
    );
  if (folders.length === 0) terminal.remark('no folder is trusted');
  return EXIT.done;
}

/** The folder that is meant, and from where its skills are looked for. */
function folderOf({ flags, positionals }: Asked): { readonly folder: string; readonly cwd: string } {
  const { cwd, home } = surroundingsOf(flags.cwd === undefined ? {} : { cwd: flags.cwd });
  const [given] = positionals;
  if (given !== undefined) {
    const folder = path.resolve(cwd, given);
    return { folder, cwd: folder };
  }
  const top = projectTop({ cwd, home });
  if (top === undefined) throw new UsageError('the home folder is no project', 'name the folder to trust');
  return { folder: top, cwd };
}

function reviewLines(folder: string, skills: readonly ReviewedSkill[], terminal: Terminal): readonly string[] {
  const width = Math.max(4, ...skills.map(({ name }) => Math.min(40, printable(name).length)));
  const rows = skills.map(({ name, scripts, files, digest, problem }) => {
    const counts = `${String(scripts)} scripts  ${String(files)} files`;
    const identity = digest === undefined ? `no digest: ${printable(problem ?? '')}` : digest.slice(0, 24);
    return `  ${padText(printable(name), width)}  ${counts}  ${terminal.style('dim', identity)}`;
  });
  return [printable(folder), ...(rows.length === 0 ? ['  no skills'] : rows)];
}
