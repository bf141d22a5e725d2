import path from 'node:path';

import {
  formatPackComment,
  packRefusal,
  readManifestOfPack,
  readPackManifest,
  SIGNATURE_SUFFIX,
  signPack,
} from '#packs';
import { printable, problemError, quoted } from '#core';
import { option, toggle } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { surroundingsFor } from '../surroundings.ts';
import { KEY_FLAGS, openKey } from './signing-key.ts';
import { accepted, definePackCommand } from './pack-command.ts';

const flags = {
  ...KEY_FLAGS,
  output: option('FILE', 'write the signature to FILE (default: PACK.minisig)', { short: 'o' }),
  force: toggle('overwrite an existing signature'),
  'dry-run': toggle('do everything except writing'),
} as const;

export const command = definePackCommand({
  usage: 'sign PACK --key FILE [--password-file FILE] [--output FILE]',
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
    const { flags: given, positionals, terminal } = invocation;
    if (given.key === undefined) throw new UsageError('missing flag: --key', 'usage: skillwright sign PACK --key FILE');
    const { cwd } = surroundingsFor(given);
    const file = path.resolve(cwd, positionals[0] ?? '');
    const reading = accepted(file.endsWith('.json') ? readPackManifest(file) : await readManifestOfPack(file));
    if (reading.type !== 'manifest')
      throw problemError(
        packRefusal(
          'pack/manifest',
          `${quoted(file, 200)} has no skillwright manifest; create the pack with skillwright pack`,
        ),
      );
    const key = await openKey(path.resolve(cwd, given.key), { ...invocation, cwd });
    const out = given.output === undefined ? `${file}${SIGNATURE_SUFFIX}` : path.resolve(cwd, given.output);
    const isDry = given['dry-run'] === true;
    const options = { file, manifest: reading.manifest, key, out, force: given.force === true, dryRun: isDry };
    const { keyId, comment } = accepted(signPack(options));
    if (!terminal.printJson({ ok: true, done: !isDry, path: out, keyId, comment })) {
      terminal.remark(formatPackComment(comment));
      terminal.out(`${isDry ? 'would sign' : 'signed'} with ${keyId}: ${printable(out)}`);
    }
    return EXIT.done;
  },
});
