import { AGENT_IDS, planFit, undoFit } from '#activation';
import { countText, printable } from '#core';
import { wholeNumber } from '../arguments.ts';
import { list, option, toggle } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import { asker, definePackCommand, refuse } from '../packs/pack-command.ts';
import { showPlan, type Terminal } from '../terminal/terminal.ts';

export const command = definePackCommand({
  usage: 'fit --agent ID [--pin NAME,...] [--dry-run] [--yes] | fit --agent ID --undo',
  details: [
    'Chooses which skills stay in the folders of an agent, so that it shows all of them with their descriptions, and moves the others to the shelf: the root ~/.agent/shelf, which no agent lists.',
    'Skillwright finds skills on the shelf, and so does the agent: by the skill find-skill, which fit adds to its folder, and by skillwright mcp.',
    'Skills that the agent used in this project in the last 30 days stay first, then those that match its files, manifests and README, then those with short descriptions. Pinned skills always stay. Run it again after installing skills.',
    'Only folders of the user are changed, never those of a project or a repository. Links to skills of another root are put away; their targets stay. --undo restores everything as it was.',
    'Exit code 1: the skills that must stay do not fit. 3: not confirmed.',
  ].join('\n'),
  flags: {
    agent: option('ID', 'the agent to fit', { choices: AGENT_IDS }),
    pin: list('NAME', 'skills that stay in the list; later fits keep them there'),
    window: option('TOKENS', "context window of the agent's model"),
    undo: toggle('restore what the last fit of the agent moved'),
    'dry-run': toggle('print the changes without making them'),
    yes: toggle('do not ask for confirmation', { short: 'y' }),
  },
  examples: [
    ['skillwright fit --agent claude-code --dry-run', 'see which skills would stay'],
    ['skillwright fit --agent claude-code --pin pdf,docx', 'fit, and keep two skills'],
    ['skillwright fit --agent claude-code --undo', 'restore the folder'],
  ],
  positionals: [0, 0],
  async run(invocation) {
    const { flags, terminal, surroundings, signal } = invocation;
    const { agent, pin: pins = [], undo = false } = flags;
    if (agent === undefined) throw usageError('missing flag: --agent ID', 'e.g. skillwright fit --agent claude-code');
    if (undo && (pins.length > 0 || flags['dry-run'] === true))
      throw usageError('--undo takes no --pin and no --dry-run', 'see skillwright fit --help');
    const onNote = (note: string): void => terminal.remark(`note: ${printable(note)}`);
    const options = { surroundings, agent, signal, onNote };
    if (undo) {
      const { restored } = await undoFit(options);
      if (!terminal.printJson({ ok: true, agent, restored }))
        terminal.out(`restored ${countText(restored.length, 'entry', 'entries')}`);
      return EXIT.done;
    }
    const contextWindow = wholeNumber(flags.window, '--window', { least: 1000, most: 100_000_000 });
    const { plan, apply } = await planFit({ ...options, pins, contextWindow });
    const isDry = flags['dry-run'] === true;
    const status = plan.after.full < plan.after.skills ? EXIT.failed : EXIT.done;
    const isAsked = plan.isChange && !isDry;
    if (flags.json !== true) showPlan(planLines(plan, terminal), isAsked && flags.yes !== true, terminal);
    if (!isAsked) {
      terminal.printJson({ ok: status === EXIT.done, done: !plan.isChange, ...plan });
      return status;
    }
    const confirm = asker(invocation, flags.yes);
    if (!(await confirm(`move ${countText(plan.shelve.length, 'skill')} to ${plan.shelf}`)))
      return refuse(invocation, {
        code: 'install/refused',
        message: 'not confirmed: nothing was moved',
        hint: 'review the plan and confirm it; use --yes for non-interactive runs',
      });
    const done = await apply();
    if (!terminal.printJson({ ok: status === EXIT.done, done: true, ...done }))
      terminal.out(`moved ${countText(plan.shelve.length, 'skill')}; undo: skillwright fit --agent ${agent} --undo`);
    return status;
  },
});

type FitPlan = Awaited<ReturnType<typeof planFit>>['plan'];

const MAX_NAMES = 10;

function planLines(plan: FitPlan, { wrap, style }: Terminal): readonly string[] {
  const { agent, before, after, stay, shelve, left, hiddenFrom, isChange } = plan;
  const shown = ({ full, skills }: FitPlan['before']): string =>
    `${countText(skills, 'skill')}, ${String(full)} shown with description`;
  const names = (all: readonly string[]): string => {
    const rest = all.length - MAX_NAMES;
    const some = all.slice(0, MAX_NAMES).map(printable).join(', ');
    return rest > 0 ? `${some} and ${String(rest)} more` : some;
  };
  return [
    style('bold', `${agent}: ${shown(before)}`),
    ...(isChange ? [`  after the fit: ${shown(after)}`] : ['  nothing to move']),
    wrap(`  ${String(stay.length)} stay: ${names(stay)}`, 4),
    ...(shelve.length === 0 ? [] : [wrap(`  ${String(shelve.length)} on the shelf: ${names(shelve)}`, 4)]),
    ...left.slice(0, MAX_NAMES).map(({ path, reason }) => wrap(`  left: ${printable(path)} ${printable(reason)}`, 4)),
    ...(left.length > MAX_NAMES ? [`  and ${String(left.length - MAX_NAMES)} more are left; all of them: --json`] : []),
    ...hiddenFrom.map(({ agent: other, skills }) =>
      wrap(`  ${other} will not list ${countText(skills.length, 'skill')} either: ${names(skills)}`, 4),
    ),
    ...(after.full < after.skills
      ? [wrap(`  ${String(after.skills - after.full)} that stay are not shown in full: unpin or shorten some`, 4)]
      : []),
  ];
}
