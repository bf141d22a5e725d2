import { AGENT_IDS, explainSkills } from '#activation';
import { printable } from '#core';
import { fitText, padText, textWidth } from '#platform';
import { wholeNumber } from '../arguments.ts';
import { defineCommand, list, option } from '../command.ts';
import { EXIT } from '../exit.ts';
import type { Terminal } from '../terminal/terminal.ts';

export const command = defineCommand({
  usage: 'why [REQUEST...] [--agent ID] [--skill NAME]',
  details: [
    'Shows what each agent that you use tells its model about your skills: which it lists with a description, by name only, or not at all, and why.',
    'With REQUEST, ranks the skills for it, as skillwright search does. With --skill, explains one skill and says what to do.',
    'The rules were measured with the real programs; the version is named. Skills of plugins, and how often you used a skill, are not considered.',
    'Exit code 1: no agent found, or no agent lists the skill of --skill in full.',
  ].join('\n'),
  flags: {
    agent: list('ID', 'agents to explain (default: those in use here)', { choices: AGENT_IDS }),
    skill: option('NAME', 'explain one skill', { offers: 'skills' }),
    window: option(
      'TOKENS',
      "context window of the agent's model, on which the budgets of claude-code and codex depend",
    ),
  },
  examples: [
    ['skillwright why "fill in a pdf form"', 'rank your skills for a request, and show what each agent lists'],
    ['skillwright why --skill pdf --agent claude-code', 'find out why Claude Code does not use the skill pdf'],
    ['skillwright why --json | jq ".agents[] | {agent, budget}"', 'print the budgets for a script'],
  ],
  positionals: [0, Number.POSITIVE_INFINITY],
  async run({ flags, positionals, terminal, surroundings }) {
    const request = positionals.join(' ').trim();
    const window = wholeNumber(flags.window, '--window', { least: 1000, most: 100_000_000 });
    const why = await explainSkills({
      surroundings,
      agents: flags.agent ?? [],
      ...(request === '' ? {} : { request }),
      skill: flags.skill,
      contextWindow: window,
    });
    const isFull = why.skill?.every(({ skill }) => skill?.shown === 'full') ?? true;
    const code = why.agents.length > 0 && isFull ? EXIT.done : EXIT.failed;
    if (terminal.printJson(why)) return code;
    if (why.agents.length === 0) terminal.remark('no agent found here; name one, for example --agent claude-code');
    terminal.out(rankingLines(why, terminal));
    if (why.skill === undefined) for (const agent of why.agents) terminal.out(agentLines(agent, terminal));
    else terminal.out(why.skill.flatMap((advice) => adviceLines(advice, terminal)));
    return code;
  },
});

type Why = Awaited<ReturnType<typeof explainSkills>>;
type AgentView = Why['agents'][number];
type SkillView = AgentView['skills'][number];

const WORDS = { full: 'description', shortened: 'shortened', name: 'name only', none: 'not listed' } as const;
const MAX_EXAMPLES = 5;

/** `claude-code: 100 skills, 10 shown with description`. */
export function summaryOf({ agent, skills }: AgentView): string {
  const counts = new Map(
    ['full', 'shortened', 'name', 'none'].map((shown) => [shown, skills.filter((one) => one.shown === shown).length]),
  );
  const parts = [
    `${String(counts.get('full') ?? 0)} shown with description`,
    ...(['shortened', 'name', 'none'] as const)
      .filter((shown) => (counts.get(shown) ?? 0) > 0)
      .map(
        (shown) =>
          `${String(counts.get(shown))} ${{ shortened: 'shortened', name: 'by name only', none: 'not listed' }[shown]}`,
      ),
  ];
  return `${agent}: ${String(skills.length)} ${skills.length === 1 ? 'skill' : 'skills'}, ${parts.join(', ')}`;
}

