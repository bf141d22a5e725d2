import { seedRows } from './row.ts';

const SEED_LOAD = 'skill_load then skill_run gives the output file of the example';
const PARAMETERS = 'the tools that run things are offered where programs can run, with all of their parameters';
const PASSED = 'skill_run passes every parameter on and gives the result as it is';
const FOUR = 'come from all four sources, to the place asked for or to work/inputs';
const FOLDERS = 'a command finds its folders and variables';
const IN_WORKSPACE = 'inputs and outputs are relative to the workspace';
const CONTAINER = 'in a container a command reaches its workspace alone, has no network, and inputs and outputs work';
const ISOLATED = 'skill_run is there without an option, and runs isolated';
const TERMINAL = 'the interactive example of trpc-agent-go runs at a terminal, with its local executor';
const WHOLE = 'the examples of the source documents run';
const SELECT = 'skill_select_docs replaces by default and gives the whole selection in order';
const DOCS = 'docs and include_all_docs: all beat named, and an empty list is none';
const LIST = 'skill_list_docs gives the .md and .txt files but SKILL.md';
const ENDS = 'time, output and a wish to stop end a program, each with its own reason';
const TOLD = 'bad, missing and oversized documents are notes, and a later call shows what did not fit';
const EVENTS = 'has the body in the system message of the next request, and an event tool.response for each call';
const STATE = 'the state has the documented keys';
const DELTA = 'a call has a state delta in the documented shape';
const NAMED = 'has the name of the skill, which is SKILL_NAME: %s';
const SPANS = 'each step of a run is told to whoever traces, with names and counts and no contents';

const IN_SYSTEM =
  'placed in the system message, loaded skills and selected documents are in each request while they live';
const IN_CONTAINER = 'a skill lies in its container byte for byte, executable, read-only, with links to the workspace';
const NOT_CHOSEN = 'a document that was not chosen is not shown, and scripts never are';
const ARCHIVE = 'an archive at an address is downloaded once into SKILLS_CACHE_DIR';
const NAMED_ROOT =
  'a root that is named is the only one: no skill of the home folder, of the project, or built in is beside it';

