import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { onTestFinished } from 'vitest';

import type { Approve } from '../../../src/core/approval.ts';
import type { Config } from '../../../src/core/config/config.ts';
import type { ExecutorName } from '../../../src/core/execution.ts';
import type { Observation } from '../../../src/core/observation.ts';
import type { RunEvent } from '../../../src/core/run-events.ts';
import type { SessionPolicy } from '../../../src/policy/session-policy.ts';
import type { PackageOptions } from '../../../src/sandbox/environments/packages.ts';
import { executorCandidates } from '../../../src/sandbox/executors/find-executor.ts';
import { createRuntime, type Runtime } from '../../../src/runtime/runtime.ts';
import type { Session } from '../../../src/runtime/session.ts';
import { scratch, writeSkill } from '../../skills/registry/support.ts';
import { wheel } from './package-index.ts';

export const READER = wheel(
  'pdf_reader',
  '2.1',
  { 'pdf_reader/__init__.py': 'from base_lib import VALUE\n' },
  { needs: ['base-lib>=1'] },
);
export const BASE = wheel(
  'base_lib',
  '1.4',
  { 'base_lib.py': 'VALUE = 42\ndef main():\n    print("tool", VALUE)\n' },
  { scripts: ['base-tool=base_lib:main'] },
);
export const PACKAGES = { 'pdf-reader': [READER], 'base-lib': [BASE] };
export const SCRIPT =
  'import pdf_reader, subprocess\nprint("value", pdf_reader.VALUE, flush=True)\nsubprocess.run(["base-tool"])\n';
export const BLOCK = `# /// script\n# dependencies = ["pdf-reader>=2"]\n# ///\n${SCRIPT}`;

export interface Opened {
  readonly runtime: Runtime;
  readonly session: Session;
  readonly events: readonly RunEvent[];
  readonly home: string;
  readonly run: (script?: string, askedBy?: 'person' | 'model') => Promise<Observation>;
}

export interface Setting {
  readonly index?: string;
  readonly registry?: string;
  /** Default: bubblewrap. */
  readonly executor?: ExecutorName;
  readonly env?: Readonly<Record<string, string>>;
  readonly config?: Config;
  readonly files?: Readonly<Record<string, string>>;
  readonly packages?: PackageOptions;
  readonly approve?: Approve;
  readonly policy?: SessionPolicy;
  /** Continue with the folders of an earlier session. */
  readonly home?: string;
}

export async function open({
  index = 'http://127.0.0.1:9',
  files = { 'use.py': SCRIPT },
  ...given
}: Setting): Promise<Opened> {
  const home = given.home ?? scratch();
  const dir = path.join(home, 'skills', 'reader');
  if (given.home === undefined) {
    // Programs of another user have to reach the workspace.
    chmodSync(home, 0o755);
    writeSkill(dir, { body: '# reader\n' });
    mkdirSync(path.join(dir, 'scripts'));
    for (const [name, text] of Object.entries(files))
      writeFileSync(path.join(dir, name.includes('.txt') ? name : `scripts/${name}`), text);
  }
  const runtime = await createRuntime({
    cwd: home,
    home: undefined,
    env: {
      PIP_INDEX_URL: `${index}/simple`,
      TMPDIR: home,
      ...(given.registry === undefined ? {} : { npm_config_registry: `${given.registry}/` }),
      ...given.env,
    },
    config: given.config,
    roots: [path.join(home, 'skills')],
    onlyRoots: true,
    cache: false,
    vouched: [path.join(home, 'skills')],
  });
  const events: RunEvent[] = [];
  // Made here and not found by name, which would probe it first.
  const made = executorCandidates({ bridgeFolder: home }).find(({ name }) => name === (given.executor ?? 'bubblewrap'));
  const session = await runtime.startSession({
    execution: {
      executor: made?.make({ isKnown: true }) ?? 'bubblewrap',
      packages: given.packages,
    },
    record: (event) => void events.push(event),
    approve: given.approve,
    policy: given.policy,
  });
  onTestFinished(() => session.close());
  const run: Opened['run'] = (script = 'use.py', askedBy = 'person') =>
    session.perform({ type: 'run_script', skill: 'reader', script, args: [] }, { askedBy });
  return { runtime, session, events, home, run };
}

export const failedWith = (observation: Observation): unknown =>
  observation.type === 'failed'
    ? { code: observation.code, message: observation.message.replace(/^the script needs [^:]+\(--with\): /, '') }
    : observation.type;
