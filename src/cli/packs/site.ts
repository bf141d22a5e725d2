import path from 'node:path';

import { countText, printable } from '#core';
import { buildSite, skillsToPack, type BuiltSite, type PackRefusal } from '#packs';
import { option, type Invocation } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { openProgress } from '../terminal/progress.ts';
import { reportProblem } from '../terminal/terminal.ts';
import { accepted, definePackCommand, refusalStatus, settingsFor } from './pack-command.ts';
import { KEY_FLAGS, openKey } from './signing-key.ts';

const flags = {
  out: option('FOLDER', 'write the site to FOLDER (default: site)', { short: 'o' }),
  title: option('TEXT', 'title of the site (default: Skills)'),
  url: option('URL', 'address of the site, for the install commands on its pages'),
  ...KEY_FLAGS,
} as const;

export const command = definePackCommand({
  usage: 'site DIR... [--out FOLDER] [--title TEXT] [--url URL] [--key FILE]',
  details: [
    'Writes a static site that publishes skills: /.well-known/agent-skills/index.json with digests, which install https://... and other clients read, a pack of each skill, signatures with --key, and a page per skill. Upload the folder to any host.',
    'DIR is a skill or a folder of skills. Refuses skills that violate the specification, contain what looks like a secret, or that the scan stops. An earlier site in FOLDER is replaced; any other content is kept and refused.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright site ./skills', 'write the folder site'],
    ['skillwright site ./skills --out public --url https://skills.example.com', 'name the address on the pages'],
    ['skillwright site ./skills --key ci.key --password-file ci.pass', 'also sign the packs'],
    ['skillwright install https://skills.example.com', 'install from the uploaded site'],
  ],
  positionals: [1, Number.POSITIVE_INFINITY],
  async run(invocation) {
    const { flags: given, positionals, terminal, signal } = invocation;
    const settings = await settingsFor(invocation);
    const { cwd } = settings.surroundings;
    const url = given.url === undefined ? undefined : siteUrl(given.url);
    const skills = positionals.flatMap((folder) => accepted(skillsToPack(path.resolve(cwd, folder))));
    const key =
      given.key === undefined ? {} : { key: await openKey(path.resolve(cwd, given.key), { ...invocation, cwd }) };
    const progress = openProgress(terminal);
    const built = await buildSite({
      settings,
      skills,
      out: path.resolve(cwd, given.out ?? 'site'),
      title: given.title ?? 'Skills',
      url,
      ...key,
      signal,
      onProgress: (done, total) => progress.show(`publishing ${String(done)} of ${String(total)}`),
    });
    progress.end();
    return 'type' in built ? report(invocation, built) : refuseAll(invocation, built);
  },
});

type SiteInvocation = Invocation<typeof flags>;

/** The address as `install` takes it, without a trailing slash. */
function siteUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (
    url === undefined ||
    !/^https?:$/.test(url.protocol) ||
    url.search !== '' ||
    url.hash !== '' ||
    url.username !== ''
  )
    throw new UsageError(
      `--url is not the address of a site: ${printable(text)}`,
      'e.g. --url https://skills.example.com',
    );
  const address = url.href.replace(/\/+$/, '');
  // install takes other addresses with a path for repositories.
  return url.pathname === '/' ? address : `well-known:${address}`;
}

function report({ terminal }: SiteInvocation, { out, skills, keyId }: BuiltSite): number {
  if (
    terminal.printJson({
      ok: true,
      out,
      signedBy: keyId ?? null,
      skills: skills.map((skill) => ({ ...skill, version: skill.version ?? null })),
    })
  )
    return EXIT.done;
  for (const { name, version = '-', digest } of skills) terminal.remark(`${name}  ${printable(version)}  ${digest}`);
  terminal.remark(
    `${keyId === undefined ? 'not signed' : `signed with ${keyId}`}; upload the folder, hidden files included`,
  );
  terminal.out(`${countText(skills.length, 'skill')} in ${printable(out)}`);
  return EXIT.done;
}

/** Every skill that cannot be published is named, because the author fixes them together. */
function refuseAll({ terminal }: SiteInvocation, refusals: readonly PackRefusal[]): number {
  terminal.printJson({ ok: false, errors: refusals.map(({ code, message, hint }) => ({ code, message, hint })) });
  for (const { message, hint, code } of refusals) reportProblem(terminal, { message, hint, code });
  return Math.max(...refusals.map(refusalStatus));
}
