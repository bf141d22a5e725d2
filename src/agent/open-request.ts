/** Prepares the first turn: copies the given files, loads the required skills, proposes skills, and composes the first message. */
import path from 'node:path';

import { activateSkills, loadedText, shortlist, shortlistText } from './activation.ts';
import { printable, type ActionProblem, type SkillEntry } from '#core';
import type { Run } from '#runtime';
import type { SkillIndex } from '#skills';
import type { AgentOptions } from './agent-options.ts';
import { copyNote } from './copy-note.ts';
import type { AgentParts, Opening, TurnsEnd } from './agent-parts.ts';

export async function openRequest(options: AgentOptions, parts: AgentParts): Promise<Opening | TurnsEnd> {
  const { run, proposed, stop, replay } = parts;
  const { request, required = [], files = [], images = [], activation = 'model', runtime } = options;
  const problem = imageProblem(images, parts);
  if (problem !== undefined) return { outcome: 'failed', reason: problem };
  const { execution, project } = run.session;
  const named = execution === undefined ? files.map((file) => toProjectName(file, project)) : files;
  const brought = await bringFiles(run, named, stop);
  if ('code' in brought) return { outcome: 'failed', reason: brought.message };
  const called = await callByName(request, parts);
  if (typeof called === 'object') return called;
  const activated = await activateSkills(run, required, named);
  if ('code' in activated) return { outcome: 'failed', reason: activated.message };
  stop.throwIfAborted();
  const found =
    activation === 'model'
      ? []
      : await shortlist(
          run,
          // A resumed run proposes the skills that were found when it started.
          (query, n) =>
            replay?.proposed === undefined
              ? runtime.searchSkills(query, n, { forModel: true, signal: stop })
              : Promise.resolve(findEntries(run.session.index, replay.proposed)),
          request,
          activation,
        );
  if (activation !== 'model') for (const { id } of found) proposed.set(id, activation);
  const sections = [
    called,
    ...(brought.references.length === 0 ? [] : [filesText(brought.references)]),
    ...(found.length === 0 ? [] : [shortlistText(found)]),
  ];
  return {
    request: sections.join('\n\n'),
    skills: loadedText(run.session, activated.loaded),
    ...(images.length === 0 ? {} : { images }),
    choice: activation === 'forced' ? found : [],
  };
}

/** Why the model cannot get the images. A secret in the bytes, such as one in a comment of a picture, cannot be removed from them. */
function imageProblem(images: NonNullable<AgentOptions['images']>, { model, run }: AgentParts): string | undefined {
  const [first] = images;
  if (first === undefined) return undefined;
  const shown = ({ name = 'an image' }: typeof first): string => printable(name);
  if (model.takesImages === false)
    return `${model.id} takes no images: choose another model, or leave out ${images.map(shown).join(', ')}`;
  const secret = images.find(({ data }) => {
    const bytes = Buffer.from(data, 'base64').toString('latin1');
    return run.redact(bytes) !== bytes;
  });
  return secret === undefined ? undefined : `${shown(secret)} contains a known secret, so it is not sent`;
}

function findEntries({ skills }: SkillIndex, ids: readonly string[]): readonly SkillEntry[] {
  return ids.flatMap((id) => skills.find((skill) => skill.id === id) ?? []);
}

/** A user may invoke a skill that models may not load. The message then contains its instructions with the arguments. */
async function callByName(request: string, { run }: AgentParts): Promise<string | TurnsEnd> {
  const invocation = await run.session.invoke(request);
  if (invocation === undefined) return request;
  if (invocation.type === 'failed') {
    const isRefused = invocation.code === 'skill/not-offered' || invocation.code === 'skill/untrusted';
    return { outcome: isRefused ? 'refused' : 'failed', reason: invocation.message };
  }
  run.record({ type: 'activation', skill: invocation.loaded.skill.id, reason: 'person' });
  return [request, invocation.text].join('\n\n');
}

interface RequestFiles {
  readonly type: 'given';
  readonly references: readonly string[];
}

/** The caller named exactly these files, so the policy is not consulted. */
async function bringFiles(
  run: Run,
  files: readonly string[],
  signal: AbortSignal,
): Promise<RequestFiles | ActionProblem> {
  if (files.length === 0) return { type: 'given', references: [] };
  const brought = await run.session.execution?.stageFiles(files, signal);
  if (brought === undefined) return { type: 'given', references: files };
  if ('code' in brought) return brought;
  const { references, warnings } = brought;
  for (const message of warnings) run.record({ type: 'note', message });
  for (const [place, reference] of references.entries())
    run.record({ type: 'note', message: copyNote(files[place] ?? '', reference) });
  return { type: 'given', references };
}

/** Without a workspace, files stay where they are, under the names that the project tools use. */
function toProjectName(file: string, project: string | undefined): string {
  if (project === undefined || !path.isAbsolute(file)) return file;
  const name = path.relative(project, file);
  return name.startsWith('..') || path.isAbsolute(name) ? file : name;
}

/** A list without a heading, so that the request can be recovered by removing the list. */
function filesText(references: readonly string[]): string {
  return references.map((reference) => `- ${printable(reference)} (given file)`).join('\n');
}
