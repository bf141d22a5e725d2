import { CHOSEN_FOR_FOLDERS, type Choice } from './row.ts';

/** Where document 000 is silent and its system does something else. */
export const CHOICES: readonly Choice[] = [
  {
    theirs: 'the model learns names and descriptions from `search_skills`',
    ours: 'the system prompt lists them too',
    why: 'a model that sees the list searches less, and finds what its words do not match',
    test: 'test/seeds/openseed.test.ts: the guidance names search, load, assets and the script path in the order of the design',
  },
  {
    theirs: 'every word of a query may match',
    ours: 'words such as `the`, `one` and `thing` match names, not descriptions',
    why: 'they say nothing about a skill',
    test: 'test/skills/search/hostile.test.ts: stop words alone are looked for in names',
  },
  {
    theirs: '`allowed-tools` need not be parsed yet',
    ours: 'it restricts the tools while its skill is loaded (`policy.allowed_tools: ignore` lifts that)',
    why: 'a skill must not do more than it declares',
    test: 'test/seeds/restored.system.test.ts: openseed: allowed-tools: Read refuses a shell command while its skill is loaded, and policy.allowed_tools: ignore runs it',
  },
  {
    theirs: 'a script is run by its path, without a load of its skill',
    ours: 'a command that names a file of a skill obeys the `allowed-tools` of that skill, loaded or not (`policy.allowed_tools: ignore` lifts that)',
    why: 'a skill must not do more than it declares',
    test: 'test/seeds/restored.system.test.ts: openseed: a command that names a file of a skill with allowed-tools: Read is refused though the skill is not loaded',
  },
  {
    theirs: 'each `list_skills` and `search_skills` reads the folders',
    ours: 'which skills there are, and what search finds of them, is read by the runtime; an open session keeps it, and one opened after `runtime.refresh()`, or by a new command, sees changes. `load_skill` and the tools for files read the disk at each call',
    why: 'tools and prompt of a conversation stay the same, and so does the cache of its model',
    test: 'test/seeds/openseed-session.test.ts: lists, searches and names stay those of the runtime until its refresh() and a new session; bodies and files are read anew',
  },
  {
    theirs: 'a script runs where it is',
    ours: 'on a copy of the skill; the shell sees the project read-only (`sandbox.project`)',
    why: 'a script must not change its skill',
    test: 'test/tools/openseed.test.ts: run_shell_command starts in the project, where programs see it',
  },
  {
    theirs: 'lists come in the order of the file system',
    ours: 'sorted',
    why: 'equal input gives equal output',
    test: 'test/tools/openseed.test.ts: list_skill_assets gives sorted relative paths below the three folders',
  },
  {
    theirs: 'a path is checked before the file is opened',
    ours: 'on the opened file',
    why: 'a link can change after a check',
    test: 'test/skills/loader/hostile.test.ts: each bad path and each bad file gives its own code and none of its content',
  },
  {
    theirs: 'error texts in Chinese, such as 「未找到技能: xxx」',
    ours: 'in English, with the next step and the nearest names',
    why: 'one language for all messages',
    test: 'test/tools/openseed.test.ts: an unknown skill is plain text with its name and the nearest',
  },
  {
    theirs: 'a second load in one conversation',
    ours: 'the tools return the text again; `run` and `chat`, which keep the conversation, answer with a note',
    why: 'nothing is paid twice',
    test: 'test/tools/openseed.test.ts: load_skill says so where the text is there already, or goes into the system message',
  },
  {
    theirs: 'a binary asset',
    ours: 'described, not dumped',
    why: 'the result is text',
    test: 'test/tools/openseed.test.ts: load_skill_asset describes a binary file',
  },
  {
    theirs: 'files below `.git` and `node_modules` are resources too',
    ours: 'they are not listed',
    why: 'they are not written for a model',
    test: 'test/seeds/manusx.test.ts: files below .git and node_modules are not listed',
  },
  {
    theirs: 'the frontmatter has no `disable-model-invocation`',
    ours: 'a skill that sets it is in no list, and the model cannot load it',
    why: 'its author reserved it for people',
    test: 'test/seeds/manusx-files.test.ts: a skill with disable-model-invocation is in no list, and the model cannot load it',
  },
  {
    theirs: 'every file of the three folders is listed',
    ours: 'a file whose name no path can spell (backslash, control or invisible character, an encoded `.` or `/`) is not; a note of `load_skill` names it',
    why: 'every listed path can be read',
    test: 'test/seeds/openseed.test.ts: a file whose name no path can spell is not listed, and load_skill has a note about it',
  },
  ...CHOSEN_FOR_FOLDERS,
  {
    theirs: 'a SKILL.md of any length',
    ours: 'up to 4 MiB',
    why: 'reading must end, whatever is in the folder',
    test: 'test/skills/loader/load-body.test.ts: gives a code for each case and no content',
  },
  {
    theirs: 'a SKILL.md that is a link is read wherever it leads',
    ours: 'one that leads out of its folder is no skill; loading it gives the reason',
    why: 'a skill must not read the rest of the disk',
    test: 'test/seeds/manusx-files.test.ts: a SKILL.md that is a link out of its folder is in no list, and loading it gives the reason',
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
