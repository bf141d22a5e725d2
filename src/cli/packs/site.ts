import path from 'node:path';

import { countText, printable } from '#core';
import { buildSite } from '#packs';
import { option } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import { reportProblem } from '../terminal/terminal.ts';
import { ACCEPT_FLAG, definePackCommand, refusalStatus, settingsFor, withProgress } from './pack-command.ts';
import { KEY_FLAGS, chooseKey } from './signing-key.ts';

const flags = {
  out: option('DIR', 'write the site to DIR (default: site)', { short: 'o' }),
  title: option('TEXT', 'title of the site (default: Skills)'),
  url: option('URL', 'address of the site, for the install commands on its pages'),
  ...ACCEPT_FLAG,
  ...KEY_FLAGS,
} as const;

export const command = definePackCommand({
  usage: 'site DIR... [--out DIR] [--title TEXT] [--url URL] [--key FILE]',
  details: [
    'Writes a static site that publishes skills: /.well-known/agent-skills/index.json with digests, which install https://... and other clients read, a pack of each skill, signatures with --key, and a page per skill. Upload the folder to any host.',
    'DIR is a skill, a folder of skills, or an Agent Plugin, which is also published as a whole in plugins/. Refuses skills that violate the specification, contain what looks like a secret, or that the scan stops. The files of an earlier site in FOLDER are replaced, and others in it stay; a folder that is not a site is refused.',
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
    const { flags: options, positionals, terminal, signal } = invocation;
    const settings = await settingsFor(invocation);
    const { cwd } = settings.surroundings;
    const url = options.url === undefined ? undefined : siteUrl(options.url);
    const built = await withProgress(invocation, (show) =>
      buildSite({
        settings,
        skills: positionals.map((folder) => path.resolve(cwd, folder)),
        out: path.resolve(cwd, options.out ?? 'site'),
        title: options.title ?? 'Skills',
        url,
        key: options.key === undefined ? undefined : chooseKey(options.key, cwd, invocation),
        signal,
        onProgress: (done, total) => show({ step: 'publishing', done, total }),
      }),
    );
    if (!('type' in built)) {
      // Every skill that cannot be published is named, because the author fixes them together.
      terminal.printJson({ ok: false, errors: built.map(({ code, message, hint }) => ({ code, message, hint })) });
      for (const { message, hint, code } of built) reportProblem(terminal, { message, hint, code });
      return Math.max(...built.map(refusalStatus));
    }
    const { out, skills, plugins, keyId } = built;
    const listed = skills.map((skill) => ({ ...skill, version: skill.version ?? null }));
    if (terminal.printJson({ ok: true, out, signedBy: keyId ?? null, skills: listed, plugins })) return EXIT.done;
    for (const { name, version = '-', digest } of [...plugins, ...skills])
      terminal.remark(`${name}  ${printable(version)}  ${digest}`);
    terminal.remark(
      `${keyId === undefined ? 'not signed' : `signed with ${keyId}`}; upload the folder, hidden files included`,
    );
    const also = plugins.length === 0 ? '' : ` and ${countText(plugins.length, 'plugin')}`;
    terminal.out(`${countText(skills.length, 'skill')}${also} in ${printable(out)}`);
    return EXIT.done;
  },
});

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
    throw usageError(`--url is not the address of a site: ${printable(text)}`, 'e.g. --url https://skills.example.com');
  const address = url.href.replace(/\/+$/, '');
  // install takes other addresses with a path for repositories.
  return url.pathname === '/' ? address : `well-known:${address}`;
}
