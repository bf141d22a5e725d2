import os from 'node:os';

import { printable } from '#core';
import { findOutdated, type OutdatedSkill } from '#packs';
import { toggle } from '../command.ts';
import { EXIT } from '../exit.ts';
import { openSkillAgents } from './agent-flags.ts';
import { ROOT_FLAGS, accepted, completeChange, definePackCommand, readingSettings } from './pack-command.ts';
import { openProgress } from '../terminal/progress.ts';
import type { Style, Terminal } from '../terminal/terminal.ts';
import { padText } from '#platform';

export const command = definePackCommand({
  usage: 'outdated [NAME...] [--scope project|user] [--offline]',
  details: [
    'Compares installed skills with their sources and changes nothing. A repository is fetched only if its commit changed; other sources are fetched into a temporary folder.',
    'Exit code 0: every skill is current or pinned; 1: a skill is outdated, gone, or could not be checked.',
  ].join('\n'),
  flags: { ...ROOT_FLAGS, offline: toggle('use no network') },
  examples: [
    ['skillwright outdated', 'check every skill of this project'],
    ['skillwright outdated pdf-forms --json', 'print JSON for a script'],
  ],
  positionals: [0, Number.POSITIVE_INFINITY],
  async run(invocation) {
    const { flags, positionals: names, terminal, signal } = invocation;
    const settings = await readingSettings(invocation);
    await completeChange(invocation, settings.root);
    const progress = openProgress(terminal);
    const looking = findOutdated({
      settings,
      names,
      workFolder: os.tmpdir(),
      offline: flags.offline === true,
      signal,
      onProgress: (done, total) => progress.show(`checking source ${String(done + 1)} of ${String(total)}`),
    });
    const { root, skills, isCurrent } = accepted(await looking.finally(() => progress.end()));
    const agents = openSkillAgents(settings, terminal);
    const answer = {
      ok: isCurrent,
      root,
      skills: skills.map(({ name, locked: { source }, outdated }) => ({
        name,
        source,
        agents: agents.all(name),
        ...outdated,
      })),
    };
    if (!terminal.printJson(answer)) {
      const width = Math.max(4, ...skills.map(({ name }) => name.length));
      terminal.out(skills.map((skill) => `${formatLine(skill, width, terminal)}${agents.text(skill.name)}`));
      if (skills.some(({ outdated }) => outdated.status === 'outdated'))
        terminal.remark(terminal.style('dim', 'see the changes with skillwright update --dry-run'));
    }
    return isCurrent ? EXIT.done : EXIT.failed;
  },
});

const STYLES: Readonly<Record<OutdatedSkill['outdated']['status'], Style>> = {
  current: 'green',
  pinned: 'green',
  outdated: 'yellow',
  gone: 'red',
  unknown: 'red',
};

/** `tables    outdated  1.0.0 → 1.1.0  the source has version "1.1.0"` */
function formatLine({ name, outdated }: OutdatedSkill, width: number, { style }: Terminal): string {
  const versions =
    outdated.status === 'outdated'
      ? [outdated.from, outdated.to].map(({ version, revision }) => version ?? revision?.slice(0, 12)).filter(isKnown)
      : [];
  const step = versions.length === 2 ? `${versions.map((text) => printable(text)).join(' → ')}  ` : '';
  const status = style(STYLES[outdated.status], padText(outdated.status, 8));
  return `${padText(printable(name), width)}  ${status}  ${step}${outdated.reason}`;
}

function isKnown(text: string | undefined): text is string {
  return text !== undefined;
}
