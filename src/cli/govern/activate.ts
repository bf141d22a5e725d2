import { AGENT_IDS, planActivation } from '#activation';
import { diffLines, printable } from '#core';
import { askStreams, confirm } from '../terminal/ask.ts';
import { defineCommand, list, toggle } from '../command.ts';
import { EXIT } from '../exit.ts';
import { reportProblem, showPlan, type Terminal } from '../terminal/terminal.ts';

export const command = defineCommand({
  usage: 'activate [--agent ID] [--dry-run] [--yes] | activate --remove',
  details: [
    'Adds a hook to the agents that you use. On each prompt the hook looks for skills that fit and that the agent does not show its model in full, and adds at most five: name, first sentence of the description, path. The model decides.',
    'Shows the changes as a diff and asks; without a terminal, --yes confirms. --remove restores the files byte for byte. Skills of a project that you do not trust are never added.',
    'Codex runs a hook only after you trust it with /hooks. skillwright doctor shows the state of each hook.',
    'Exit code 1: an agent could not be changed. 3: not confirmed.',
  ].join('\n'),
  flags: {
    agent: list('ID', 'agents to change (default: those in use here)', { choices: AGENT_IDS }),
    remove: toggle('remove the hooks'),
    yes: toggle('do not ask for confirmation', { short: 'y' }),
    'dry-run': toggle('show the changes without writing them'),
  },
  examples: [
    ['skillwright activate', 'add the hook to every agent that you use'],
    ['skillwright activate --agent claude-code --dry-run', 'see what would change in Claude Code'],
    ['skillwright activate --remove --yes', 'remove all hooks without a prompt'],
  ],
  positionals: [0, 0],
  async run({ flags, terminal, surroundings, signal }) {
    const isRemoving = flags.remove === true;
    const activation = planActivation({ surroundings, agents: flags.agent ?? [], isRemoving });
    const { changes } = activation;
    const isDry = flags['dry-run'] === true;
    const isChanged = changes.some(({ before, after }) => before !== after);
    const answer = (isWritten: boolean): boolean => terminal.printJson(jsonOf(activation, isWritten));
    showPlan(
      changes.flatMap((change) => changeLines(change, terminal)),
      isChanged && !isDry && flags.yes !== true,
      terminal,
    );
    for (const { problem } of changes) if (problem !== undefined) reportProblem(terminal, problem);
    const code = changes.length === 0 || changes.some(({ problem }) => problem !== undefined) ? EXIT.failed : EXIT.done;
    if (changes.length === 0)
      terminal.remark(
        isRemoving ? 'no hook to remove' : 'no agent found here; name one, for example --agent claude-code',
      );
    if (isDry || changes.length === 0) {
      answer(false);
      return code;
    }
    const isConfirmed =
      !isChanged ||
      flags.yes === true ||
      (await confirm(askStreams(process), isRemoving ? 'remove?' : 'write?', { signal }));
    if (signal.aborted) return EXIT.interrupted;
    if (!isConfirmed) {
      answer(false);
      terminal.err('nothing is changed; without a terminal pass --yes');
      return EXIT.refused;
    }
    await activation.apply();
    if (!answer(true))
      for (const { agent, problem } of changes)
        if (problem === undefined) terminal.out(`${agent}: ${isRemoving ? 'hook removed' : 'hook active'}`);
    for (const remark of activation.remarks) terminal.remark(remark);
    return code;
  },
});

type Activation = ReturnType<typeof planActivation>;
type Change = Activation['changes'][number];

function changeLines({ agent, file, real, before, after, problem }: Change, { style }: Terminal): readonly string[] {
  if (problem !== undefined) return [];
  const target = real === file ? printable(file) : `${printable(file)} -> ${printable(real)}`;
  if (before === after) return [style('bold', `${agent}: ${target}`), '  nothing to change'];
  const what = before === undefined ? ' (new file)' : after === undefined ? ' (deleted)' : '';
  const marks = { same: ' ', added: '+', removed: '-' } as const;
  const colors = { same: 'dim', added: 'green', removed: 'red' } as const;
  return [
    style('bold', `${agent}: ${target}${what}`),
    ...diffLines(before ?? '', after ?? '').hunks.flatMap(({ lines }) =>
      lines.map(({ kind, text }) => style(colors[kind], `  ${marks[kind]} ${printable(shownLine(text))}`)),
    ),
  ];
}

/** Without what a terminal would not show as it is: byte order mark, tabs and the end of a line of Windows. */
function shownLine(text: string): string {
  return text
    .replace(/^\uFEFF/, '')
    .replace(/\r$/, '')
    .replaceAll('\t', '  ');
}

function jsonOf({ changes, remarks }: Activation, isWritten: boolean): object {
  return {
    written: isWritten,
    agents: changes.map(({ agent, file, before, after, problem }) => ({
      agent,
      file,
      change:
        problem !== undefined
          ? 'none'
          : before === after
            ? 'none'
            : before === undefined
              ? 'create'
              : after === undefined
                ? 'delete'
                : 'edit',
      problem,
    })),
    remarks,
  };
}
