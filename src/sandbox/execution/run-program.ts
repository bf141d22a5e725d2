import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import {
  DEFAULT_LIMITS,
  failure,
  quoted,
  type ActionProblem,
  type OutputSink,
  type ProgramEnd,
  type RunResult,
  type SkillEntry,
  type ProgramAction,
  isProblem,
  type ProgramSpec,
} from '#core';
import { isInside } from '#platform';
import { inputEntries } from '../inputs/input-places.ts';
import { stageInputs } from '../inputs/inputs.ts';
import { mountFolders } from '../mounts/mounted-folders.ts';
import { serveProgram } from '../network/serve-port.ts';
import { programEnvironment } from '../process/program-environment.ts';
import { programCommand } from '../programs/script.ts';
import { areaForSecrets } from '../workspace/private-area.ts';
import { writableSkill } from '../workspace/writable-skill.ts';
import { openCapture, observedOutput, withRedaction, type Capture, type Captured } from './output-capture.ts';
import {
  failLeft,
  warnWithoutResult,
  makeRunResult,
  readOutputRequest,
  collectFor,
  type ShownStream,
  type PreparedProgram,
  type Collected,
} from './run-result.ts';
import { spanned, type ExecutionCall, type ExecutionParts, type ExecutionOptions } from './parts.ts';
import { unusableFolder, workingDirectory, editorFor } from './working-directory.ts';
import { BUILT_IN_DIGESTS } from './built-in-digests.ts';
import { withNetworkHint } from './network-hint.ts';
import { nextChangeTime } from './change-time.ts';

interface Refused {
  readonly type: 'refused';
  readonly failure: ActionProblem;
}

const NO_PACKAGES = { layers: [], warnings: [] };
const SCRIPT_SECONDS = 30;

