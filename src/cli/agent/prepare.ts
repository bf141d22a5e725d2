import path from 'node:path';

import {
  countText,
  EXECUTOR_NAMES,
  packageArgument,
  printable,
  SkillError,
  typedWord,
  type ActionProblem,
  type SkillEntry,
  type PackageLayer,
} from '#core';
import type { Run } from '#runtime';
import { openAllLayers, type PackageNeeds, type Packages } from '#sandbox';
import { APPROVAL_FLAGS, openApprover, policyRefusal, repeatedCommand } from './approval.ts';
import { TRUST_FLAGS, askForTrust } from './consent.ts';
import { defineCommand, option, toggle, type Invocation } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import { openRuntime } from '../open-runtime.ts';
import { PACKAGE_FLAGS, commandExecution, packageOptions } from './programs.ts';

const { with: withFlag, environment } = PACKAGE_FLAGS;

const flags = {
  with: withFlag,
  environment,
  'dry-run': toggle('resolve the packages and show them without installing anything'),
  list: toggle('list the installed layers of packages'),
  prune: toggle('remove layers that were not used for 30 days; with SKILL, all layers of the skill'),
  wheels: option('DIR', 'install from the wheels in DIR instead of a package index'),
  executor: option('NAME', 'install for this executor (default: auto, the first that isolates)', {
    choices: ['auto', ...EXECUTOR_NAMES],
  }),
  ...APPROVAL_FLAGS,
  ...TRUST_FLAGS,
} as const;

type PrepareInvocation = Invocation<typeof flags>;

export const command = defineCommand({
  usage: 'prepare SKILL [--with PACKAGE] [--dry-run] [--wheels DIR]',
  details: [
    'Installs the packages that the scripts of a skill declare (PEP 723 block, requirements.txt, pyproject.toml, package.json), so that exec and run start without a network. Packages are resolved to exact versions and hashes, installed inside the sandbox without running their code, and mounted read-only. The skill and this machine stay as they are.',
    'Also names packages that scripts import without declaring them. Install those with --with.',
    'Exit code 1: a package cannot be installed; 3: refused by policy or by the user; 4: no executor on this machine isolates programs.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright prepare pdf', 'install what the skill declares'],
    ['skillwright prepare pdf --with pypdf --dry-run', 'show the exact versions and hashes first'],
    ['skillwright prepare pdf --with pypdf --wheels ./wheels', 'install without a network from downloaded wheels'],
    ['skillwright prepare --list', 'list the installed layers and their sizes'],
  ],
  positionals: [0, 1],
  async run(invocation) {
    const { flags: options, positionals } = invocation;
    const [name] = positionals;
    if (options.list === true) return await listLayers(invocation);
    if (options.prune === true) return await pruneLayers(invocation, name);
    if (name === undefined) throw usageError('missing argument: SKILL', 'name a skill, or use --list or --prune');
    return await prepare(invocation, name);
  },
});

async function prepare(invocation: PrepareInvocation, name: string): Promise<number> {
  const { flags: options, terminal, signal, surroundings } = invocation;
  const runtime = await openRuntime(invocation);
  const skill = runtime.find(name, options.source);
  await askForTrust(invocation, runtime, [skill]);
  const { executor } = options;
  const run = await runtime.startRun({
    request: `prepare ${name}`,
    approve: openApprover(invocation),
    execution: {
      ...commandExecution(terminal),
      executor,
      packages: {
        ...packageOptions(invocation),
        wheels: options.wheels && path.resolve(surroundings.cwd, options.wheels),
      },
    },
  });
  try {
    const found = await run.session.execution?.packages.skillNeeds(skill);
    if (found === undefined) throw new TypeError('the session runs no programs');
    const sets = found.needs.length === 0 ? await explicitNeeds(run, skill) : found.needs;
    const layers: PreparedLayer[] = [];
    for (const needs of sets)
      layers.push(
        await (options['dry-run'] === true
          ? resolved(run, skill, needs, signal)
          : installed(run, skill, needs, invocation)),
      );
    report(invocation, skill, layers, found);
    await run.end('done', '');
    return EXIT.done;
  } catch (error) {
    await run.end(signal.aborted ? 'cancelled' : 'failed', error instanceof Error ? error.message : '');
    throw error;
  }
}

/** A skill without scripts, or without declarations, still gets the packages of the command line. */
async function explicitNeeds(run: Run, { name }: SkillEntry): Promise<readonly PackageNeeds[]> {
  const action = { type: 'run_command', skill: name, command: 'true' } as const;
  return (await run.session.execution?.packages.needsOf(action, undefined, 'person')) ?? [];
}

