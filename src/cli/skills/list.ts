import type { SkillEntry } from '../../core/skill.ts';
import { agentBases, openAgentView } from '../../packs/agents/agent-view.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { defineCommand, option, toggle } from '../command.ts';
import { EXIT } from '../exit.ts';
import { jsonText, skillJson } from '../json.ts';
import { openRuntime } from '../open-runtime.ts';
import { surroundingsFor } from '../surroundings.ts';
import { diagnosticJson } from './show-diagnostics.ts';
import { showList } from './show-list.ts';
import type { SeenBy } from './show-list.ts';
import type { Untrusted } from './show-trust.ts';

export const command = defineCommand({
  usage: 'list [--source NAME] [--explain] [--json]',
  details: [
    'Lists every skill found, one per line, and every skill folder left out, with the reason. Reads only frontmatter.',
    'A mark before the name: ! has problems (see skillwright check), * pinned or required, - hidden from the model.',
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
    const surroundings = surroundingsFor(flags);
    const seenBy = openAgentView(agentBases(surroundings));
    const shown = flags.all === true && !terminal.isJson ? runtime.index.all : skills;
    const untrusted = await runtime.distrust(shown, { files: true });
    if (terminal.isJson) terminal.printJson(listJson(runtime, skills, { untrusted, seenBy }));
    else
      showList({ skills: shown, untrusted, seenBy, surroundings, explain: flags.explain === true }, runtime, terminal);
    return EXIT.done;
  },
});

function listJson(
  { index, diagnostics }: Runtime,
  skills: readonly SkillEntry[],
  { untrusted, seenBy }: { readonly untrusted: Untrusted; readonly seenBy: SeenBy },
): object {
  const { indexHash, shadowed, report, explain } = index;
  return {
    indexHash,
    skills: skills.map((skill) => ({ ...skillJson(skill, untrusted.get(skill.dir)), agents: seenBy(skill.dir) })),
    shadowed,
    diagnostics: diagnostics.map(diagnosticJson),
    report,
    explain,
  };
}
