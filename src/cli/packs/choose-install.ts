/** Asks at the terminal which skills of a source to install, and which agents get links to them. */
import path from 'node:path';

import { compareText } from '../../core/diagnostic.ts';
import { printable } from '../../core/text/text.ts';
import { detectAgents } from '../../packs/agents/agents.ts';
import { placeTargets } from '../../packs/agents/place-targets.ts';
import type { PlaceTarget } from '../../packs/agents/place-targets.ts';
import type { SkillChoice, SkillOffer } from '../../packs/install.ts';
import type { PackSettings } from '../../packs/pack-settings.ts';
import { projectTop } from '../../runtime/skill-trust.ts';
import { askStreams } from '../terminal/ask.ts';
import { chooseMany } from '../terminal/choose.ts';
import type { Terminal } from '../terminal/terminal.ts';

export interface ChooseInstallOptions {
  /** As the user typed it. */
  readonly source: string;
  readonly settings: PackSettings;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  /** False if the command line names the agents. */
  readonly asksAgents: boolean;
}

/** Undefined if the user cancels. Throws the abort reason after Ctrl-C. */
export async function chooseInstall(
  offer: SkillOffer,
  options: ChooseInstallOptions,
): Promise<SkillChoice | undefined> {
  const folders = await chooseSkills(offer, options);
  if (folders === undefined || !options.asksAgents) return folders === undefined ? undefined : { folders };
  const targets = await chooseAgents(options);
  return targets === undefined ? undefined : { folders, targets };
}

/** A source with a single skill needs no list. Refused skills are shown with the reason. */
async function chooseSkills(
  { ready, refused }: SkillOffer,
  { source, terminal, signal }: ChooseInstallOptions,
): Promise<readonly string[] | undefined> {
  if (ready.length + refused.length === 1) return ready.map(({ folder }) => folder);
  const choices = [
    ...ready.map(({ name, description, folder }) => ({ label: name, about: description, folder })),
    ...refused.map(({ name, refusal }) => ({
      label: name,
      folder: undefined,
      unavailable: `refused: ${refusal.message}`,
    })),
  ].toSorted((a, b) => compareText(a.label, b.label));
  const title = `Select the skills to install from ${source}`;
  const selected = await chooseMany(askStreams(process), { title, choices, signal });
  // Ctrl-C ends the command, Esc only the selection.
  signal.throwIfAborted();
  const chosen = selected?.flatMap((at) => choices[at] ?? []);
  if (chosen !== undefined) terminal.remark(`skills: ${chosen.map(({ label }) => printable(label)).join(', ')}`);
  return chosen?.flatMap(({ folder }) => folder ?? []);
}

/** Asks only about detected agents that do not read the root themselves. */
async function chooseAgents({
  settings: { root, surroundings },
  terminal,
  signal,
}: ChooseInstallOptions): Promise<readonly PlaceTarget[] | undefined> {
  const detected = detectAgents(surroundings, projectTop(surroundings)).map(({ agent }) => agent);
  const targets = placeTargets(detected, [], { root, surroundings });
  // A folder that cannot get links is reported when its agent is named.
  if ('type' in targets) return [];
  const choices = targets
    .filter(({ isRoot }) => !isRoot)
    .map((target) => ({
      label: target.agents.join(', '),
      about: path.relative(surroundings.cwd, target.folder) || target.folder,
      isSelected: true,
      target,
    }));
  if (choices.length === 0) return [];
  const readers = targets.filter(({ isRoot }) => isRoot).flatMap(({ agents }) => agents);
  const others = readers.length === 0 ? '' : ` (already read by ${readers.join(', ')})`;
  const title = `Select the agents that get links to the skills${others}`;
  const selected = await chooseMany(askStreams(process), { title, choices, mayBeEmpty: true, signal });
  signal.throwIfAborted();
  const chosen = selected?.flatMap((at) => choices[at] ?? []);
  if (chosen !== undefined)
    terminal.remark(`agents: ${[...readers, ...chosen.map(({ label }) => label)].join(', ') || 'none'}`);
  return chosen?.map(({ target }) => target);
}
