import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { landlockVersion } from '../../../src/sandbox/executors/landlock/version.ts';
import { CERTIFICATE, KEY } from '../../project/network/certificate.ts';
import { scratch } from '../../skills/registry/support.ts';
import { openIndex, openRegistry } from './package-index.ts';
import { PACKAGES, SCRIPT, failedWith, open, type Setting } from './package-session.ts';
import { has, needs } from '../../needs.ts';

describe('packages of a script', needs('bubblewrap', 'pip'), () => {
  test.each([
    ['namespaces', has('namespaces')],
    ['landlock', landlockVersion() >= 4],
  ] as const)('work under %s too', async (executor, isHere) => {
    if (!isHere) return console.log(`skipped: ${executor} does not work here`);
    const index = await openIndex(PACKAGES);
    const registry = await openRegistry({ paper: { version: '1.0.0', files: { 'index.js': 'exports.value = 7;\n' } } });
    const files = {
      'use.py': SCRIPT,
      'use.mjs': "import paper from 'paper';\nconsole.log('module', paper.value);\n",
      'use.cjs': "console.log('common', require('paper').value);\n",
    };
    const { run } = await open({
      executor,
      index: index.url,
      registry: registry.url,
      files,
      packages: { with: ['pdf-reader', 'npm:paper'] },
    });
    const outputs: unknown[] = [];
    for (const script of ['use.py', 'use.mjs', 'use.cjs']) {
      const ran = await run(script);
      outputs.push(ran.type === 'program-ran' ? ran.result.stdout + ran.result.stderr : ran);
    }
    expect(outputs).toEqual(['value 42\ntool 42\n', 'module 7\n', 'common 7\n']);
  });

  test('an index behind a certificate authority of the user is trusted by its setting only, and the error names it', async () => {
    const file = path.join(scratch(), 'company.pem');
    writeFileSync(file, `${KEY}\n${CERTIFICATE}`);
    const index = await openIndex(PACKAGES, { secure: true });
    const registry = await openRegistry({ paper: { version: '1.0.0', files: { 'index.js': '' } } }, { secure: true });
    const files = { 'use.py': SCRIPT, 'use.mjs': "import 'paper';\nconsole.log('paper');\n" };
    const python = { index: index.url, files, packages: { with: ['pdf-reader'] } };
    const node = { registry: registry.url, files, packages: { with: ['npm:paper'] } };
    const outcome = async (given: Setting, script: string): Promise<unknown> => {
      const ran = await (await open(given)).run(script);
      return ran.type === 'program-ran' ? ran.result.stdout : failedWith(ran);
    };
    expect([await outcome(python, 'use.py'), await outcome(node, 'use.mjs')]).toEqual([
      {
        code: 'packages/unavailable',
        message: expect.stringContaining('/simple is not trusted (CERTIFICATE_VERIFY_FAILED)'),
      },
      {
        code: 'packages/unavailable',
        message: expect.stringContaining('/ is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT)'),
      },
    ]);
    const withPip = { ...python, env: { PIP_CERT: file } };
    const withNpm = { ...node, env: { npm_config_cafile: file } };
    expect([await outcome(withPip, 'use.py'), await outcome(withNpm, 'use.mjs')]).toEqual([
      'value 42\ntool 42\n',
      'paper\n',
    ]);
  });
});
