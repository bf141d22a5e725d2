import {
  failure,
  jsonSchema,
  type Action,
  type ActionFailed,
  type Observation,
  type Offer,
  type ToolRow,
  type Vocabulary,
  type OfType,
} from '#core';
import { HOST_TOOLS, continueWith, showRead, toBareHash } from './actions-host.ts';
import { showContent } from './content.ts';
import { offsetParameter, skillChoice, skillReference, texts } from './parameters.ts';
import { PROFILES } from './profiles.ts';
import { packagesParameter, toProgramOptions } from './run-parameters.ts';
import { canRun, defineTool, hasSkills, observed, singleAction } from './single-action.ts';
import { ROUTING_ONLY, guidanceFor, buildHint, inOrder, loadNote, loadNotes } from './wording.ts';

const runScript: ToolRow = singleAction({
  name: 'run_script',
  description: 'Run a script of a skill with arguments, without a shell. Returns its output and the files it made.',
  action: 'run_script',
  schema: (offer) =>
    jsonSchema.section(
      'Which script.',
      {
        skill: skillReference(),
        relative_path: jsonSchema.text('Path in the skill, such as scripts/aggregate.py.'),
        args: texts('Its arguments, one per item.'),
        ...packagesParameter(offer),
      },
      ['skill', 'relative_path'],
    ),
  toAction: ({ skill, relative_path: script, args = [], packages }) => ({
    type: 'run_script',
    ...toReference(skill),
    script,
    args,
    ...toProgramOptions({ packages }),
  }),
  toResult: ({ result }) => ({ ok: result.reason === 'exited' && result.exit_code === 0, ...result }),
  isOffered: canRun,
});

/** The most skills per call; the design of skills-agent loads one or two per round. */
const MOST_SKILLS = 8;

const selectSkills: ToolRow = defineTool({
  name: 'select_skills',
  description: 'Select the skills for the task and load their instructions. Loading runs nothing.',
  action: 'load_skill',
  schema: (offer) =>
    jsonSchema.section(
      'Which skills.',
      {
        skills: jsonSchema.list('The skills, most general first.', skillReference(skillChoice(offer)), MOST_SKILLS),
        reason: jsonSchema.text('Why these.'),
      },
      ['skills'],
    ),
  isOffered: hasSkills,
  toActions: ({ skills }) =>
    skills.length === 0
      ? failure('input/invalid', `parameter "skills" is empty: expected 1 to ${String(MOST_SKILLS)} skills`)
      : skills.map((skill): Action => ({ type: 'load_skill', ...toReference(skill) })),
  toResult: (observations, offer) => ({
    ok: true,
    skills: observations.map((observation) => showSkill(observed(observation, 'load_skill'), offer)),
  }),
});

function toReference({ name, source }: { readonly name: string; readonly source?: string }) {
  return { skill: name, source: source || undefined };
}

const loadResource: ToolRow = singleAction({
  name: 'load_resource',
  description: 'Read one resource file of a skill, or one section of it.',
  action: 'read_resource',
  schema: () =>
    jsonSchema.section(
      'Which resource.',
      {
        skill: skillReference(),
        relative_path: jsonSchema.text('Path in the skill, such as references/kpi.md.'),
        section_hint: jsonSchema.text('A heading; the text below it is returned.'),
        offset: offsetParameter,
      },
      ['skill', 'relative_path'],
    ),
  toAction: ({ skill, relative_path: path, section_hint: section = '', offset }) => ({
    type: 'read_resource',
    ...toReference(skill),
    path,
    // The example of skills-agent includes the heading marks.
    section: section.replace(/^\s*#+\s*/, '').trim() || undefined,
    offset,
  }),
  toResult: showRead,
});

const finalAnswer: ToolRow = singleAction({
  name: 'final_answer',
  description: 'Give the final answer and end the run.',
  action: 'final_answer',
  schema: () => jsonSchema.section('The answer.', { answer: jsonSchema.text('The text for the user.') }, ['answer']),
  toAction: (input) => ({ type: 'final_answer', ...input }),
  toResult: ({ answer }) => ({ ok: true, answer }),
});

/** The structured actions and tools of skills-agent. Every result is an observation with `ok`. */
export const skillsAgent: Vocabulary = {
  name: 'skills-agent',
  profile: PROFILES['skills-agent'],
  tools: [selectSkills, loadResource, runScript, finalAnswer, ...HOST_TOOLS],
  loadTool: 'select_skills',
  catalogFormat: PROFILES['skills-agent'].settings.catalog.format,
  guidance: (offered) =>
    guidanceFor(offered, [
      'When a task fits a skill, call select_skills first; select one or two at a time.',
      ROUTING_ONLY,
      'Read a file that the instructions need with load_resource, by section where possible.',
      'Run a script that the instructions name with run_script.',
      'Change files of the project with write_file and delete_file only if the task asks for it, and read them first.',
      'End with final_answer.',
    ]),
  showLoaded: showContent,
  toFailure: (failed, { done, offer }) => ({
    ok: false,
    error: showFailure(failed),
    ...(done.length === 0 ? {} : { skills: done.filter(isLoaded).map((loaded) => showSkill(loaded, offer)) }),
  }),
};

function showFailure(failed: ActionFailed): unknown {
  const { code, message, nearest, isTerminal } = failed;
  return { code, message, hint: buildHint(failed), nearest, ...(isTerminal ? { terminal: true } : {}) };
}

function showSkill(loaded: OfType<Observation, 'skill-loaded'>, offer: Offer): unknown {
  const { skill, text: body, report, files, documents } = loaded;
  const note = loadNote(loaded, offer);
  const notes = [...(note === undefined ? [] : [note]), ...loadNotes(loaded, continueWith)];
  const identity = { name: skill.name, source: skill.source, path: skill.dir };
  const shown =
    documents.length === 0 || offer.placement === 'system'
      ? {}
      : { documents: documents.map((document) => ({ path: document.report.path, content: document.text })) };
  if (note !== undefined) return { ...identity, ...shown, notes };
  return {
    ...identity,
    body,
    truncated: report.truncated,
    sha256: toBareHash(report.digest),
    resources: inOrder(files)
      .filter(({ path, kind }) => path !== report.path && kind !== 'other')
      .map(({ path }) => path),
    ...shown,
    ...(notes.length === 0 ? {} : { notes }),
  };
}

function isLoaded(observation: Observation): observation is OfType<Observation, 'skill-loaded'> {
  return observation.type === 'skill-loaded';
}