/** Stages skill and inputs and builds the environment. If it refuses, nothing has run. */
export async function prepareProgram(
  action: ProgramAction,
  skill: SkillEntry | undefined,
  parts: ExecutionParts,
  {
    signal,
    askedBy,
    digest,
    hostInputs = [],
    isDenied,
    mayReach = () => true,
    packages = NO_PACKAGES,
    call,
  }: ExecutionCall = {},
): Promise<PreparedProgram | Refused> {
  const { onSpan, executor } = parts;
  const create = { name: 'workspace.create', attributes: { executor: executor.name } } as const;
  const workspace = await spanned(onSpan, create, () => parts.openWorkspace());
  const { attached, place } = workspace;
  const hasStaged = skill !== undefined && workspace.hasStaged(skill);
  const staged =
    skill === undefined
      ? undefined
      : await spanned(
          onSpan,
          {
            name: 'workspace.stage.skill',
            attributes: { skill: skill.name },
            after: ({ digest }) => ({ digest }),
          },
          () => workspace.stage(skill, signal === undefined ? {} : { signal }),
        );
  if (skill !== undefined && digest !== undefined && staged?.digest !== digest)
    return refused(failure('skill/changed', `the skill ${quoted(skill.name)} changed after it was approved`));
  const isOld = hasStaged && staged !== undefined && !(await workspace.isCurrent(skill, staged.digest, signal));
  const { restriction } = parts;
  if (restriction !== undefined && !isBuiltInScript(action, staged))
    return refused(failure('execution/unavailable', restriction.message, { hint: restriction.hint }));
  const secrets = skill === undefined ? undefined : await parts.secrets?.(skill, signal);
  if (secrets !== undefined && 'failure' in secrets) return refused(secrets.failure);
  const folders = mountFolders(workspace, parts.mounts, {
    skillRoots: parts.skillRoots,
    records: parts.records,
    ...parts.guard,
    isHidden: (relative, folder) => {
      const absolute = path.join(folder, relative);
      return (
        parts.guard.isSecret(relative, folder) || parts.records.includes(absolute) || isDenied?.(absolute) === true
      );
    },
  });
  const start = workingDirectory(action.type === 'run_script' ? undefined : action.cwd, {
    root: attached.root,
    mounts: folders.targets,
    project: folders.project,
    startsInProject: parts.startsInProject,
    skillName: staged?.name,
  });
  if (start.type === 'refused') return start;
  const home = workspace.homeOf(skill);
  const newRun = workspace.newRunFolder();
  const hasSecrets = Object.keys(secrets?.env ?? {}).length > 0;
  const sharing = hasSecrets ? areaForSecrets(workspace, staged, { home, run: newRun }) : undefined;
  if (sharing?.type === 'refused') return sharing;
  const area = sharing?.area;
  const { run = newRun, root = place.root } = area ?? {};
  const unusable = unusableFolder(start.path, {
    ...place,
    root: start.path.startsWith('work') ? root : place.root,
    seenRoot: attached.root,
    mounts: folders.targets,
  });
  if (unusable !== undefined) return refused(unusable);
  const missing =
    skill === undefined || staged === undefined
      ? undefined
      : await parts.packages.missing(skill, staged, action, packages, {
          env: { ...parts.env, ...secrets?.env },
          network: parts.network,
        });
  const blocking = missing?.blocking ?? [];
  if (blocking.length > 0)
    return refused(
      failure('execution/missing', `the script cannot run: ${blocking.map(({ message }) => message).join('; ')}`, {
        hint: blocking.map(({ hint }) => hint).join('; '),
      }),
    );
  const command = programCommand(action, staged, { root: attached.root, skillFolder: skill?.dir });
  if (command.type === 'refused') return command;
  const sources = {
    ...parts.inputSources,
    host: (file: string) =>
      isDenied?.(file) !== true && (isInAny(file, hostInputs) || parts.inputSources.host?.(file) === true),
    isLeftOut: (folder: string, relative: string) =>
      parts.inputSources.isLeftOut?.(folder, relative) === true || isDenied?.(path.join(folder, relative)) === true,
  };
  const inputs = await spanned(
    onSpan,
    { name: 'workspace.stage.inputs', attributes: { count: action.inputs?.length ?? 0 } },
    () => stageInputs(workspace, action.inputs ?? [], sources, { area, mayRead: parts.inputSources.host, signal }),
  );
  if (inputs.type === 'failed') return refused(inputs.failure);

  // After the inputs, so that only what the program changes beside them counts as its output.
  const startedAt = await nextChangeTime(newRun.host);
  const outputs = readOutputRequest(action.outputs ?? {}, {
    root: attached.root,
    runDir: run.path,
    skillDir: staged === undefined ? undefined : `skills/${staged.name}`,
  });
  if (isProblem(outputs)) return refused(outputs);
  const editor = action.type === 'run_script' ? {} : editorFor(action.editorText, { workspace, run });
  const mounted = parts.packages.mount(packages, attached.root);
  const environment = programEnvironment({
    root: attached.root,
    runFolder: run.path,
    home,
    hasMounts: folders.targets.length > 0,
    project: folders.project,
    skill: skill && staged && { name: skill.name, folder: staged.name },
    ...(parts.idempotencyKey === undefined || call === undefined
      ? {}
      : { idempotencyKey: `${parts.idempotencyKey}/${String(call)}` }),
    declared: { ...parts.env, ...action.env, ...editor, ...secrets?.env },
    programFolders: mounted.programFolders,
  });
  if (environment.type === 'refused') return environment;
  const { code } = command;
  const added = inputEntries(root, workspace.metadata.inputs);
  const addedMount = (name: string): NonNullable<ProgramSpec['mounts']>[number] => ({
    source: path.join(root, name),
    target: `${attached.root}/${name}`,
    access: 'write',
  });
  const skillCopy = await writableSkill(workspace, staged, { code, cwd: start.path, run: run.name, signal });
  const served = parts.serve === undefined ? undefined : serveProgram(parts.serve, workspace, run);
  return {
    type: 'prepared',
    code,
    openPort: async () => await served?.open(),
    finish: async () => {
      // First, because nothing else may keep it from being done.
      const { warnings, isLeft } = folders.finish();
      return {
        isLeft,
        warnings: [...((await skillCopy?.finish()) ?? []), ...((await area?.finish()) ?? []), ...warnings],
      };
    },
    workspace,
    run,
    startedAt,
    spec: {
      argv: folders.verify([...(served?.argv ?? []), ...command.argv]),
      cwd: start.path,
      env: environment.env,
      stdin: Buffer.from(action.stdin ?? ''),
      limits: limitsFor(action, parts.limits),
      network: parts.network.filter(mayReach),
      home,
      // A program with an area of its own has none of the shared folders.
      folders: area === undefined ? added.folders : [],
      mounts: [
        ...[...(area === undefined ? [] : added.folders), ...added.files].map(addedMount),
        ...mounted.mounts,
        ...folders.mounts,
        ...(skillCopy === undefined ? [] : [skillCopy.mount]),
        ...(area?.mounts ?? []),
      ],
      hidden: folders.hidden,
    },
    outputs,
    stagedInputs: inputs.inputs.map(({ from, to, bytes, mediaType }) => ({
      name: to,
      original_name: from,
      mime_type: mediaType,
      size_bytes: bytes,
    })),
    warnings: [
      ...workspace.warnings,
      ...(skill === undefined || staged === undefined || skill.name === staged.name
        ? []
        : [
            `the folder of the skill ${quoted(skill.name)} is $SKILLS_DIR/${staged.name}, because its name cannot be one, or another skill has it`,
          ]),
      ...(isOld
        ? [
            `the skill ${quoted(skill.name)} changed on disk; programs of this session keep its earlier files, and a new session sees the new ones`,
          ]
        : []),
      ...(secrets?.problems ?? []),
      ...(sharing?.warnings ?? []),
      ...inputs.warnings,
      ...packages.warnings,
      ...folders.warnings,
    ],
    layers: packages.layers,
    missing: async () => ((await missing?.all()) ?? []).map(({ message }) => message),
    redactor: secrets?.redactor ?? parts.redactor,
    explain: (output, isTimeout) =>
      parts.packages.explain(output, action, staged, { askedBy, project: folders.projectView, isTimeout }),
  };
}

