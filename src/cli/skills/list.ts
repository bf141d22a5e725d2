import { openAgentFolders, findLocked } from '#packs';
import { defineCommand, option, toggle } from '../command.ts';
import { EXIT } from '../exit.ts';
import { jsonText, skillJson } from '../json.ts';
import { openRuntime } from '../open-runtime.ts';
import { diagnosticCounts, diagnosticJson } from './show-diagnostics.ts';
import { isForModel, OWN_SOURCES, printable, type SkillEntry } from '#core';
import { fitText, padText, textWidth } from '#platform';
import { trustRemarks, type Runtime, type Distrust } from '#runtime';
import type { SkillIndex } from '#skills';
import type { Terminal } from '../terminal/terminal.ts';

export const command = defineCommand({
  usage: 'list [--source NAME] [--explain] [--json]',
  details: [
    'Lists every skill found, one per line, and every skill folder left out, with the reason. Reads only frontmatter.',
    'A mark before the name: ! has problems (see skillwright check), * pinned or required, - hidden from the model.',
    'After the source: model only marks a skill that you cannot call yourself (user-invocable: false), accepted what you let pass the scan.',
    'The last lines name the agents in use here that see the skills; --json names all of them.',
    'Skills of a project are hidden from models until you trust them (skillwright trust); those that you installed or created are trusted.',
  ].join('\n'),
  flags: {
    explain: toggle('also show every folder visited and why it was used or skipped'),
    nested: toggle('also find skills inside skills'),
    format: option(
      'NAME',
      'with --json: field names of skillwright or of the skills-agent design (default: skillwright)',
      { choices: ['skillwright', 'seed'] },
    ),
    all: toggle('also show skills hidden by another skill of the same name', { short: 'a' }),
  },
  examples: [
    ['skillwright list', 'list the skills of this project, your home folder and the package'],
    ['skillwright list --root ./packs --explain', 'list what is found in ./packs, and why'],
    ['skillwright list --json | jq -r ".skills[].name"', 'print the names for a script'],
  ],
  positionals: [0, 0],
  async run(invocation) {
    const { flags, terminal } = invocation;
    const runtime = await openRuntime(invocation, {
      explain: flags.explain === true,
      ...(flags.nested === true ? { nestedInSkills: true } : {}),
    });
    if (flags.format === 'seed') {
      const { seedIndex } = await import('./seed-index.ts');
      terminal.out(jsonText(seedIndex(runtime.index)));
      return EXIT.done;
    }
    const { skills } = runtime.index;
    const agents = openAgentFolders(invocation.surroundings);
    const shown = flags.all === true && !terminal.isJson ? runtime.index.all : skills;
    const untrusted = await runtime.distrust(shown, { files: true });
    if (terminal.isJson)
      terminal.printJson({
        ...listJson(runtime, skills, { untrusted, seenBy: (dir) => agents.seeing(dir) }),
        emptyReason: skills.length > 0 ? undefined : await runtime.explainEmpty(),
      });
    else showList({ skills: shown, untrusted, agents, explain: flags.explain === true }, runtime, terminal);
    return EXIT.done;
  },
});

function listJson(
  { index, diagnostics }: Runtime,
  skills: readonly SkillEntry[],
  { untrusted, seenBy }: { readonly untrusted: ReadonlyMap<string, Distrust>; readonly seenBy: AgentFolders['seeing'] },
): object {
  const { indexHash, shadowed, report, explain } = index;
  const locked = findLocked(
    skills.map(({ dir }) => dir),
    'accepted',
  );
  return {
    indexHash,
    skills: skills.map((skill) => ({
      ...skillJson(skill, untrusted.get(skill.dir)),
      accepted: locked.get(skill.dir)?.accepted,
      agents: seenBy(skill.dir),
    })),
    shadowed,
    diagnostics: diagnostics.map(diagnosticJson),
    report,
    explain,
  };
}

/** The ids of the agents that see a skill, by its folder. */
type AgentFolders = ReturnType<typeof openAgentFolders>;

interface ShownList {
  readonly skills: readonly SkillEntry[];
  readonly untrusted: ReadonlyMap<string, Distrust>;
  readonly agents: AgentFolders;
  readonly explain: boolean;
}

/** Prints the listing for people. */
function showList(list: ShownList, runtime: Runtime, terminal: Terminal): void {
  const { skills, untrusted, explain } = list;
  terminal.out(skillLines({ skills, untrusted }, runtime, terminal));
  terminal.out(agentLines(skills, list, terminal));
  terminal.out(leftOutLines(runtime.index, terminal));
  if (explain) terminal.out(explainLines(runtime.index, terminal));
  terminal.remark([...remarks(runtime, skills), ...trustRemarks(untrusted)]);
}

