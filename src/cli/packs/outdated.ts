import os from 'node:os';

import { isRefusal } from '../../packs/problems.ts';
import { printable } from '../../core/text/text.ts';
import { findOutdated } from '../../packs/update/outdated.ts';
import type { OutdatedSkill } from '../../packs/update/outdated.ts';
import { defineCommand } from '../command.ts';
import { EXIT } from '../exit.ts';
import { jsonText } from '../json.ts';
import { PLACE_FLAGS, refuse, settingsFor } from './pack-flags.ts';
import { openProgress } from '../terminal/progress.ts';
import type { Style, Terminal } from '../terminal/terminal.ts';
import { padText } from '../../platform/text-width.ts';

export const command = defineCommand({
  usage: 'outdated [NAME...] [--scope project|user] [--offline]',
  details: [
    'Compares installed skills with what their sources have now, and changes nothing. A repository is asked for its commit first and only',
    'brought where that moved; other sources are brought into a temporary folder and looked at.',
    'Exit status 0: every skill is current or pinned; 1: one is outdated or gone, or could not be looked at.',
  ].join('\n'),
  flags: { ...PLACE_FLAGS, offline: { type: 'boolean', about: 'use nothing that is not on this machine' } },
  examples: [
    ['skillwright outdated', 'everything that is installed in this project'],
    ['skillwright outdated pdf-forms --json', 'for a script'],
  ],
  positionals: [0, Number.POSITIVE_INFINITY],
  async run(invocation) {
    const { flags, positionals: names, terminal, signal } = invocation;
    const settings = await settingsFor(invocation);
    if (isRefusal(settings)) return refuse(invocation, settings);
    const progress = openProgress(terminal);
    const found = await findOutdated({
      settings,
      names,
      workFolder: os.tmpdir(),
      offline: flags.offline === true,
      signal,
      onProgress: (done, total) => progress.show(`looking at source ${String(done + 1)} of ${String(total)}`),
    });
    progress.end();
    if (isRefusal(found)) return refuse(invocation, found);
    const { root, skills, isCurrent } = found;
    if (flags.json === true)
      terminal.out(
        jsonText({
          ok: isCurrent,
          root,
          skills: skills.map(({ name, locked: { source }, outdated }) => ({ name, source, ...outdated })),
        }),
      );
    else {
      const width = Math.max(4, ...skills.map(({ name }) => name.length));
      for (const skill of skills) terminal.out(lineOf(skill, width, terminal));
      if (skills.some(({ outdated }) => outdated.status === 'outdated'))
        terminal.remark(terminal.style('dim', 'skillwright update --dry-run shows what would change'));
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

/** `tables    outdated  1.0.0 → 1.1.0  the source has the version "1.1.0"` */
function lineOf({ name, outdated }: OutdatedSkill, width: number, { style }: Terminal): string {
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
