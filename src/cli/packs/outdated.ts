import { printable } from '#core';
import { accepted, findOutdated } from '#packs';
import { toggle } from '../command.ts';
import { EXIT } from '../exit.ts';
import { openSkillAgents } from './agent-flags.ts';
import { ROOT_FLAGS, definePluginCommand, readingSettings, rootOptions, withProgress } from './pack-command.ts';
import { padText } from '#platform';

export const command = definePluginCommand({
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
    const { flags, positionals: names, terminal } = invocation;
    const settings = await readingSettings(invocation);
    const looking = await withProgress(invocation, (show) =>
      findOutdated({
        ...rootOptions(invocation, settings),
        names,
        offline: flags.offline === true,
        onProgress: (done, total) => show({ step: 'checking source', done: done + 1, total }),
      }),
    );
    const { root, skills, isCurrent } = accepted(looking);
    const agents = openSkillAgents(settings, terminal);
    const answer = {
      ok: isCurrent,
      root,
      skills: skills.map(({ name, locked, outdated }) => {
        return { name, source: locked.source, agents: agents.all(name), ...outdated };
      }),
    };
    if (!terminal.printJson(answer)) {
      const width = Math.max(4, ...skills.map(({ name }) => name.length));
      for (const { name, outdated } of skills) {
        // `tables    outdated  1.0.0 → 1.1.0  the source has version "1.1.0"`
        const versions = outdated.status === 'outdated' ? [outdated.from, outdated.to].flatMap(shownVersion) : [];
        const step = versions.length === 2 ? `${versions.join(' → ')}  ` : '';
        const status = terminal.style(STYLES[outdated.status], padText(outdated.status, 8));
        terminal.out(`${padText(printable(name), width)}  ${status}  ${step}${outdated.reason}${agents.text(name)}`);
      }
      if (skills.some(({ outdated }) => outdated.status === 'outdated'))
        terminal.remark(terminal.style('dim', 'see the changes with skillwright update --dry-run'));
    }
    return isCurrent ? EXIT.done : EXIT.failed;
  },
});

const STYLES = { current: 'green', pinned: 'green', outdated: 'yellow', gone: 'red', unknown: 'red' } as const;

function shownVersion({ version, revision }: Partial<Record<'version' | 'revision', string>>) {
  const shown = version ?? revision?.slice(0, 12);
  return shown === undefined ? [] : [printable(shown)];
}