interface PreparedLayer {
  readonly ecosystem: PackageLayer['ecosystem'];
  readonly requested: readonly string[];
  readonly packages: readonly PackageLayer['packages'][number][];
  readonly lockDigest: string;
  readonly layerDigest?: string;
  readonly status: 'resolved' | 'installed' | 'cached';
}

async function resolved(run: Run, skill: SkillEntry, needs: PackageNeeds, signal: AbortSignal): Promise<PreparedLayer> {
  const found = await run.session.execution?.packages.find(needs, skill.name, signal);
  if (found === undefined) throw new TypeError('the session runs no programs');
  if ('code' in found) throw failed(found);
  await found.close();
  const { ecosystem, packages, lockDigest, status } = found;
  return { ecosystem, requested: needs.packages.map(packageArgument), packages, lockDigest, status };
}

async function installed(
  run: Run,
  skill: SkillEntry,
  needs: PackageNeeds,
  { words, signal }: PrepareInvocation,
): Promise<PreparedLayer> {
  const requested = needs.packages.map(packageArgument);
  const observation = await run.session.perform(
    { type: 'install_packages', skill: skill.name, source: skill.source, packages: requested, isDeclared: true },
    { askedBy: 'person', signal },
  );
  if (observation.type === 'failed') throw policyRefusal(observation, repeatedCommand(words)) ?? failed(observation);
  if (observation.type !== 'packages-installed') throw new TypeError(`unexpected observation: ${observation.type}`);
  const { ecosystem, packages, lockDigest, layerDigest } = observation.layer;
  return {
    ecosystem,
    requested,
    packages,
    lockDigest,
    layerDigest,
    status: observation.isCached ? 'cached' : 'installed',
  };
}

function failed({ message, hint }: Pick<ActionProblem, 'message' | 'hint'>): SkillError {
  return new SkillError({ code: 'executor/failed', message, hint, data: { executor: 'packages', cause: message } });
}

const STATUS = { resolved: 'would install', installed: 'installed', cached: 'already installed' } as const;

function report(
  { terminal }: PrepareInvocation,
  { name }: SkillEntry,
  layers: readonly PreparedLayer[],
  { suggested }: Awaited<ReturnType<Packages['skillNeeds']>>,
): void {
  if (terminal.printJson({ skill: name, layers, suggested })) return;
  for (const layer of layers) {
    terminal.out(`${STATUS[layer.status]} for ${name}: ${layer.requested.join(', ')}`);
    for (const { name: one, version, hash } of layer.packages)
      terminal.out(`  ${one} ${version}  ${printable(hash.slice(0, 24))}…`);
    terminal.out(`  lock ${layer.lockDigest}`);
  }
  if (layers.length === 0) terminal.out(`${name} declares no packages that this machine lacks`);
  const known = suggested.flatMap((one) => one.package ?? []);
  const unknown = suggested.filter((one) => one.package === undefined);
  if (known.length > 0)
    terminal.remark([
      `scripts also import packages that the skill does not declare: ${known.join(', ')}`,
      `install them with: skillwright prepare ${typedWord(name)} ${known.map((one) => `--with ${typedWord(one)}`).join(' ')}`,
    ]);
  for (const { module, neededBy } of unknown)
    terminal.remark([`${neededBy} imports ${module}; its package is unknown: find it, then use --with PACKAGE`]);
}

async function openStores(invocation: PrepareInvocation): Promise<ReturnType<typeof openAllLayers>> {
  return openAllLayers((await openRuntime(invocation)).executionPlaces);
}

async function listLayers(invocation: PrepareInvocation): Promise<number> {
  const { terminal } = invocation;
  const layers = (await Promise.all((await openStores(invocation)).map((store) => store.list()))).flat();
  if (terminal.printJson({ layers: layers.map((layer) => ({ ...layer, fingerprint: undefined })) })) return EXIT.done;
  if (layers.length === 0) terminal.remark(['no layers are installed']);
  for (const { key, skills, requested, packages, bytes, usedAt } of layers)
    terminal.out(
      `${key.slice(0, 12)}  ${(bytes / 1_000_000).toFixed(1)} MB  used ${usedAt.slice(0, 10)}  ${skills.join(', ')}: ${requested.join(', ')} (${String(packages.length)} packages)`,
    );
  return EXIT.done;
}

const UNUSED_MS = 30 * 24 * 60 * 60_000;

async function pruneLayers(invocation: PrepareInvocation, skill: string | undefined): Promise<number> {
  const { terminal } = invocation;
  const options =
    skill === undefined ? { unusedSince: Date.now() - UNUSED_MS } : { unusedSince: Number.POSITIVE_INFINITY, skill };
  const removed = (await Promise.all((await openStores(invocation)).map((store) => store.prune(options)))).flat();
  if (!terminal.printJson({ removed })) terminal.out(`removed ${countText(removed.length, 'layer')}`);
  return EXIT.done;
}
