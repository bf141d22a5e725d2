/** Runs a checker script in the sandbox of a run, without network and with a deadline. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { DEFAULT_LIMITS } from '#core';
import { copyTree, isSystemError } from '#platform';
import { scriptCommand, programEnvironment } from '#sandbox';
import type { Session } from '#runtime';
import type { CheckerCheck, CheckerEnd } from '../grade/checker.ts';

interface CheckerRun {
  readonly execution: NonNullable<Session['execution']>;
  /** The checker gets a copy of the project in `PROJECT_DIR`. */
  readonly project: string;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

const SAID_BYTES = 4096;

/** The checker starts in the root of the workspace, above `out/`. It is not recorded, since the record covers the agent only. */
export async function runChecker(check: CheckerCheck, run: CheckerRun): Promise<CheckerEnd> {
  try {
    return await runInWorkspace(check, run);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return { type: 'broken', reason: `cannot copy the checker into the sandbox: ${error.code}` };
  }
}

async function runInWorkspace(check: CheckerCheck, run: CheckerRun): Promise<CheckerEnd> {
  const workspace = await run.execution.openWorkspace();
  const { attached, place } = workspace;
  const { path: folder } = workspace.newRunFolder();
  const [here, there] = [path.join(place.root, folder), `${attached.root}/${folder}`];
  const bytes = readFileSync(check.script);
  const name = path.basename(check.script);
  writeFileSync(path.join(here, name), bytes, { flag: 'wx', mode: 0o755 });
  const copied = await copyTree(run.project, {
    to: path.join(here, 'project'),
    permissions: 'writable',
    // The sandbox user must be able to read the copy.
    owner: workspace.identity,
  });
  if (copied.type === 'refused') return toBrokenEnd(`cannot copy the project into the sandbox: ${copied.message}`);
  const command = scriptCommand({ path: `${there}/${name}`, bytes, isExecutable: true }, check.arguments);
  if (command.type === 'refused') return toBrokenEnd(command.failure.message);
  const home = workspace.homeOf(undefined);
  const environment = programEnvironment({
    root: attached.root,
    runFolder: folder,
    home,
    declared: { PROJECT_DIR: `${there}/project` },
    programFolders: run.execution.packages.mount({ layers: [], warnings: [] }, attached.root).programFolders,
  });
  if (environment.type === 'refused') return toBrokenEnd(environment.failure.message);
  const output = keptStart();
  const spec = {
    argv: command.argv,
    cwd: '.',
    env: environment.env,
    stdin: new Uint8Array(),
    limits: { ...DEFAULT_LIMITS, wallMs: run.deadlineMs },
    network: [],
    home,
  };
  const { reason, exitCode } = await attached.run(spec, { stdout: output, stderr: output, signal: run.signal });
  if (reason === 'exited' && exitCode !== undefined) return { type: 'exited', code: exitCode, output: output.text() };
  return toBrokenEnd(reason === 'timeout' ? 'the checker timed out' : `the checker was terminated: ${reason}`);
}

function toBrokenEnd(reason: string): CheckerEnd {
  return { type: 'broken', reason };
}

/** Keeps the first bytes of the output and discards the rest. */
function keptStart(): { write(chunk: Uint8Array): boolean; text(): string } {
  const chunks: Uint8Array[] = [];
  let size = 0;
  return {
    write(chunk) {
      if (size < SAID_BYTES) chunks.push(Uint8Array.from(chunk.subarray(0, SAID_BYTES - size)));
      size += chunk.length;
      return true;
    },
    text: () => Buffer.concat(chunks).toString('utf8'),
  };
}
