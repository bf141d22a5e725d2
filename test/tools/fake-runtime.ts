import type { Action, ActionType } from '../../src/core/action.ts';
import { failure } from '../../src/core/failure-codes.ts';
import { nearest } from '../../src/core/nearest.ts';
import { makeRunResult } from '../../src/sandbox/execution/run-result.ts';
import type { RunResult } from '../../src/core/outputs.ts';
import type { ActionFailed, LoadReport, Observation, SkillIdentity, SkillLoaded } from '../../src/core/observation.ts';
import type { Offer, Vocabulary } from '../../src/core/tool.ts';
import { buildTools, type SkillTool, type ToolAnswer } from '../../src/tools/tools.ts';

export const PDF: SkillIdentity = { id: 'project/pdf', name: 'pdf', source: 'project', dir: '/skills/pdf' };
const DIGEST = `sha256:${'a'.repeat(64)}`;

export function report(path: string, over: Partial<LoadReport> = {}): LoadReport {
  return {
    path,
    digest: DIGEST,
    bytes: 100,
    characters: 100,
    truncated: false,
    reference: `skill://pdf/${path}`,
    ...over,
  };
}

const file = (path: string, kind: 'script' | 'reference' | 'asset' | 'document' | 'other', bytes = 10) => ({
  path,
  kind,
  bytes,
  isExecutable: kind === 'script',
  isLink: false,
});

/** Not in order, so that a vocabulary that wants order must make it. */
export const FILES = [
  file('SKILL.md', 'document', 300),
  file('references/forms.md', 'reference', 2048),
  file('scripts/fill.py', 'script'),
  file('assets/logo.png', 'asset'),
  file('USAGE.md', 'document'),
  file('data.bin', 'other'),
  file('references/API.txt', 'reference'),
];

export const LOADED: SkillLoaded = {
  type: 'skill-loaded',
  action: 'load_skill',
  skill: PDF,
  status: 'new',
  text: '# PDF\n\nFill forms with scripts/fill.py.',
  report: report('SKILL.md'),
  files: FILES,
  filesCut: false,
  documents: [],
  notes: [],
};

/** What a program left behind, with everything that a result can have. */
export const RESULT: RunResult = makeRunResult({
  end: { reason: 'exited', exitCode: 0, durationMs: 12, warnings: [] },
  stdout: { text: 'done', truncated: false, ref: 'workspace://runs/run-1/stdout.txt' },
  stderr: { text: 'a word', truncated: true },
  executor: 'bubblewrap',
  isolation: 'bubblewrap',
});

const SEEN = {
  type: 'command-seen',
  session: 's1',
  status: 'running',
  output: 'Name:',
  offset: 0,
  nextOffset: 1,
  question: { kind: 'prompt', hint: 'it asks for an answer' },
} as const;

type Answers = { readonly [A in ActionType]?: (action: Extract<Action, { type: A }>) => Observation };

const ANSWERS: Required<Answers> = {
  call_mcp_tool: ({ name }) => ({
    type: 'tool-called',
    action: 'call_mcp_tool',
    name,
    text: 'done',
    isError: false,
    truncated: false,
  }),
  read_file: ({ path }) => ({
    type: 'file-read',
    action: 'read_file',
    path,
    mediaType: 'text/plain',
    isBinary: false,
    text: 'one\ntwo',
    lines: { from: 1, to: 2 },
    totalLines: 2,
    bytes: 7,
    digest: DIGEST,
    truncated: false,
    notes: [],
  }),
  install_packages: () => ({
    type: 'packages-installed',
    action: 'install_packages',
    skill: PDF,
    isCached: false,
    layer: {
      ecosystem: 'python',
      key: '0'.repeat(64),
      lockDigest: DIGEST,
      layerDigest: DIGEST,
      packages: [{ name: 'pypdf', version: '4.1', hash: DIGEST }],
    },
  }),
  list_dir: ({ path }) => ({
    type: 'directory-listed',
    action: 'list_dir',
    path,
    entries: [{ path: 'a.txt', kind: 'file', bytes: 7 }],
    isCut: false,
  }),
  grep: ({ pattern }) => ({
    type: 'lines-found',
    action: 'grep',
    pattern,
    matches: [{ path: 'a.txt', line: 2, text: 'two' }],
    files: 1,
    skipped: 0,
    isCut: false,
    notes: [],
  }),
  write_file: ({ path }) => ({ type: 'file-written', action: 'write_file', path, bytes: 7, digest: DIGEST }),
  edit_file: ({ path }) => ({
    type: 'file-written',
    action: 'write_file',
    path,
    bytes: 7,
    digest: DIGEST,
    replaced: DIGEST,
  }),
  delete_file: ({ path }) => ({ type: 'file-deleted', action: 'delete_file', path, trash: '.agent/trash/a.txt' }),
  network_request: ({ url }) => ({
    type: 'response-received',
    action: 'network_request',
    url,
    status: 200,
    headers: { 'content-type': 'text/plain' },
    mediaType: 'text/plain',
    isBinary: false,
    text: 'ok',
    bytes: 2,
    truncated: false,
    redirects: [],
  }),
  run_script: () => ({ type: 'program-ran', action: 'run_script', skill: PDF, result: RESULT }),
  run_command: () => ({ type: 'program-ran', action: 'run_command', result: RESULT }),
  start_command: () => ({ ...SEEN, action: 'start_command' }),
  write_input: () => ({ ...SEEN, action: 'write_input', status: 'exited', exitCode: 0, result: RESULT }),
  poll_command: () => ({ ...SEEN, action: 'poll_command' }),
  kill_command: ({ session }) => ({ type: 'command-killed', action: 'kill_command', session, status: 'killed' }),
  search_skills: ({ query }) => ({
    type: 'skills-found',
    action: 'search_skills',
    query,
    results: [
      { id: 'project/pdf', digest: DIGEST, name: 'pdf', description: 'Fills forms.', source: 'project', score: 2 },
      { id: 'user/csv', digest: DIGEST, name: 'csv', description: 'Makes tables.', source: 'user', score: 1 },
    ],
  }),
  load_skill: ({ documents }) => ({
    ...LOADED,
    documents: (documents === '*' ? ['USAGE.md', 'references/forms.md'] : (documents ?? [])).map((path) => ({
      text: `Text of ${path}.`,
      report: report(path),
    })),
  }),
  list_resources: () => ({
    type: 'resources-listed',
    action: 'list_resources',
    skill: PDF,
    files: FILES,
    filesCut: false,
  }),
  read_resource: ({ path }) => ({
    type: 'resource-read',
    action: 'read_resource',
    skill: PDF,
    mediaType: 'text/markdown',
    isBinary: false,
    text: 'one\ntwo',
    lines: { from: 1, to: 2 },
    totalLines: 2,
    report: report(path),
    notes: [],
    headings: [],
  }),
  select_documents: ({ mode, documents }) => ({
    type: 'documents-selected',
    action: 'select_documents',
    skill: PDF,
    mode,
    selected: documents,
    documents: (documents === '*' ? [] : documents).map((path) => ({ text: `Text of ${path}.`, report: report(path) })),
  }),
  get_script_path: ({ script }) => ({
    type: 'script-found',
    action: 'get_script_path',
    skill: PDF,
    path: `${PDF.dir}/scripts/${script}`,
    isExecutable: true,
  }),
  final_answer: ({ answer }) => ({ type: 'answered', action: 'final_answer', answer }),
};

