import { CHOSEN_FOR_FOLDERS, type Choice } from './row.ts';

/** Where document 003 is silent and its system does something else. */
export const CHOICES: readonly Choice[] = [
  {
    theirs: '`file_read` of the agent may read any file; the document shows files of skills',
    ours: 'files of skills only, below `scripts/`, `references/`, `assets/`, and `.md` and `.txt`; a path outside is refused without a look at the disk',
    why: 'a vocabulary for skills needs no more',
    test: 'test/tools/manusx.test.ts: file_read of anything else never reaches the disk',
  },
  {
    theirs: 'a SKILL.md that does not match the pattern of the loader raises an error',
    ours: "it is reported and left out, and requesting it gives `Skill 'x' not found` with the reason as `hint`",
    why: 'one broken skill must not hide the others',
    test: 'test/skills/registry/discover.test.ts: each skill folder is one entry or one left-out record with its reason',
  },
  {
    theirs: 'files of a folder come in the order of the file system',
    ours: 'sorted',
    why: 'equal input gives equal output',
    test: 'test/tools/manusx.test.ts: skill_request gives the body, the directory and the resources',
  },
  {
    theirs: 'of two folders with one name, the one that the file system lists last is used',
    ours: 'the first by path',
    why: 'equal input gives equal output',
    test: 'test/seeds/manusx.test.ts: of two folders with one name the first by path is used, whichever is newer, and the other is not read',
  },
  {
    theirs: 'a name in another case, with spaces around it, or of the folder is unknown',
    ours: 'names match whatever their case, without spaces around them, and folders by their names',
    why: 'models write names so',
    test: 'test/seeds/manusx-files.test.ts: skill_request finds a skill by its folder, and with spaces around its name',
  },
  {
    theirs: 'a folder `references` that is a link to another folder of the skill is listed',
    ours: 'it is not; `file_read` reads its files by a path that begins with the name of the skill',
    why: 'a file is listed once, where it is',
    test: 'test/seeds/manusx-files.test.ts: a folder of resources that is a link inside its skill is not listed; file_read reads its files with the name of the skill',
  },
  {
    theirs: 'files below `.git` and `node_modules` are resources too',
    ours: 'they are not listed',
    why: 'they are not written for a model',
    test: 'test/seeds/manusx.test.ts: files below .git and node_modules are not listed',
  },
  {
    theirs: 'a skill without a body and files is not found',
    ours: 'found, with empty content',
    why: 'its description says what it is for',
    test: 'test/seeds/manusx.test.ts: a skill without body and files is found, also if its file ends with the frontmatter',
  },
  {
    theirs: 'a SKILL.md that ends with the closing `---` does not match the pattern',
    ours: 'it is a skill without a body, also in strict mode',
    why: 'nothing else can be meant',
    test: 'test/seeds/manusx.test.ts: a skill without body and files is found, also if its file ends with the frontmatter',
  },
  {
    theirs: 'the frontmatter has no `disable-model-invocation`',
    ours: 'a skill that sets it is in no list, and the model cannot load it',
    why: 'its author reserved it for people',
    test: 'test/seeds/manusx-files.test.ts: a skill with disable-model-invocation is in no list, and the model cannot load it',
  },
  {
    theirs: '`allowed-tools` is not read',
    ours: 'it restricts the tools while its skill is loaded (`policy.allowed_tools: ignore` lifts that)',
    why: 'a skill must not do more than it declares',
    test: 'test/seeds/restored.system.test.ts: manusx: allowed-tools: Read refuses a shell command while its skill is loaded, and policy.allowed_tools: ignore runs it',
  },
  {
    theirs: 'a binary asset',
    ours: '`file_read` describes it in a note',
    why: 'the result is text',
    test: 'test/seeds/manusx-files.test.ts: file_read describes a binary file',
  },
  {
    theirs: '`file_write` of any length',
    ours: 'up to 1,000,000 characters',
    why: 'so is the input of every tool',
    test: 'test/tools/manusx.test.ts: file_write takes up to 1,000,000 characters',
  },
  {
    theirs: 'a SKILL.md of any length',
    ours: 'up to 4 MiB',
    why: 'reading must end, whatever is in the folder',
    test: 'test/skills/loader/load-body.test.ts: gives a code for each case and no content',
  },
  ...CHOSEN_FOR_FOLDERS,
  {
    theirs: 'an empty `description` is listed as `- name: `',
    ours: 'the skill is left out with the reason, as without the field',
    why: 'a model cannot choose it, and the table of the fields requires it',
    test: 'test/seeds/manusx-files.test.ts: an empty description is no description',
  },
  {
    theirs:
      'a name or a description that is a number or a list, or whose key is `Name` or `Description`, raises an error',
    ours: 'it is read as text',
    why: 'nothing else can be meant',
    test: 'test/seeds/manusx-files.test.ts: a name or a description that is no text, or has another spelling of its key, is read as text',
  },
  {
    theirs: 'every file of the three folders is listed',
    ours: 'a file whose name no path can spell (backslash, control or invisible character, an encoded `.` or `/`) is not; a note of `skill_request` names it',
    why: 'every listed path can be read',
    test: 'test/seeds/manusx-files.test.ts: a file whose name no path can spell is not a resource, and a note of skill_request names it',
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
