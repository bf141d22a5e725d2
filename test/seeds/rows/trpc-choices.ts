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
    theirs: 'a body and documents are shown byte for byte',
    ours: 'control and invisible characters are removed, and a note counts them; lines end with `\\n`; a line that starts with `[Loaded]`, `[Doc]`, `Docs loaded:`, `loaded:` or `[note]` gets a `\\`, `<` of a tag of ours becomes `&lt;`, and a command of a body that other agents would run (`!` before code) is marked as not run',
    why: 'a text must not pass for another skill or a note, nor hold what people do not see',
    test: 'test/seeds/statements.test.ts: text that could pass for something else is changed in a body and a document, and notes count what was removed',
  },
  {
    theirs: 'a SKILL.md of any length',
    ours: 'up to 4 MiB',
    why: 'reading must end, whatever is in the folder',
    test: 'test/skills/loader/load-body.test.ts: gives a code for each case and no content',
  },
  {
    theirs: 'a header is read line by line: `&` and `*` are text',
    ours: 'a skill with a YAML anchor is left out with the reason; the first of a repeated key counts, with a warning',
    why: 'an alias can make a small file large; a text has one meaning in every vocabulary',
    test: 'test/seeds/manusx-files.test.ts: a SKILL.md with a YAML anchor is left out with the reason, and of a repeated key the first one counts',
  },
  {
    theirs: '`stdout` and `stderr` are all that was printed',
    ours: 'up to 16 KiB of each, half from the start and half from the end with a warning, without control and invisible characters (`\\r` is one); `stdout_ref` names the file that has every byte',
    why: 'one command must not fill the context, nor print what people do not see',
    test: 'test/seeds/trpc-limits.system.test.ts: stdout and stderr come without control and invisible characters and up to 16 KiB; stdout_ref names every byte',
  },
  {
    theirs: '`inputs` of any number and size',
    ours: 'at most 100, with 256 MiB and 10,000 files in all',
    why: 'a copy must end',
    test: 'test/sandbox/inputs/inputs.system.test.ts: what is more than may be brought in: files, bytes, inputs, and two for one place',
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
    ours: 'with bubblewrap, namespaces and containers, a new file is moved to `out/` and a change is discarded, with a warning (a skill of more than 200 entries may be read-only); `landlock`, and `local` for root, refuse to write it; `local` keeps it for the session',
    why: 'a skill stays as it was trusted',
    test: 'test/seeds/trpc-limits.system.test.ts: %s: not beside out/, work/, runs/ and its HOME, but into a copy of its skill',
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