export const OFFER: Offer = {
  skills: ['csv', 'pdf'],
  folders: ['csv', 'pdf'],
  placement: 'tool-results',
  locate,
  locateInCommand: (command) => locate(/\/skills\/(?:csv|pdf)/.exec(command)?.[0] ?? '')?.skill,
  loaded: () => [],
};

function locate(path: string): { readonly skill: string; readonly path: string } | undefined {
  const [, skill, rest = ''] = /^(?:\/skills\/|skill:\/\/)?(csv|pdf)(?:\/(.*))?$/s.exec(path) ?? [];
  return skill === undefined ? undefined : { skill: `project/${skill}`, path: rest };
}

/** A failure as the runtime words it. */
export function failed(action: ActionType, over: Partial<ActionFailed> = {}): ActionFailed {
  return { type: 'failed', action, ...failure('file/missing', 'there is no such file'), isTerminal: false, ...over };
}

export interface Fake {
  readonly tools: readonly SkillTool[];
  /** All that reached the runtime. */
  readonly actions: readonly Action[];
  readonly call: (name: string, input: unknown) => Promise<ToolAnswer>;
}

/** The tools of a vocabulary over a table of observations: no file is needed here. */
export function fake(vocabulary: Vocabulary, answers: Answers = {}, over: Partial<Offer> = {}): Fake {
  const actions: Action[] = [];
  const offer: Offer = { ...OFFER, ...over };
  const { tools, find } = buildTools({
    vocabulary,
    offer,
    perform: async (action) => {
      actions.push(action);
      return unknownSkill(action, offer) ?? observe(action, { ...ANSWERS, ...answers });
    },
  });
  return {
    tools,
    actions,
    async call(name, input) {
      const tool = find(name);
      if (tool === undefined) throw new Error(`no tool ${name}`);
      return tool.call(input);
    },
  };
}

function unknownSkill(action: Action, { skills }: Offer): ActionFailed | undefined {
  if (!('skill' in action) || action.skill === undefined) return undefined;
  const name = action.skill.replace(/^project\//, '');
  if (skills.includes(name.toLowerCase())) return undefined;
  return failed(
    action.type,
    failure('skill/unknown', `there is no skill called "${name}"`, { nearest: nearest(name, skills) }),
  );
}

function observe(action: Action, answers: Required<Answers>): Observation {
  switch (action.type) {
    case 'search_skills':
      return answers.search_skills(action);
    case 'load_skill':
      return answers.load_skill(action);
    case 'list_resources':
      return answers.list_resources(action);
    case 'read_resource':
      return answers.read_resource(action);
    case 'select_documents':
      return answers.select_documents(action);
    case 'get_script_path':
      return answers.get_script_path(action);
    case 'read_file':
      return answers.read_file(action);
    case 'list_dir':
      return answers.list_dir(action);
    case 'grep':
      return answers.grep(action);
    case 'write_file':
      return answers.write_file(action);
    case 'edit_file':
      return answers.edit_file(action);
    case 'delete_file':
      return answers.delete_file(action);
    case 'network_request':
      return answers.network_request(action);
    case 'install_packages':
      return answers.install_packages(action);
    case 'run_script':
      return answers.run_script(action);
    case 'run_command':
      return answers.run_command(action);
    case 'start_command':
      return answers.start_command(action);
    case 'write_input':
      return answers.write_input(action);
    case 'poll_command':
      return answers.poll_command(action);
    case 'kill_command':
      return answers.kill_command(action);
    case 'call_mcp_tool':
      return answers.call_mcp_tool(action);
    case 'final_answer':
      return answers.final_answer(action);
  }
}
