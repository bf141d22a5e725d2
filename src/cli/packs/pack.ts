import path from 'node:path';

import { resolveSkill, projectTop } from '#skills';
import {
  packName,
  packRefusal,
  packSkills,
  skillsFolder,
  skillsToPack,
  type BuiltPack,
  type SkillToPack,
} from '#packs';
import { printable, problemError, quoted } from '#core';
import { isDirectory, isInside, realPath } from '#platform';
import { option, toggle, type Invocation } from '../command.ts';
import { EXIT } from '../exit.ts';
import { openRuntime } from '../open-runtime.ts';
import { accepted, definePackCommand, settingsFor } from './pack-command.ts';
import { openProgress } from '../terminal/progress.ts';
import { bytesText } from '../terminal/quantities.ts';

const flags = {
  output: option('FILE', 'write the pack to FILE (default: NAME-VERSION.zip, or skills.zip for several skills)', {
    short: 'o',
  }),
  force: toggle('overwrite an existing file'),
  'dry-run': toggle('print what would be packed without writing'),
  'allow-secrets': toggle('pack files that look like secrets'),
} as const;

export const command = definePackCommand({
  usage: 'pack [FOLDER|NAME...] [--output FILE] [--force] [--dry-run]',
  details: [
    'Packs skills into a zip with a manifest.json that lists the SHA-256 of every file. FOLDER is a skill or a folder of skills (default: the current folder); NAME is a skill from skillwright list. The same skills give the same bytes on every machine.',
    'Skips files that .skillignore and .gitignore name. Refuses skills that violate the specification or contain what looks like a secret.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright pack ./pdf-forms', 'write pdf-forms-1.2.0.zip'],
    ['skillwright pack pdf-forms csv-report -o office.skill', 'pack two skills by name'],
    ['skillwright pack . --dry-run', 'print what would be packed'],
  ],
  positionals: [0, Number.POSITIVE_INFINITY],
  async run(invocation) {
    const { flags: given, terminal, signal } = invocation;
    const settings = await settingsFor(invocation);
    const { cwd } = settings.surroundings;
    const skills = await chosenSkills(invocation, cwd);
    const out = given.output === undefined ? defaultOut(skills, cwd) : path.resolve(cwd, given.output);
    const progress = openProgress(terminal);
    const packing = packSkills({
      settings,
      skills,
      ...(given['dry-run'] === true ? {} : { out }),
      force: given.force === true,
      allowSecrets: given['allow-secrets'] === true,
      signal,
      onProgress: ({ step, done, total }) =>
        progress.show(
          `${step === 'read' ? 'reading' : 'packing'} ${String(done)}${total === undefined ? '' : ` of ${String(total)}`}`,
        ),
    });
    report(invocation, accepted(await packing.finally(() => progress.end())), out);
    return EXIT.done;
  },
});

type PackInvocation = Invocation<typeof flags>;

/** An existing folder takes precedence over a skill of that name. */
async function chosenSkills(invocation: PackInvocation, cwd: string): Promise<readonly SkillToPack[]> {
  const skills: SkillToPack[] = [];
  const words = invocation.positionals.length === 0 ? [defaultFolder(cwd)] : invocation.positionals;
  for (const word of words) {
    const folder = path.resolve(cwd, word);
    const place = isDirectory(folder) || /^[.~]|[/\\]/.test(word) ? folder : await findSkillFolder(invocation, word);
    if (place === undefined)
      throw problemError(packRefusal('pack/unknown-skill', `${quoted(word)} is neither a folder nor a known skill`));
    skills.push(...accepted(skillsToPack(place)));
  }
  return skills;
}

/** The current folder if it is or contains a skill, otherwise the folder that `new` and `install` use. */
function defaultFolder(cwd: string): string {
  if (!('type' in skillsToPack(cwd))) return cwd;
  const own = skillsFolder(projectTop({ cwd, home: undefined }) ?? cwd);
  return isDirectory(own) ? own : cwd;
}

async function findSkillFolder(invocation: PackInvocation, name: string): Promise<string | undefined> {
  return resolveSkill((await openRuntime(invocation)).index, name)?.dir;
}

/** The current folder; inside a skill its parent, so that the pack is not part of the next pack. */
function defaultOut(skills: readonly SkillToPack[], cwd: string): string {
  const here = realPath(cwd);
  const around = skills.find(({ dir }) => isInside(here, dir));
  return path.join(around === undefined ? cwd : path.dirname(around.dir), packName(skills));
}

function report({ terminal }: PackInvocation, built: BuiltPack, out: string): void {
  const { bytes, sha256, files, leftOut, manifest } = built;
  const done = built.path !== undefined;
  const skills = manifest.skills.map(({ name, version = null, digest, files: all }) => ({
    name,
    version,
    digest,
    files: Object.keys(all).length,
  }));
  if (terminal.printJson({ ok: true, done, path: out, bytes, sha256, files, skills, leftOut })) return;
  terminal.remark([
    ...skills.map(
      ({ name, version, digest, files: count }) =>
        `${name}  ${printable(version ?? '-')}  ${String(count)} files  ${digest}`,
    ),
    ...leftOut.slice(0, MAX_LEFT_OUT).map((line) => terminal.style('dim', `skipped ${printable(line)}`)),
  ]);
  if (leftOut.length > MAX_LEFT_OUT)
    terminal.remark(terminal.style('dim', `skipped ${String(leftOut.length - MAX_LEFT_OUT)} more`));
  terminal.remark(`${done ? 'packed' : 'would pack'} ${String(files)} files, ${bytesText(bytes)}`);
  terminal.out(`${sha256}  ${printable(out)}`);
}

const MAX_LEFT_OUT = 20;
