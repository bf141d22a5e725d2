/** Our keys and signatures with the program minisign, both ways. Where it is not installed the tests say so. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { parsePublicKey, openSecretKey } from '../../../src/packs/sign/minisign.ts';
import { writeNewKey } from '../../../src/packs/sign/keys.ts';
import { signPack, verifySignature } from '../../../src/packs/sign/sign.ts';
import { scratch } from '../../skills/registry/support.ts';
import { ENCRYPTED } from './minisign-answers.ts';
import { packed, plantDemo, skillsIn } from './pack-world.ts';
import { needs } from '../../needs.ts';

const PASSWORD = 'correct horse';
/** Known keys show that the usual cost is read as well; it takes seconds each time. */
const CHEAP = { opsLimit: 32_768, memLimit: 16 * 1024 * 1024 };

function minisign(args: readonly string[], input = ''): { readonly status: number | null; readonly text: string } {
  const { status, stdout, stderr } = spawnSync('minisign', args, { encoding: 'utf8', input, timeout: 170_000 });
  return { status, text: `${stdout}${stderr}` };
}

async function world(): Promise<{ base: string; file: string; manifest: Parameters<typeof signPack>[0]['manifest'] }> {
  const base = scratch();
  plantDemo(base);
  const file = path.join(base, 'demo.zip');
  const { manifest } = await packed({ skills: skillsIn(base, 'demo'), out: file });
  return { base, file, manifest };
}

describe('the program minisign', needs('minisign'), () => {
  test.each([undefined, PASSWORD])(
    'verifies what we signed, and signs with our key (password: %s)',
    async (password) => {
      const { base, file, manifest } = await world();
      const made = await writeNewKey(
        { folder: base, name: 'mine' },
        password === undefined ? {} : { password, cost: CHEAP },
      );
      if (made.type === 'refused') throw new Error(made.message);
      const key = await openSecretKey(readFileSync(made.secretFile, 'utf8'), password);
      if (key.type === 'invalid') throw new Error(key.reason);
      const signed = signPack({ file, manifest, key });
      if (signed.type === 'refused') throw new Error(signed.message);

      const verified = minisign(['-V', '-H', '-m', file, '-p', made.publicFile]);
      expect([verified.status, verified.text]).toEqual([0, expect.stringContaining('name=demo version=1.0.0')]);

      const theirs = path.join(base, 'theirs.minisig');
      const signing = minisign(
        ['-S', '-s', made.secretFile, '-m', file, '-x', theirs, '-t', 'hello'],
        `${password ?? ''}\n`,
      );
      expect([signing.status, signing.text]).toEqual([0, expect.any(String)]);
      const pinned = parsePublicKey(made.publicText);
      if (pinned.type === 'invalid') throw new Error(pinned.reason);
      const keys = [{ name: 'mine', key: pinned, at: '' }];
      expect(verifySignature({ payload: { file }, signature: readFileSync(theirs, 'utf8'), keys })).toMatchObject({
        type: 'verified',
        trustedComment: 'hello',
      });

      writeFileSync(file, Buffer.concat([readFileSync(file), Buffer.from('x')]));
      expect(minisign(['-V', '-m', file, '-p', made.publicFile]).status).toBe(1);
    },
  );

  test('makes keys that we sign with', async () => {
    const { base, file, manifest } = await world();
    const [secretFile, publicFile] = [path.join(base, 'their.key'), path.join(base, 'their.pub')];
    expect(minisign(['-G', '-W', '-s', secretFile, '-p', publicFile]).status).toBe(0);
    const key = await openSecretKey(readFileSync(secretFile, 'utf8'));
    if (key.type === 'invalid') throw new Error(key.reason);
    expect(signPack({ file, manifest, key })).toMatchObject({ type: 'signed' });
    expect(minisign(['-V', '-H', '-m', file, '-p', publicFile]).status).toBe(0);
  });
});

test('an encrypted key that the program made is opened', async () => {
  expect(await openSecretKey(ENCRYPTED.secretText, ENCRYPTED.password)).toMatchObject({
    type: 'signing-key',
    id: ENCRYPTED.id,
  });
});
