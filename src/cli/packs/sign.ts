import path from 'node:path';

import { signPackFile } from '#packs';
import { printable } from '#core';
import { option, toggle } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import { KEY_FLAGS, chooseKey } from './signing-key.ts';
import { definePackCommand } from './pack-command.ts';

const flags = {
  ...KEY_FLAGS,
  out: option('FILE', 'write the signature to FILE (default: PACK.minisig)', { short: 'o', formerly: 'output' }),
  force: toggle('overwrite an existing signature'),
  'dry-run': toggle('do everything except writing'),
} as const;

export const command = definePackCommand({
  usage: 'sign PACK --key FILE [--password-file FILE] [--out FILE]',
  details: [
    'Signs a pack, or the manifest.json of a folder, and writes PACK.minisig. The format is minisign; the trusted comment lists every skill with its version, the SHA-256 of the pack and the time. Every skill needs metadata.version.',
    'Users who pinned your public key (skillwright keys add) verify it with skillwright verify PACK --signature.',
  ].join('\n'),
  flags,
  examples: [
    [
      'skillwright sign pdf-forms-1.2.0.zip --key ~/.agent/keys/work.key',
      'sign a pack; asks for the password of the key',
    ],
    ['skillwright sign pack.zip --key ci.key --password-file ci.pass', 'sign without a prompt, e.g. in CI'],
  ],
  positionals: [1, 1],
  async run(invocation) {
    const { flags: options, positionals, terminal } = invocation;
    if (options.key === undefined) throw usageError('missing flag: --key', 'usage: skillwright sign PACK --key FILE');
    const { cwd } = invocation.surroundings;
    const file = path.resolve(cwd, positionals[0] ?? '');
    const isDry = options['dry-run'] === true;
    const signed = await signPackFile({
      file,
      key: chooseKey(options.key, cwd, invocation),
      out: options.out === undefined ? undefined : path.resolve(cwd, options.out),
      force: options.force === true,
      dryRun: isDry,
    });
    const { keyId, comment, line, path: out } = signed;
    if (!terminal.printJson({ ok: true, done: !isDry, path: out, keyId, comment })) {
      terminal.remark(line);
      terminal.out(`${isDry ? 'would sign' : 'signed'} with ${keyId}: ${printable(out)}`);
    }
    return EXIT.done;
  },
});
