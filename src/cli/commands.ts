import type { CommandName } from './command.ts';

/** Every command, in the order of the help. */
export const COMMANDS: readonly CommandName[] = [
  {
    name: 'list',
    aliases: ['ls'],
    summary: 'list the skills found, and what was left out and why',
    load: () => import('./skills/list.ts'),
  },
  {
    name: 'search',
    aliases: ['find'],
    summary: 'find skills by what they are for',
    load: () => import('./skills/search.ts'),
  },
  {
    name: 'inspect',
    aliases: ['show'],
    summary: 'show one skill: fields, files, problems',
    load: () => import('./skills/inspect.ts'),
  },
  {
    name: 'catalog',
    aliases: [],
    summary: 'show what a model would see of all skills',
    load: () => import('./skills/catalog.ts'),
  },
  {
    name: 'cost',
    aliases: [],
    summary: 'show what skills cost a model in tokens: at rest, loaded, or in a run',
    load: () => import('./skills/cost.ts'),
  },
  {
    name: 'run',
    aliases: [],
    summary: 'work on a request with skills, on any model or on none',
    load: () => import('./agent/run.ts'),
  },
  {
    name: 'chat',
    aliases: [],
    summary: 'talk with an agent that has skills, message by message',
    load: () => import('./agent/chat.ts'),
  },
  {
    name: 'demo',
    aliases: [],
    summary: 'show in a minute what all this does, with no key and no network',
    load: () => import('./agent/demo.ts'),
  },
  {
    name: 'exec',
    aliases: [],
    summary: 'run a script of a skill in a sandboxed workspace',
    load: () => import('./agent/exec.ts'),
  },
  {
    name: 'call',
    aliases: [],
    summary: 'call one tool as a model would, under the same rules',
    load: () => import('./agent/call.ts'),
  },
  {
    name: 'policy',
    aliases: [],
    summary: 'show the rules in force, or what they say about one thing',
    load: () => import('./govern/policy.ts'),
  },
  {
    name: 'runs',
    aliases: [],
    summary: 'list, show, check and remove the records of runs',
    load: () => import('./runs/runs.ts'),
  },
  {
    name: 'trust',
    aliases: [],
    summary: 'trust the skills that came with a project, or take that back',
    load: () => import('./govern/trust.ts'),
  },
  {
    name: 'approvals',
    aliases: [],
    summary: 'list, answer and revoke what a person is asked',
    load: () => import('./govern/approvals.ts'),
  },
  {
    name: 'check',
    aliases: ['validate', 'lint'],
    summary: 'check skills against the specification, and mend them',
    load: () => import('./skills/check.ts'),
  },
  {
    name: 'eval',
    aliases: [],
    summary: 'run cases: do skills fire, and do what they promise?',
    load: () => import('./evals/eval.ts'),
  },
  {
    name: 'install',
    aliases: ['add'],
    summary: 'install skills from a folder, an archive, an address, git or npm',
    load: () => import('./packs/install.ts'),
  },
  {
    name: 'uninstall',
    aliases: ['remove', 'rm'],
    summary: 'move installed skills to the trash',
    load: () => import('./packs/uninstall.ts'),
  },
  {
    name: 'restore',
    aliases: [],
    summary: 'bring uninstalled skills back',
    load: () => import('./packs/restore.ts'),
  },
  {
    name: 'rollback',
    aliases: [],
    summary: 'put an installed skill back to the version before',
    load: () => import('./packs/rollback.ts'),
  },
  {
    name: 'verify',
    aliases: [],
    summary: 'compare installed skills with their lock, or a pack with its manifest',
    load: () => import('./packs/verify.ts'),
  },
  {
    name: 'lock',
    aliases: [],
    summary: 'show what is installed and from where, or take over a lock of npx skills',
    load: () => import('./packs/lock.ts'),
  },
  {
    name: 'outdated',
    aliases: [],
    summary: 'say which installed skills are no longer what their sources have',
    load: () => import('./packs/outdated.ts'),
  },
  {
    name: 'update',
    aliases: ['upgrade'],
    summary: 'bring installed skills to what their sources have now',
    load: () => import('./packs/update.ts'),
  },
  {
    name: 'pack',
    aliases: ['export'],
    summary: 'pack skills into one reproducible zip with a manifest',
    load: () => import('./packs/pack.ts'),
  },
  {
    name: 'sign',
    aliases: [],
    summary: 'sign a pack with your own key',
    load: () => import('./packs/sign.ts'),
  },
  {
    name: 'keys',
    aliases: [],
    summary: 'make a key to sign with, and pin the keys whose packs you take',
    load: () => import('./packs/keys.ts'),
  },
  {
    name: 'sbom',
    aliases: [],
    summary: 'list what is installed as a CycloneDX bill of materials',
    load: () => import('./packs/sbom.ts'),
  },
  { name: 'new', aliases: ['init'], summary: 'start a new skill', load: () => import('./skills/new.ts') },
  {
    name: 'refresh',
    aliases: [],
    summary: 'look again at every root, or watch them',
    load: () => import('./skills/refresh.ts'),
  },
  {
    name: 'config',
    aliases: [],
    summary: 'show the configuration in use, or its schema',
    load: () => import('./govern/config.ts'),
  },
  {
    name: 'doctor',
    aliases: [],
    summary: 'look for everything that is wrong on this machine',
    load: () => import('./govern/doctor.ts'),
  },
  {
    name: 'completion',
    aliases: [],
    summary: 'print a completion script for bash, zsh or fish',
    load: () => import('./govern/completion.ts'),
  },
];

export function findCommand(name: string): CommandName | undefined {
  return COMMANDS.find((command) => command.name === name || command.aliases.includes(name));
}