/** Our own code, byte for byte. */
function isBuiltInScript(action: ProgramAction, staged: Parameters<typeof programCommand>[1]): boolean {
  return action.type === 'run_script' && staged !== undefined && BUILT_IN_DIGESTS.has(staged.digest);
}

/** Whether a host file is one of these, or is inside of one. */
export function isInAny(file: string, allowed: readonly string[]): boolean {
  return allowed.some((folder) => isInside(path.resolve(file), path.resolve(folder)));
}

function limitsFor(action: ProgramAction, limits: ExecutionOptions['limits']): ProgramSpec['limits'] {
  const byKind = action.type === 'run_script' ? { wallMs: SCRIPT_SECONDS * 1000 } : {};
  const all = { ...DEFAULT_LIMITS, ...byKind, ...limits };
  return action.timeoutSeconds === undefined ? all : { ...all, wallMs: action.timeoutSeconds * 1000 };
}

/** Runs a prepared program until it ends and collects its outputs. */
export async function runPrepared(
  prepared: PreparedProgram,
  parts: ExecutionParts,
  signal?: AbortSignal,
): Promise<RunResult> {
  const { workspace, spec } = prepared;
  const streams = openStreams(prepared);
  const observer = parts.onOutput === undefined ? undefined : observedOutput(parts.onOutput, prepared.redactor);
  const served = await prepared.openPort();
  const { capabilities } = workspace.attached;
  const hint = withNetworkHint(teeOutput(streams, observer?.tell), { spec, capabilities, code: prepared.code });
  const running = spanned(
    parts.onSpan,
    {
      name: 'workspace.run',
      attributes: { program: path.basename(spec.argv[0] ?? ''), cwd: spec.cwd },
      after: ({ reason, exitCode = -1 }) => ({ reason, exit_code: exitCode }),
    },
    () =>
      withRedaction(workspace.attached, prepared.redactor).run(spec, {
        stdout: hint.stdout,
        stderr: hint.stderr,
        signal,
      }),
  ).finally(async () => {
    hint.stop();
    await served?.close();
    observer?.flush();
    streams.stdout.finish();
    streams.stderr.finish();
  });
  const background = runInBackground(running, prepared);
  background.catch(() => undefined);
  const ended = await running.catch(async (error: unknown) => {
    warnWithoutResult(await prepared.finish());
    throw error;
  });
  const refusedHosts = [...(ended.refused ?? []), ...hint.refused(ended.reason !== 'exited' || ended.exitCode !== 0)];
  const { warnings: written, isLeft } = await prepared.finish();
  const end = failLeft(refusedHosts.length === 0 ? ended : { ...ended, refused: refusedHosts }, isLeft);
  // Without the signal: outputs of a cancelled program are collected too, and collecting has its own limits.
  const collected = await collectFor(prepared, end, parts);
  const missing = await background;
  const stdout = streams.stdout.finish();
  const stderr = streams.stderr.finish();
  const remedy =
    end.reason !== 'exited' || end.exitCode !== 0
      ? await prepared.explain(`${stdout.text}\n${stderr.text}`, end.reason === 'timeout')
      : undefined;
  const warnings = [...prepared.warnings, ...missing, ...written, ...(remedy === undefined ? [] : [remedy])];
  return spanned(parts.onSpan, { name: 'workspace.inline' }, () =>
    toRunResult({ ...prepared, warnings }, parts, { end, stdout, stderr, collected }),
  );
}

