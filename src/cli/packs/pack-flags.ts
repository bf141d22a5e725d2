/** What the commands that change roots have in common: which root, who says yes, and how a refusal is said. */
import { isNotAllowed } from '../../packs/problems.ts';
import type { PackRefusal } from '../../packs/problems.ts';
import { INSTALL_SCOPES } from '../../core/config/config.ts';
import { printable } from '../../core/text/text.ts';
import { loadConfig, surroundingsOf } from '../../runtime/config/config.ts';
import { packSettings } from '../../packs/pack-settings.ts';
import type { PackSettings } from '../../packs/pack-settings.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { askStreams, confirm } from '../terminal/ask.ts';
import type { Flags, GlobalInvocation } from '../command.ts';
import { EXIT } from '../exit.ts';
import { jsonText } from '../json.ts';
import { openRuntime } from '../open-runtime.ts';
import { parseSettings } from '../arguments.ts';

export const PLACE_FLAGS = {
  scope: {
    type: 'string',
    value: 'SCOPE',
    choices: INSTALL_SCOPES,
    about: 'project: .agents/skills of this project; user: of the home folder',
  },
  to: { type: 'string', value: 'DIR', path: true, about: 'the root to change, instead of a scope' },
} as const satisfies Flags;

export const CHANGE_FLAGS = {
  ...PLACE_FLAGS,
  'dry-run': { type: 'boolean', about: 'show what would be done and change nothing' },
  yes: { type: 'boolean', short: 'y', about: 'do not ask' },
} as const satisfies Flags;

interface PlaceInvocation extends GlobalInvocation {
  readonly flags: GlobalInvocation['flags'] & { readonly scope?: string; readonly to?: string };
}

/** The root and the rules that hold for it, from flags and configuration. */
export async function settingsFor({ flags }: PlaceInvocation): Promise<PackSettings | PackRefusal> {
  const surroundings = surroundingsOf(flags.cwd === undefined ? {} : { cwd: flags.cwd });
  const given = await parseSettings(flags.set);
  const { config } = await loadConfig(
    surroundings,
    flags.config,
    given === undefined ? undefined : { config: given, where: '--set' },
  );
  const scope = INSTALL_SCOPES.find((known) => known === flags.scope);
  return packSettings(surroundings, config, { root: flags.to, scope });
}

/** Asks at the terminal; no where nobody is there. */
export function asker(
  { terminal, signal }: GlobalInvocation,
  isSaid: boolean | undefined,
): (what: string) => Promise<boolean> {
  return async (what) => {
    if (isSaid === true) return true;
    const said = await confirm(askStreams(process), `${printable(what)}?`, { signal });
    if (!said && !terminal.isInteractive) terminal.err('nobody can be asked here: say --yes');
    return said;
  };
}

/** Says why nothing was done, and gives the exit status. */
export function refuse(invocation: GlobalInvocation, refusal: PackRefusal): number {
  const { terminal, flags } = invocation;
  const { code, path, message, hint } = refusal;
  if (flags.json === true)
    terminal.out(jsonText({ ok: false, error: { code, message, hint, ...(path === undefined ? {} : { path }) } }));
  terminal.err(`${terminal.style('red', 'error')}: ${message} ${terminal.style('dim', code)}`);
  terminal.err(terminal.style('dim', `hint: ${hint}`));
  return refusalStatus(refusal);
}

/** The exit status of a refusal. */
export function refusalStatus(refusal: PackRefusal): number {
  return isNotAllowed(refusal) ? EXIT.refused : EXIT.failed;
}

/** Looks at the skills again after a change; its hash says which state that is. */
export async function refreshed(invocation: GlobalInvocation): Promise<Runtime> {
  const runtime = await openRuntime(invocation);
  if (invocation.flags.json !== true) invocation.terminal.remark(`index ${runtime.index.indexHash}`);
  return runtime;
}
