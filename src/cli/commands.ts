import type { CommandEntry } from './command.ts';
import * as list from './skills/list.ts';

/** Every command, in the order of the help. */
export const COMMANDS: readonly CommandEntry[] = [
  // In the chunk that every command loads, so it needs no file of its own.
  entry('list', 'use', 'list the skills found and those left out, with the reason', () => Promise.resolve(list), [
    'ls',
  ]),
  entry('search', 'use', 'find skills for a task', () => import('./skills/search.ts'), ['find']),
  entry('why', 'use', 'explain why agents use a skill or not', () => import('./skills/why.ts')),
  entry('usage', 'use', 'show which skills your agents loaded or missed', () => import('./skills/usage.ts')),
  entry('fit', 'use', 'move skills that an agent cannot show to the shelf', () => import('./skills/fit.ts')),
  entry('activate', 'use', 'show agents the skills that fit a prompt', () => import('./govern/activate.ts')),
  entry('inspect', 'use', 'show one skill: fields, files, problems', () => import('./skills/inspect.ts'), ['show']),
  entry('run', 'use', 'run an agent on a request, with skills', () => import('./agent/run.ts')),
  entry('chat', 'use', 'chat with an agent that uses skills', () => import('./agent/chat.ts')),
  entry('demo', 'use', 'tour the features in a minute; needs no key and no network', () => import('./agent/demo.ts')),
  entry('exec', 'use', 'run a script of a skill in a sandbox', () => import('./agent/exec.ts')),
  entry('prepare', 'use', 'install the packages that the scripts of a skill need', () => import('./agent/prepare.ts')),
  entry('call', 'use', 'call one tool as a model would, under the same policy', () => import('./agent/call.ts')),
  entry('mcp', 'use', 'serve skills to MCP clients', () => import('./agent/mcp.ts')),
  entry('ui', 'use', 'open the console in a browser', () => import('./agent/ui.ts'), ['console']),
  entry('docs', 'use', 'read the documentation', () => import('./govern/docs.ts')),
  entry('catalog', 'use', 'print the skill catalog as a model sees it', () => import('./skills/catalog.ts')),
  entry('cost', 'use', 'show the tokens that skills cost a model', () => import('./skills/cost.ts')),
  entry('new', 'write', 'create a skill', () => import('./skills/new.ts'), ['init']),
  entry('pack', 'write', 'pack skills into a reproducible zip with a manifest', () => import('./packs/pack.ts'), [
    'export',
  ]),
  entry('sign', 'write', 'sign a pack with your key', () => import('./packs/sign.ts')),
  entry('site', 'write', 'write a static site that publishes skills', () => import('./packs/site.ts')),
  entry(
    'install',
    'install',
    'install skills from a folder, archive, URL, git or npm',
    () => import('./packs/install.ts'),
    ['add'],
  ),
  entry('source', 'install', 'browse sources: index skills that are not installed', () => import('./packs/source.ts')),
  entry('update', 'install', 'update installed skills from their sources', () => import('./packs/update.ts'), [
    'upgrade',
  ]),
  entry(
    'outdated',
    'install',
    'list installed skills that differ from their sources',
    () => import('./packs/outdated.ts'),
  ),
  entry('uninstall', 'install', 'move installed skills to the trash', () => import('./packs/uninstall.ts'), [
    'remove',
    'rm',
  ]),
  entry('restore', 'install', 'restore uninstalled skills from the trash', () => import('./packs/restore.ts')),
  entry(
    'rollback',
    'install',
    'roll an installed skill back to its previous version',
    () => import('./packs/rollback.ts'),
  ),
  entry('lock', 'install', 'show the lock file, or import a lock of npx skills', () => import('./packs/lock.ts')),
  entry('sbom', 'install', 'list installed skills as a CycloneDX bill of materials', () => import('./packs/sbom.ts')),
  entry('check', 'check', 'validate skills against the specification and fix them', () => import('./skills/check.ts'), [
    'validate',
    'lint',
  ]),
  entry('eval', 'check', 'evaluate whether skills trigger and work', () => import('./evals/eval.ts')),
  entry(
    'verify',
    'check',
    'compare installed skills with the lock, or a pack with its manifest',
    () => import('./packs/verify.ts'),
  ),
  entry('doctor', 'check', 'diagnose problems on this machine', () => import('./govern/doctor.ts')),
  entry('refresh', 'check', 'scan every root again, or watch them', () => import('./skills/refresh.ts')),
  entry('trust', 'govern', 'trust the skills of a project, or revoke that', () => import('./govern/trust.ts')),
  entry('policy', 'govern', 'show the policy, or the decision about one action', () => import('./govern/policy.ts')),
  entry('approvals', 'govern', 'list, answer and revoke approvals', () => import('./govern/approvals.ts')),
  entry('keys', 'govern', 'create signing keys and pin the keys you accept', () => import('./packs/keys.ts')),
  entry('serve', 'govern', 'serve the API of a fleet on PostgreSQL', () => import('./fleet/serve.ts')),
  entry('worker', 'govern', 'work on the runs of a fleet', () => import('./fleet/worker.ts')),
  entry('fleet', 'govern', 'show a fleet; manage its keys', () => import('./fleet/fleet.ts')),
  entry('runs', 'govern', 'list, show, verify and prune recorded runs', () => import('./runs/runs.ts')),
  entry('config', 'govern', 'show the configuration or its schema', () => import('./govern/config.ts')),
  entry(
    'completion',
    'govern',
    'print a completion script for bash, zsh or fish',
    () => import('./govern/completion.ts'),
  ),
];

export function findCommand(name: string): CommandEntry | undefined {
  return COMMANDS.find((command) => command.name === name || command.aliases.includes(name));
}

function entry(
  name: string,
  task: CommandEntry['task'],
  summary: string,
  load: CommandEntry['load'],
  aliases: readonly string[] = [],
): CommandEntry {
  return { name, task, summary, load, aliases };
}