/** After this time the program has started, and background checks do not delay it. */
const START_MS = 25;

async function runInBackground(
  running: Promise<unknown>,
  { workspace, missing }: PreparedProgram,
): Promise<readonly string[]> {
  await waitForStart(running);
  // Closing the workspaces waits for this and reports its errors.
  workspace.tidy().catch(() => undefined);
  return await missing();
}

async function waitForStart(running: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  await Promise.race([running, delay(START_MS, undefined, { signal: over.signal })]).finally(() => over.abort());
}

export interface ProgramStreams {
  readonly stdout: Capture;
  readonly stderr: Capture;
}

export function openStreams({ workspace, run, spec }: PreparedProgram): ProgramStreams {
  const file = (name: string): string => path.join(workspace.place.root, run.path, name);
  const limits = { maxBytes: spec.limits.outputBytes };
  return { stdout: openCapture(file('stdout.txt'), limits), stderr: openCapture(file('stderr.txt'), limits) };
}

export function teeOutput(
  { stdout, stderr }: ProgramStreams,
  onOutput: ExecutionParts['onOutput'],
): { readonly stdout: OutputSink; readonly stderr: OutputSink } {
  if (onOutput === undefined) return { stdout, stderr };
  const both = (name: 'stdout' | 'stderr', sink: OutputSink): OutputSink => ({
    write(chunk) {
      onOutput(name, chunk);
      return sink.write(chunk);
    },
  });
  return { stdout: both('stdout', stdout), stderr: both('stderr', stderr) };
}

interface Outcome {
  readonly end: ProgramEnd;
  readonly stdout: Captured;
  readonly stderr: Captured;
  readonly collected: Collected;
}

export function toRunResult(prepared: PreparedProgram, parts: ExecutionParts, outcome: Outcome): RunResult {
  const { workspace, run, stagedInputs, layers, warnings } = prepared;
  const shown = ({ text, truncated, digest }: Captured, name: string): ShownStream => ({
    text,
    truncated,
    digest: `sha256:${digest}`,
    ref: `workspace://${run.path}/${name}`,
  });
  return makeRunResult({
    end: outcome.end,
    stdout: shown(outcome.stdout, 'stdout.txt'),
    stderr: shown(outcome.stderr, 'stderr.txt'),
    executor: parts.executor.name,
    isolation: workspace.attached.capabilities.isolation,
    collected: outcome.collected,
    stagedInputs,
    layers,
    warnings,
  });
}

function refused(cause: ActionProblem): Refused {
  return { type: 'refused', failure: cause };
}
