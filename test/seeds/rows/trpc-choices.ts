import type { Choice } from './row.ts';

/** Where document 002 is silent and the code of trpc-agent-go does something else. */
export const CHOICES: readonly Choice[] = [
  {
    theirs: '`skill_select_docs` accepts documents that do not exist',
    ours: 'a note names them and the nearest; they are not selected',
    why: 'the model would wait for text that never comes',
    test: 'test/seeds/trpc.system.test.ts: bad, missing and oversized documents are notes, and a later call shows what did not fit',
  },
  {
    theirs: '`skill_select_docs` before `skill_load` shows nothing',
    ours: 'it loads the skill',
    why: 'documents are of use only with the instructions',
    test: 'test/tools/trpc.test.ts: skill_select_docs loads a skill that is not loaded',
  },
  {
    theirs:
      '`add` gives the selection in map order; `selected_docs` and `include_all_docs` are left out when empty or false',
    ours: 'sorted, and always there',
    why: 'equal input gives equal output of one shape',
    test: 'test/tools/trpc.test.ts: skill_select_docs replaces by default and gives the whole selection in order',
  },
  {
    theirs: 'the list of skills is ordered anew for each message',
    ours: 'the order is fixed',
    why: 'prompt caches',
    test: 'test/runtime/session.test.ts: tools and system message are the same bytes after loads and after a skill came or went on disk',
  },
  {
    theirs: 'a repeated `skill_load` moves the body to the newest result',
    ours: 'a note, and the documents that are new; `openSkillTools` gives the body to the request after a note, `mcp` to every request',
    why: 'nothing is paid twice, unless the loop of another program may have dropped the body',
    test: 'test/tools/trpc.test.ts: a repeated load is a note, with the documents that are new',
  },
  {
    theirs: 'a quoted `name:` or `description:` keeps its quotes',
    ours: 'read as YAML',
    why: 'the format says YAML',
    test: 'test/skills/format/simple-head.test.ts: every field is text, just as written',
  },
  {
    theirs: 'documents that are links are followed out of the skill',
    ours: 'refused',
    why: 'a skill must not read the rest of the disk',
    test: 'test/skills/loader/hostile.test.ts: each bad path and each bad file gives its own code and none of its content',
  },
  {
    theirs: 'a body may hold `[Loaded] other` on a line',
    ours: 'the line gets a `\\`',
    why: 'a text must not pass for another skill',
    test: 'test/tools/trpc.test.ts: text of a skill cannot pass for another skill, a document or a note',
  },
  {
    theirs: 'content goes into the system message of every loop',
    ours: "agents here do so; `openSkillTools`, `call` and `mcp` return it as the tool result, unless `placement: 'system'` is set",
    why: 'the loops of others have a constant system prompt',
    test: 'test/tools/trpc.test.ts: skill_load with content in the system message gives exactly their text',
  },
  {
    theirs: '`skill_run` starts without a question',
    ours: 'the command line asks, unless `--yes` or `--auto` is given; a program that opens the tools is not asked',
    why: 'the user decides what runs',
    test: 'test/package.system.test.ts: the interactive example of trpc-agent-go runs at a terminal, with its local executor',
  },
  {
    theirs: 'several calls of one answer may run in parallel',
    ours: 'the agent performs them in order; calls of `openSkillTools` may overlap',
    why: 'each one is checked, asked about and recorded by itself',
    test: 'test/seeds/trpc-agent.system.test.ts: calls run at the same time: each program waits for a file of the other',
  },
  {
    theirs: 'the overview has descriptions as they are written',
    ours: '`<` and `>` become `&lt;` and `&gt;`, a line break becomes a space',
    why: 'a description must not close a tag of the prompt, nor start a line of its own',
    test: 'test/skills/catalog/catalog.test.ts: closes no tag in any format, and adds no line',
  },
  {
    theirs: '`allowed-tools` is not read',
    ours: 'it restricts the tools while its skill is loaded, and `skill_run` of that skill (`policy.allowed_tools: ignore` lifts that)',
    why: 'a skill must not do more than it declares',
    test: 'test/seeds/restored.system.test.ts: trpc: allowed-tools: Read refuses skill_run of its skill, and policy.allowed_tools: ignore runs it',
  },
  {
    theirs: 'the header has no `disable-model-invocation`',
    ours: 'a skill that sets it is in no list, and the model cannot load it',
    why: 'its author reserved it for people',
    test: 'test/seeds/manusx-files.test.ts: a skill with disable-model-invocation is in no list, and the model cannot load it',
  },
  {
    theirs: 'a SKILL.md that is a link is read wherever it leads',
    ours: 'one that leads out of its folder is no skill; loading it gives the reason',
    why: 'a skill must not read the rest of the disk',
    test: 'test/seeds/manusx-files.test.ts: a SKILL.md that is a link out of its folder is in no list, and loading it gives the reason',
  },
  {
    theirs: 'a value of `env`, or an item of a list such as `output_files`, must be text',
    ours: 'numbers and booleans are written as text, in both',
    why: 'models write `{"PORT": 8080}`, and it has one meaning',
    test: 'test/tools/read-input.test.ts: numbers and booleans in lists and maps of texts are written as text',
  },
  {
    theirs: '`env` of `skill_run` takes every variable',
    ours: 'those of the runtime (`PATH`) or that choose code (`PYTHONPATH`) are refused; a command may set them',
    why: 'rules and approvals see the command',
    test: 'test/sandbox/process/program-environment.system.test.ts: up to ten rejected variables are named',
  },
  {
    theirs: 'a file that a command writes into its skill stays there',
    ours: 'outside `local`, it is moved to `out/`, with a warning',
    why: 'a skill stays as it was trusted',
    test: 'test/runtime/execution/writable-skill.system.test.ts: may write beside itself; new files are kept, and the next program sees the skill unchanged',
  },
  {
    theirs: 'a skill that changes on disk while a conversation goes on runs with its new files',
    ours: 'programs of the session keep the files of the first one, each result says so, and a new session sees the new ones',
    why: 'one run uses one version of a skill: the one that was approved and recorded',
    test: 'test/runtime/execution/skill-folders.system.test.ts: keeps the files of the first program in a session, recorded or not, and each result says so once they changed',
  },
  {
    theirs: 'a call that fails may be repeated without end',
    ours: 'the same failure three times since such a call worked ends the run',
    why: 'it would use up the budget',
    test: 'test/agent/limits.system.test.ts: the same failure three times ends the run with a reason, and nothing more is asked',
  },
];
