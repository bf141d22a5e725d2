import path from 'node:path';

import { countText, printable } from '#core';
import { packWords, writeMarketplace } from '#packs';
import { resolveSkill } from '#skills';
import { option, toggle } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import { openRuntime } from '../open-runtime.ts';
import { definePackCommand, settingsFor, withProgress } from './pack-command.ts';
import { bytesText } from '../terminal/quantities.ts';

const flags = {
  out: option('FILE', 'write the pack to FILE (default: NAME-VERSION.zip, or skills.zip for several skills)', {
    short: 'o',
    formerly: 'output',
  }),
  force: toggle('overwrite an existing file'),
  'dry-run': toggle('print what would be packed without writing'),
  'allow-secrets': toggle('pack files that look like secrets'),
  plugin: option('NAME', 'pack the skills as an Agent Plugin, NAME or NAME@VERSION'),
  marketplace: option(
    'NAME',
    'pack nothing: write .claude-plugin/marketplace.json for the skills and plugins of FOLDER',
  ),
} as const;

export const command = definePackCommand({
  usage: 'pack [FOLDER|NAME...] [--plugin NAME] [--out FILE] [--force] [--dry-run] | pack [FOLDER] --marketplace NAME',
  details: [
    'Packs skills into a zip with a manifest.json that lists the SHA-256 of every file. FOLDER is a skill or a folder of skills (default: the current folder); NAME is a skill from skillwright list. The same skills give the same bytes on every machine.',
    'A folder with a plugin.json of Agent Plugins is packed as a plugin. With --marketplace, agents and install find the skills of a repository as plugins.',
    'Skips files that .skillignore and .gitignore name. Refuses skills that violate the specification or contain what looks like a secret.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright pack ./pdf-forms', 'write pdf-forms-1.2.0.zip'],
    ['skillwright pack pdf-forms csv-report -o office.skill', 'pack two skills by name'],
    ['skillwright pack ./skills --plugin office@1.0.0', 'write office-1.0.0.zip, an Agent Plugin'],
    ['skillwright pack . --marketplace acme', 'let agents install the skills of this repository'],
    ['skillwright pack . --dry-run', 'print what would be packed'],
  ],
  positionals: [0, Number.POSITIVE_INFINITY],
  async run(invocation) {
    const { flags: options, positionals: words, terminal, signal } = invocation;
    const settings = await settingsFor(invocation);
    if (options.marketplace !== undefined) {
      if (words.length > 1 || options.plugin !== undefined || options.out !== undefined)
        throw usageError('--marketplace takes one FOLDER and no --plugin or --out', 'see skillwright pack --help');
      const written = writeMarketplace(path.resolve(settings.surroundings.cwd, words[0] ?? '.'), {
        name: options.marketplace,
        force: options.force === true,
        dryRun: options['dry-run'] === true,
      });
      const isWritten = options['dry-run'] !== true;
      if (terminal.printJson({ ok: true, done: isWritten, ...written })) return EXIT.done;
      for (const { name, source, skills = [] } of written.plugins)
        terminal.remark(
          `${name}  ${printable(source)}${skills.length === 0 ? '' : `  ${countText(skills.length, 'skill')}`}`,
        );
      terminal.out(`${isWritten ? 'wrote' : 'would write'} ${printable(written.file)}`);
      return EXIT.done;
    }
    const built = await withProgress(invocation, (show) =>
      packWords({
        settings,
        words,
        output: options.out,
        plugin: options.plugin,
        dryRun: options['dry-run'] === true,
        force: options.force === true,
        allowSecrets: options['allow-secrets'] === true,
        findSkill: async (name) => resolveSkill((await openRuntime(invocation)).index, name)?.dir,
        signal,
        onProgress: ({ step, done, total }) => show({ step: step === 'read' ? 'reading' : 'packing', done, total }),
      }),
    );
    const { bytes, sha256, files, leftOut, manifest, out } = built;
    const done = built.path !== undefined;
    const skills = manifest.skills.map(({ name, version = null, digest, files: all }) => {
      return { name, version, digest, files: Object.keys(all).length };
    });
    if (terminal.printJson({ ok: true, done, path: out, bytes, sha256, files, skills, leftOut })) return EXIT.done;
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
    return EXIT.done;
  },
});

const MAX_LEFT_OUT = 20;