function rankingLines({ ranking, agents }: Why, { style, width }: Terminal): readonly string[] {
  if (ranking === undefined || agents.length === 0) return [];
  if (ranking.length === 0) return ['no skill matches the request', ''];
  const columns = agents.map(({ agent }) => ({ agent, width: Math.max(textWidth(agent), WORDS.full.length) }));
  const taken = columns.reduce((sum, column) => sum + column.width + 2, 8);
  const nameWidth = Math.max(
    12,
    Math.min(40, width - taken, Math.max(...ranking.map(({ name }) => textWidth(printable(name))))),
  );
  const row = (start: string, name: string, cells: readonly string[]): string =>
    `${start.padStart(6)}  ${padText(fitText(name, nameWidth), nameWidth)}  ${cells.map((cell, at) => padText(cell, columns[at]?.width ?? 0)).join('  ')}`.trimEnd();
  return [
    style(
      'bold',
      row(
        'score',
        'skill',
        columns.map(({ agent }) => agent),
      ),
    ),
    ...ranking.map(({ name, score, shown }) =>
      row(
        score.toFixed(1),
        printable(name),
        columns.map(({ agent }) => WORDS[shown[agent] ?? 'none']),
      ),
    ),
    '',
  ];
}

function agentLines(view: AgentView, terminal: Terminal): readonly string[] {
  const { style, wrap } = terminal;
  const { budget, notes, folders, checkedVersion } = view;
  const limit = budget && `budget: ${budget.limit.toLocaleString('en-US')} ${budget.unit} (${budget.from})`;
  const own =
    budget === undefined || budget.own === 0
      ? ''
      : `; skills of the agent itself take ${budget.own.toLocaleString('en-US')}`;
  return [
    style('bold', summaryOf(view)),
    wrap(`  measured with version ${checkedVersion}${limit === undefined ? '; no budget' : `; ${limit}${own}`}`, 2),
    ...folders.map(({ path, skills }) => wrap(`  ${String(skills).padStart(5)} in ${printable(path)}`, 11)),
    ...groupsOf(view).flatMap(([title, skills]) => groupLines(title, skills, terminal)),
    ...notes.map((note) => wrap(`  note: ${printable(note)}`, 4)),
    '',
  ];
}

/** Skills that are not shown in full, by what is shown and why. */
function groupsOf({ skills }: AgentView): readonly (readonly [title: string, skills: readonly SkillView[]])[] {
  const groups = new Map<string, SkillView[]>();
  for (const skill of skills) {
    if (skill.shown === 'full') continue;
    const title = `${WORDS[skill.shown]}, ${skill.reason?.code ?? ''}`;
    const group = groups.get(title) ?? [];
    group.push(skill);
    groups.set(title, group);
  }
  return [...groups];
}

function groupLines(title: string, skills: readonly SkillView[], { style, wrap }: Terminal): readonly string[] {
  const isBudget = skills[0]?.reason?.code === 'budget';
  const rest = skills.length - MAX_EXAMPLES;
  const start = skills[0]?.position;
  const first = isBudget && start !== undefined ? ` from position ${String(start)}` : '';
  const more = rest > 0 ? [`    ${style('dim', `and ${String(rest)} more; all of them: --json`)}`] : [];
  const names = skills.slice(0, MAX_EXAMPLES).map(({ name }) => printable(name));
  return [
    `  ${title}${first}: ${String(skills.length)}`,
    ...(isBudget
      ? [wrap(`    ${names.join(', ')}`, 4)]
      : skills
          .slice(0, MAX_EXAMPLES)
          .map(({ name, reason }) => wrap(`    ${printable(name)}: ${printable(reason?.message ?? '')}`, 6))),
    ...more,
  ];
}

function adviceLines(
  { agent, skill, advice, shorten }: NonNullable<Why['skill']>[number],
  { style, wrap }: Terminal,
): readonly string[] {
  const state = skill === undefined ? 'not found' : { ...WORDS, full: 'listed with its description' }[skill.shown];
  const place = skill?.position === undefined ? '' : ` at position ${String(skill.position)}`;
  return [
    style('bold', `${agent}: ${state}${place}`),
    ...(skill === undefined ? [] : [wrap(`  ${printable(skill.path)}`, 2)]),
    ...(skill?.reason === undefined ? [] : [wrap(`  ${printable(skill.reason.message)}`, 2)]),
    ...advice.map((line) => wrap(`  > ${printable(line)}`, 4)),
    ...(shorten === undefined ? [] : [wrap(`    ${shorten.skills.map(printable).join(', ')}`, 4)]),
    '',
  ];
}
