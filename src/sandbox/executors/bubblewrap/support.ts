import { DEFAULT_LIMITS, isSkillError, printable } from '#core';
import { isPresent } from '#platform';
import { unavailable } from '../linux/unavailable.ts';
import { NEEDED_OPTIONS } from './arguments.ts';
import { textSink } from '../output-sinks.ts';
import { runChild } from '../../process/child-process.ts';
import type { Identity } from '../../program-types.ts';

const HELP_MS = 10_000;
const MAX_HELP = 64 * 1024;
const MAX_SHOWN = 300;
export const INSTALL_BUBBLEWRAP = 'apt-get install bubblewrap';
const REINSTALL_BUBBLEWRAP = 'apt-get install --reinstall bubblewrap';

const LOCATIONS = ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap', '/run/current-system/sw/bin/bwrap'];

/** Searches fixed locations instead of `PATH`: a program named bwrap in a project must not become the sandbox. */
export function findBubblewrap(): string | undefined {
  return LOCATIONS.find((file) => isPresent(file));
}

/** Throws `executor/unavailable` where bubblewrap is missing, does not start or lacks an option that the profile needs. */
export async function checkInstalled(
  command: string | undefined,
  { identity, isKnown }: { readonly identity: Identity | undefined; readonly isKnown: boolean },
): Promise<void> {
  if (command === undefined || !isPresent(command))
    throw unavailable('bubblewrap', ['bubblewrap is not installed'], INSTALL_BUBBLEWRAP);
  if (isKnown) return;
  const { help, failure } = await readHelp(command, identity);
  if (failure !== undefined)
    throw unavailable('bubblewrap', [`${command} does not start: ${failure}`], REINSTALL_BUBBLEWRAP);
  const offered = new Set(help.match(/--[a-z0-9-]+/g));
  const missing = NEEDED_OPTIONS.filter((option) => !offered.has(option));
  if (missing.length > 0)
    throw unavailable(
      'bubblewrap',
      [`${command} is too old: it lacks ${missing.join(', ')}`],
      `${INSTALL_BUBBLEWRAP} (0.8 or newer)`,
    );
}

/** What `--help` prints, with the reason if the program is broken or made for another machine. */
async function readHelp(
  command: string,
  identity: Identity | undefined,
): Promise<{ readonly help: string; readonly failure?: string }> {
  const sink = textSink();
  try {
    const end = await runChild(
      {
        argv: [command, '--help'],
        cwd: '/',
        env: {},
        executor: 'bubblewrap',
        identity,
      },
      {
        stdin: new Uint8Array(),
        limits: { ...DEFAULT_LIMITS, wallMs: HELP_MS, outputBytes: MAX_HELP },
        streams: { stdout: sink, stderr: sink },
      },
    );
    const help = sink.text();
    if (end.reason === 'exited' && end.exitCode === 0) return { help };
    const said = printable(help.trim().split('\n')[0] ?? '').slice(0, MAX_SHOWN);
    const ended = end.reason === 'exited' ? `exit code ${String(end.exitCode)}` : (end.signal ?? end.reason);
    return { help, failure: said === '' ? ended : `${ended}: ${said}` };
  } catch (error) {
    if (!isSkillError(error)) throw error;
    return { help: '', failure: error.message };
  }
}
