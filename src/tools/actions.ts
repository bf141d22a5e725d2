import {
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
import {
  readList,
  readOffset,
  offsetParameter,
  readOptionalText,
  skillChoice,
  readSkillReference,
  skillReference,
  readText,
  texts,
  readTexts,
} from './parameters.ts';
import { packagesParameter, readProgramOptions } from './run-parameters.ts';
import { canRun, hasSkills, observed, singleAction } from './single-action.ts';
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
  toAction: (input) => ({
    type: 'run_script',
    ...readSkillReference(input['skill']),
    script: readText(input, 'relative_path'),
    args: readTexts(input, 'args'),
    ...readProgramOptions(input),
  }),
  toResult: ({ result }) => ({ ok: result.reason === 'exited' && result.exit_code === 0, ...result }),
  isOffered: canRun,
});

/** The most skills per call; the design of skills-agent loads one or two per round. */
const MOST_SKILLS = 8;

const selectSkills: ToolRow = {
  name: 'select_skills',
  description: 'Select the skills for the task and load their instructions. Loading runs nothing.',
  action: 'load_skill',
  schema: (offer) =>
    jsonSchema.section(
      'Which skills.',
      {
        skills: {
          type: 'array',
          description: 'The skills, most general first.',
          items: skillReference(skillChoice(offer)),
          maxItems: MOST_SKILLS,
        },
        reason: jsonSchema.text('Why these.'),
      },
      ['skills'],
    ),
  isOffered: hasSkills,
  toActions: (input) =>
    readList(input, 'skills').map((skill): Action => ({ type: 'load_skill', ...readSkillReference(skill) })),
  toResult: (observations, offer) => ({
    ok: true,
    skills: observations.map((observation) => showSkill(observed(observation, 'load_skill'), offer)),
  }),
};

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
  toAction(input) {
    // The example of skills-agent includes the heading marks.
    const section = (readOptionalText(input, 'section_hint') ?? '').replace(/^\s*#+\s*/, '').trim();
    return {
      type: 'read_resource',
      ...readSkillReference(input['skill']),
      path: readText(input, 'relative_path'),
      ...(section === '' ? {} : { section }),
      ...readOffset(input),
    };
  },
  toResult: showRead,
});

const finalAnswer: ToolRow = singleAction({
  name: 'final_answer',
  description: 'Give the final answer and end the run.',
  action: 'final_answer',
  schema: () => jsonSchema.section('The answer.', { answer: jsonSchema.text('The text for the user.') }, ['answer']),
  toAction: (input) => ({ type: 'final_answer', answer: readText(input, 'answer') }),
  toResult: ({ answer }) => ({ ok: true, answer }),
});

/** The structured actions and tools of skills-agent. Every result is an observation with `ok`. */
export const skillsAgent: Vocabulary = {
  name: 'skills-agent',
  tools: [selectSkills, loadResource, runScript, finalAnswer, ...HOST_TOOLS],
  loadTool: 'select_skills',
  catalogFormat: 'lines',
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
  if (note !== undefined) return { ...identity, notes };
  return {
    ...identity,
    body,
    truncated: report.truncated,
    sha256: toBareHash(report.digest),
    resources: inOrder(files)
      .filter(({ path, kind }) => path !== report.path && kind !== 'other')
      .map(({ path }) => path),
    ...(documents.length === 0
      ? {}
      : { documents: documents.map((shown) => ({ path: shown.report.path, content: shown.text })) }),
    ...(notes.length === 0 ? {} : { notes }),
  };
}

function isLoaded(observation: Observation): observation is OfType<Observation, 'skill-loaded'> {
  return observation.type === 'skill-loaded';
}