/** Document 002: the skills page of trpc-agent-go. */
export const ROWS = seedRows(
  'TRPC',
  {
    seed: 'test/seeds/trpc.system.test.ts',
    folders: 'test/runtime/execution/skill-folders.system.test.ts',
    tools: 'test/tools/trpc.test.ts',
    inputs: 'test/sandbox/inputs/inputs.system.test.ts',
    outputs: 'test/sandbox/execution/run-result.test.ts',
    collect: 'test/sandbox/outputs/collect.test.ts',
    runs: 'test/runtime/execution.system.test.ts',
    session: 'test/runtime/session.test.ts',
    container: 'test/sandbox/container.system.test.ts',
    roots: 'test/packs/fetched-root.test.ts',
    restored: 'test/seeds/restored.system.test.ts',
    models: 'test/model/auto.system.test.ts',
    statements: 'test/seeds/statements.test.ts',
    agent: 'test/seeds/trpc-agent.system.test.ts',
    limits: 'test/seeds/trpc-limits.system.test.ts',
    packed: 'test/package.system.test.ts',
    bubblewrap: 'test/sandbox/bubblewrap.system.test.ts',
    library: 'test/library/vocabularies.system.test.ts',
    fields: 'test/seeds/foreign-fields.system.test.ts',
  },
  [
    [
      'an overview of names and descriptions is in the system message',
      'seed',
      'the overview has names and descriptions and no body',
    ],
    ['skill_load shows the body of SKILL.md and chosen documents', 'seed', SEED_LOAD],
    ['skill_select_docs adds, replaces and clears documents', 'tools', SELECT],
    ['skill_list_docs lists the documents', 'tools', LIST],
    ['skill_run runs a command in a workspace and returns stdout, stderr and files', 'seed', SEED_LOAD],
    ['output files are collected by patterns, with content and MIME type', 'seed', SEED_LOAD],
    [
      'a local or a container executor can be chosen',
      'container',
      'exit statuses and signals are those of the program in a container too',
    ],
    [
      'the local executor is the default',
      'runs',
      'a script gets its arguments as they are, and the result says what isolated it',
      {
        sentence: '可选择本地或容器工作区执行器（默认本地）',
        ours: 'the first executor that isolates',
        why: 'scripts of others run isolated unless the user chooses otherwise',
        restoredBy: [
          ["execution: { executor: 'local' }", 'restored', 'trpc: a program runs without isolation'],
          [
            '--executor local, policy.allow: unsafe_local',
            'restored',
            'trpc: an unattended command runs without isolation',
          ],
        ],
      },
    ],
    [
      'declared inputs and outputs: map, collect, inline, save',
      'runs',
      'inputs go in, files come out, and artifacts are inputs of the next run',
    ],
    ['level 1 has name and description only', 'seed', 'the overview has names and descriptions and no body'],
    ['level 2: the body goes whole into the system message', 'agent', EVENTS],
    ['level 3: only the text of chosen documents is shown', 'tools', DOCS],
    [
      'scripts are never inlined into the prompt',
      'session',
      'of skills that were not loaded not one byte is shown, and the ledger names every byte that was',
    ],
    ['a skill is a folder with SKILL.md, documents (.md, .txt) and scripts', 'seed', SEED_LOAD],
    ['USAGE.md beside SKILL.md is a document', 'seed', STATE],
    ['SKILLS_ROOT names the root', 'statements', NAMED_ROOT],
    ['SKILLS_ROOT may be the address of an archive (today)', 'roots', ARCHIVE],
    ['SKILLS_CACHE_DIR says where (today)', 'roots', ARCHIVE],
    ['skill_load, skill_select_docs and skill_list_docs are registered by themselves', 'tools', PARAMETERS],
    ['skill_run is registered by itself', 'seed', ISOLATED],
    ['guidance in the system message: skill_load first, documents if needed, then skill_run', 'seed', SEED_LOAD],
    ['SKILL.md of the example with an unusual body loads', 'seed', SEED_LOAD],
    ['a folder python_math with the name python-math', 'seed', SEED_LOAD],
    ['the command of the example writes out/fib.txt', 'seed', SEED_LOAD],
    [
      'skill_load: skill is required',
      'tools',
      'skill_load with content in tool results gives their text and their block',
    ],
    ['skill_load: docs is a list of file names', 'tools', DOCS],
    [
      'skill_load: include_all_docs',
      'seed',
      TOLD,
      {
        sentence: 'include_all_docs（可选）：为 true 时包含所有文档',
        ours: 'up to 48,000 characters in one answer, as for several `docs`; the rest is listed, stays selected, and `skill_select_docs` returns it. A document over 2,000,000 bytes is named and not shown',
        why: 'one call must not fill the context',
        restoredBy: [
          [
            'security.max_documents_characters',
            'seed',
            'security.max_documents_characters lets more documents into one answer',
          ],
        ],
      },
    ],
    ['skill_load sets temp:skill:loaded:<name> to "1"', 'seed', STATE],
    ['skill_load sets temp:skill:docs:<name> to "*" or a JSON list', 'seed', TOLD],
    ['the keys live for one turn', 'session', IN_SYSTEM],
    ['the request processor puts body and documents into the system message', 'session', IN_SYSTEM],
    ['repeated calls add or replace documents', 'tools', 'a repeated load is a note, with the documents that are new'],
    ['skill_select_docs: skill is required', 'tools', SELECT],
    ['skill_select_docs: docs', 'tools', SELECT],
    ['skill_select_docs: include_all_docs', 'seed', STATE],
    ['skill_select_docs: mode add', 'seed', TOLD],
    ['skill_select_docs: mode replace', 'tools', SELECT],
    ['skill_select_docs: mode clear', 'seed', STATE],
    ['skill_select_docs updates temp:skill:docs:<name>', 'seed', DELTA],
    ['skill_list_docs: skill is required', 'tools', LIST],
    ['skill_list_docs returns an array of file names', 'tools', LIST],
    ['session keys are managed without the user', 'seed', STATE],
    ['skill_run: skill is required', 'tools', PARAMETERS],
    ['skill_run: command is required', 'tools', PARAMETERS],
    [
      'the command runs by bash -lc',
      'seed',
      FOLDERS,
      {
        sentence: 'Shell 命令（通过 bash -lc 执行）',
        ours: '`bash -c`',
        why: 'start-up files of the user would make runs differ between machines',
        restoredBy: [["bash -lc '…'", 'restored', 'trpc: a command runs in a login shell']],
      },
    ],
    [
      'skill_run: cwd relative to the skill',
      'seed',
      'a folder that does not exist is named, and workspace_exec starts in the workspace',
    ],
    ['skill_run: env', 'seed', FOLDERS],
    ['skill_run: output_files with patterns', 'seed', 'a run lists the files that it wrote, and no leftovers'],
    ['patterns are relative to the workspace', 'seed', IN_WORKSPACE],
    ['$OUTPUT_DIR/*.txt is out/*.txt', 'seed', 'inputs and outputs of the page'],
    ['inputs: a list of objects', 'inputs', FOUR],
    ['inputs.from artifact://name', 'inputs', FOUR],
    [
      'inputs.from artifact://name@version',
      'inputs',
      'every one is recorded, and a pinned one keeps the version it had first',
    ],
    [
      'inputs.from host://abs/path',
      'seed',
      'inputs and outputs of the page',
      {
        sentence: 'host://abs/path 从宿主机绝对路径复制/链接',
        ours: 'files of the project are asked about with the command; others need a grant, or an approval of exactly that call. They are copied: `link` gives a copy and a warning',
        why: "files of the machine are not the skill's",
        restoredBy: [["execution: { hostInputs: ['/'] }", 'restored', 'trpc: host:// reads a file of the machine']],
      },
    ],
    ['inputs.from workspace://rel/path', 'inputs', FOUR],
    ['inputs.from skill://<name>/rel/path', 'inputs', FOUR],
    [
      'inputs.to relative to the workspace',
      'inputs',
      'a place among the skills',
      {
        sentence: 'to：目的路径（相对工作区）',
        ours: 'not below `skills/`, `runs/`, `home/` and `private/`, nor to `metadata.json`, nor under a name at the top that begins with a dot',
        why: 'an input must not replace a file of a skill that was trusted, nor the output of another run',
        restoredBy: [],
      },
    ],
    ['inputs.to is WORK_DIR/inputs/<basename> by default', 'inputs', FOUR],
    ['inputs.mode copy by default', 'inputs', FOUR],
    [
      'inputs.mode link where possible',
      'inputs',
      'links are relative and stay in the workspace; what cannot be linked is copied, with a warning',
    ],
    [
      'outputs.globs with **',
      'collect',
      'leave out files of skills that no pattern names, and the result counts them',
      {
        sentence: 'globs：通配符数组（相对工作区，支持 **',
        ours: '`**` matches inputs, the files of programs and what they printed (`runs/run-1/stdout.txt`); those of skills need a pattern that begins with `skills/`, and a warning counts them; `home/`, `private/`, `metadata.json` and what begins with a dot beside them are never collected',
        why: 'copies of skills would take the places of the files that a program wrote',
        restoredBy: [["globs: ['**', 'skills/**']", 'restored', 'trpc: ** and skills/** collect the whole workspace']],
      },
    ],
    ['outputs.globs with $OUTPUT_DIR/**', 'seed', 'inputs and outputs of the page'],
    ['outputs.inline', 'outputs', 'outputs shows nothing inline unless told, output_files does unless told otherwise'],
    ['outputs.save', 'seed', 'inputs and outputs of the page'],
    ['outputs.name_template', 'seed', 'inputs and outputs of the page'],
    ['outputs.max_files is 100', 'outputs', 'output_files and outputs make the same request'],
    ['outputs.max_file_bytes is 4 MiB', 'outputs', 'output_files and outputs make the same request'],
    ['outputs.max_total_bytes is 64 MiB', 'outputs', 'output_files and outputs make the same request'],
    ['limits are enforced', 'collect', 'what all files together may have is held, and smaller ones still fit'],
    ['skill_run: timeout in seconds', 'runs', ENDS],
    ['the executor has a default timeout', 'tools', PASSED],
    ['save_as_artifacts returns artifact_files', 'seed', 'inputs and outputs of the page'],
    ['omit_inline_content leaves names and MIME types', 'seed', 'inputs and outputs of the page'],
    ['artifact_prefix', 'seed', 'inputs and outputs of the page'],
    ['result: stdout, stderr', 'seed', SEED_LOAD],
    ['result: exit_code', 'seed', SEED_LOAD],
    ['result: timed_out', 'runs', ENDS],
    ['result: duration_ms', 'outputs', 'has every field, in an order that does not depend on the machine'],
    ['result: output_files with name, content and mime_type', 'seed', SEED_LOAD],
    ['result: artifact_files with name and version', 'seed', 'inputs and outputs of the page'],
    ['outputs.save adds artifact_files', 'seed', 'inputs and outputs of the page'],
    ['without cwd the command starts in the skill (/skills/<name>)', 'folders', NAMED],
    ['a relative cwd is below the skill', 'seed', 'inputs and outputs of the page'],
    ['WORKSPACE_DIR, SKILLS_DIR, WORK_DIR, OUTPUT_DIR, RUN_DIR', 'seed', FOLDERS],
    ['SKILL_NAME', 'folders', NAMED],
    ['out/, work/ and inputs/ are links in the skill', 'seed', FOLDERS],
    [
      'a skill with its own out/ and work/',
      'folders',
      'may bring its own out/, work/ and inputs/: programs write there, and the next one reads it',
    ],
    ['container: the run folder is writable', 'container', IN_CONTAINER],
    ['container: skills are mounted read-only', 'container', IN_CONTAINER],
    [
      'container: no network by default',
      'container',
      'a container has only a loopback network, no capabilities, and the user nobody',
    ],
    [
      'reading and writing stay in the workspace, locally and in a container',
      'agent',
      'without isolation the result says so',
      {
        sentence: '本地/容器均限制读取与写入在工作区内',
        ours: 'all but `local` confine a program: of its workspace it writes `out/`, `work/`, `runs/`, folders of inputs and its `HOME`, not the top; it reads folders of the system, too. `local` confines nothing, and each result says so',
        why: 'a program that runs without isolation has the rights of the user',
        restoredBy: [
          [
            "executor: 'auto'",
            'agent',
            'by default a command reaches its workspace alone, and cannot change the skill',
          ],
        ],
      },
    ],
    [
      'output files that are read have a limit',
      'collect',
      'a file over the size limit is shown by its start, listed, and never saved',
    ],
    ['a tool response is an event tool.response that carries a state delta', 'agent', EVENTS],
    [
      'the results of several tool calls are merged',
      'agent',
      'sends the results of several calls of one answer together',
    ],
    ['span workspace.create', 'runs', SPANS],
    ['spans workspace.stage.*', 'runs', SPANS],
    ['span workspace.run', 'runs', SPANS],
    ['span workspace.collect', 'runs', SPANS],
    ['span workspace.cleanup', 'runs', SPANS],
    ['span workspace.inline', 'runs', SPANS],
    ['the next request is built from the state: overview, then body and documents', 'session', IN_SYSTEM],
    ['outputs are collected exactly by patterns', 'seed', 'a run lists the files that it wrote, and no leftovers'],
    ['"unknown skill" names the skill', 'tools', 'an unknown skill is told in their words, with the nearest'],
    ['"executor is not configured"', 'seed', 'without an executor skill_run says that none is configured'],
    ['a timeout and a non-zero exit code are in the result', 'runs', ENDS],
    [
      'a pattern that matches nothing is reported',
      'collect',
      'that match no pattern are left out, and a pattern without a match is reported',
    ],
    [
      'documents are any .md and .txt files',
      'statements',
      'any .md and .txt file is a document, and others are not',
      {
        sentence: 'USAGE.md        # 可选文档（任意 .md/.txt）',
        ours: 'not below `.git` and `node_modules`; and those that cannot be shown are named in notes (of misnamed ones five, and the number of the others): a name with a backslash, a control or invisible character or an encoded `.`, `/`, `\\` or NUL (`%00`, also `%25` before it), a name at the top that starts like another place (`~draft.md`, `Note: a.md`), and bytes that are not UTF-8 text',
        why: 'those folders are not written for a model, a path has one spelling on every system, and a prompt is text',
        restoredBy: [],
      },
    ],
    ['a document that was not chosen is not injected', 'statements', NOT_CHOSEN],
    ['OPENAI_API_KEY chooses the model service', 'models', 'keys of the environment'],
    ['outputs.max_files is enforced', 'collect', 'more files than may be collected are listed'],
    [
      'outputs.max_file_bytes is enforced',
      'collect',
      'a file over the size limit is shown by its start, listed, and never saved',
    ],
    [
      'output files have name, MIME type and content',
      'collect',
      'are given by name with kind, size, digest, reference and content',
    ],
    ['scripts run in an isolated workspace', 'seed', ISOLATED],
    ['Docker is needed for the container executor only', 'seed', ISOLATED],
    [
      'a skill repository is a folder: NewFSRepository("./skills")',
      'agent',
      'a folder of the project is the repository',
    ],
    ['without a configured executor the default one is used', 'seed', ISOLATED],
    ['the interactive example: a chat in natural language', 'packed', TERMINAL],
    ['the interactive example with -executor local', 'packed', TERMINAL],
    ['the interactive example with -executor container', 'agent', CONTAINER],
    ['the model chooses a skill by the overview, loads it, and runs its command', 'packed', WHOLE],
    ['commands name scripts by their path', 'packed', WHOLE],
    ['include_all_docs beats docs', 'tools', DOCS],
    ['"*" selects all documents, a list the named ones', 'seed', DELTA],
    ['outputs.globs relative to the workspace', 'seed', IN_WORKSPACE],
    ['outputs.globs reach files of skills', 'seed', 'inputs and outputs are relative to the workspace in a sandbox'],
    ['the typical flow with output_files', 'packed', WHOLE],
    ['the typical flow with outputs', 'packed', WHOLE],
    ['the typical flow with inputs of earlier steps', 'packed', WHOLE],
    ['container: inputs and outputs as locally', 'agent', CONTAINER],
    ['container: reading and writing stay in the workspace', 'agent', CONTAINER],
    [
      'the skill tree can be read-only',
      'bubblewrap',
      'a program sees its workspace, its skill read-only, and its links',
    ],
    ['calls can run in parallel', 'agent', 'calls run at the same time: each program waits for a file of the other'],
    ['the state delta of a call decides the system message of the next request', 'agent', EVENTS],
    ['sources of scripts do not reach the context', 'statements', NOT_CHOSEN],
    ['"unknown skill": the overview lists the skills that there are', 'packed', WHOLE],
    [
      'a failed tool call does not end the conversation',
      'agent',
      'sends the results of several calls of one answer together',
    ],
    ['the repository that is given is the only one', 'statements', NAMED_ROOT],
    [
      'a program that opens the skills has skill_run by itself: openSkills too',
      'library',
      'trpc: skill_run is there without an option, and runs isolated',
    ],
    [
      'skill_load loads into the conversation, whatever else the header has',
      'fields',
      'a skill with context: fork or run-mode: subagent is loaded into the conversation as any other',
    ],
  ],
);