/** One line per set of agents in use here: `claude-code, codex: 18 skills`. */
function agentLines(
  skills: readonly SkillEntry[],
  { agents }: Pick<ShownList, 'agents'>,
  terminal: Terminal,
): readonly string[] {
  const used = agents.used();
  const groups = new Map<string, string[]>();
  for (const { name, dir } of used.size === 0 ? [] : skills) {
    const key = agents
      .seeing(dir)
      .filter((id) => used.has(id))
      .join(', ');
    if (key !== '') groups.set(key, [...(groups.get(key) ?? []), printable(name)]);
  }
  if (groups.size === 0) return [];
  return [
    '',
    terminal.style('bold', 'Agents'),
    ...[...groups].map(
      ([ids, names]) => `  ${ids}: ${names.length > 5 ? `${String(names.length)} skills` : names.join(', ')}`,
    ),
  ];
}

function skillLines(
  { skills, untrusted }: { readonly skills: readonly SkillEntry[]; readonly untrusted: ReadonlyMap<string, Distrust> },
  { index, diagnostics }: Runtime,
  { style, width, isAnswerOnTerminal }: Terminal,
): readonly string[] {
  const troubled = new Set(diagnostics.filter(({ severity }) => severity !== 'info').map(({ path }) => path));
  const winners = new Set(index.skills);
  const locked = findLocked(
    skills.map(({ dir }) => dir),
    'accepted',
  );
  const rows = skills.map((skill) => ({
    mark: chooseMark(skill, troubled.has(`${skill.dir}/${skill.file}`), untrusted.has(skill.dir)),
    name: printable(skill.name),
    source: printable(
      [
        skill.source,
        ...(winners.has(skill) ? [] : ['hidden']),
        ...(untrusted.has(skill.dir) ? ['untrusted'] : OWN_SOURCES.has(skill.source) ? [] : ['trusted']),
        ...(skill.controls.userInvocable ? [] : ['model only']),
        ...(locked.get(skill.dir)?.accepted === undefined
          ? []
          : [`accepted ${locked.get(skill.dir)?.accepted?.join(' ') ?? ''}`]),
      ].join(', '),
    ),
    description: printable(skill.description),
  }));
  const nameWidth = Math.min(40, Math.max(0, ...rows.map(({ name }) => textWidth(name))));
  const sourceWidth = Math.max(0, ...rows.map(({ source }) => textWidth(source)));
  return rows.map(({ mark, name, source, description }) => {
    const room = width - nameWidth - sourceWidth - 6;
    const about = isAnswerOnTerminal ? fitText(description, Math.max(20, room)) : description;
    return `${mark} ${style('bold', padText(name, nameWidth))}  ${style('dim', padText(source, sourceWidth))}  ${about}`;
  });
}

function chooseMark({ state }: SkillEntry, isTroubled: boolean, isUntrusted: boolean): string {
  if (isTroubled) return '!';
  if (isUntrusted) return '-';
  if (state === 'pinned' || state === 'required') return '*';
  return isForModel(state) ? ' ' : '-';
}

function leftOutLines({ report }: SkillIndex, { style }: Terminal): readonly string[] {
  if (report.leftOut.length === 0) return [];
  return [
    '',
    style('bold', `Left out (${String(report.leftOut.length)})`),
    ...report.leftOut.map(
      ({ path, code, message }) => `${style('red', 'x')} ${printable(path)}  ${message} ${style('dim', code)}`,
    ),
  ];
}

function explainLines({ explain = [], report }: SkillIndex, { style }: Terminal): readonly string[] {
  return [
    '',
    style('bold', 'Roots, highest priority first'),
    ...report.roots.map(
      ({ source, path, status, skills }) =>
        `  ${source}  ${printable(path)}  ${status === 'scanned' ? `${String(skills)} skills` : status}`,
    ),
    '',
    style('bold', 'Folders'),
    ...explain.map(
      ({ path, decision, reason }) => `  ${decision.padEnd(11)}  ${printable(path)}  ${style('dim', reason)}`,
    ),
  ];
}

function remarks({ index, diagnostics }: Runtime, shown: readonly SkillEntry[]): readonly string[] {
  const { report, shadowed } = index;
  const lines: string[] = [];
  if (shown.length === 0 && report.leftOut.length === 0) {
    lines.push(
      'no skills found',
      ...report.roots.map(({ path, status }) => `  searched ${printable(path)} (${status})`),
      'create one: skillwright new my-skill',
    );
  }
  const hidden = shadowed.filter(({ reason }) => reason !== 'same-directory').length;
  if (hidden > 0)
    lines.push(`${String(hidden)} hidden by skills of the same name; list them with skillwright list --all`);
  for (const { code, path } of diagnostics)
    if (code === 'scan/hidden-skills')
      lines.push(`skipped ${printable(path)}: hidden, and it contains skills; list them with --root, or install them`);
  const counts = diagnosticCounts(
    diagnostics.filter(({ severity, code }) => severity !== 'info' && code !== 'root/interrupted'),
  );
  if (counts !== '') lines.push(`${counts}; details: skillwright doctor`);
  return lines;
}
