import { seedRows } from './row.ts';

/** Document 000: the skills system of openseed. */
export const ROWS = seedRows(
  'OPENSEED',
  {
    seed: 'test/seeds/openseed.test.ts',
    tools: 'test/tools/openseed.test.ts',
    discover: 'test/skills/registry/discover.test.ts',
    restrict: 'test/skills/format/restrictions.test.ts',
    script: 'test/skills/loader/script-path.test.ts',
    input: 'test/tools/read-input.test.ts',
    offered: 'test/tools/tools.test.ts',
    packed: 'test/package.system.test.ts',
    statements: 'test/seeds/statements.test.ts',
    fields: 'test/seeds/foreign-fields.system.test.ts',
    session: 'test/seeds/openseed-session.test.ts',
  },
  [
    [
      'a skill is a directory with at least a SKILL.md',
      'discover',
      'nested groups are found; hidden folders, node_modules, files and folders without SKILL.md are passed over',
    ],
    [
      'scripts/, references/ and assets/ are optional; references and scripts can be loaded',
      'seed',
      'assets are listed, read and found as in the examples',
    ],
    [
      'SKILL.md is YAML frontmatter and a Markdown body',
      'seed',
      'name, description and frontmatter follow the rules of the specification',
    ],
    [
      'name and description are required',
      'seed',
      'list_skills gives the folders that have a usable SKILL.md, and nothing without a root',
    ],
    [
      'name: 1 to 64 characters of a-z, 0-9 and -, none at the ends, none doubled',
      'seed',
      'name, description and frontmatter follow the rules of the specification',
    ],
    [
      'name equals the folder; the folder may be used as the name',
      'seed',
      'load_skill finds a skill by its folder if the declared name differs',
    ],
    [
      'description: 1 to 1024 characters',
      'seed',
      'name, description and frontmatter follow the rules of the specification',
    ],
    [
      'license, compatibility, metadata and allowed-tools are optional',
      'restrict',
      'an entry of allowed-tools that is not a tool pattern is ignored and reported',
    ],
    [
      'at the start only names and descriptions are loaded',
      'discover',
      'an entry has id, name, description, source, path, controls, meta and digest',
    ],
    [
      'activation loads the whole SKILL.md',
      'seed',
      'load_skill returns the whole SKILL.md, whatever its length, and ignores case',
    ],
    [
      'the root is DOCUMENT_ROOT/skills',
      'seed',
      'DOCUMENT_ROOT/skills is the only root, and an asset is returned whole',
    ],
    [
      'each subdirectory with a SKILL.md is a skill',
      'seed',
      'list_skills gives the folders that have a usable SKILL.md, and nothing without a root',
    ],
    [
      'the name is that of the frontmatter',
      'seed',
      'load_skill finds a skill by its folder if the declared name differs',
    ],
    [
      'load_skill matches the whole name and ignores case (Data-Analysis)',
      'seed',
      'load_skill returns the whole SKILL.md, whatever its length, and ignores case',
    ],
    [
      'list_skills() is [] without a root',
      'seed',
      'list_skills gives the folders that have a usable SKILL.md, and nothing without a root',
    ],
    [
      'list_skills() gives the names of the folders that have a SKILL.md',
      'seed',
      'list_skills gives the folders that have a usable SKILL.md, and nothing without a root',
    ],
    [
      'get_skill_content(name) returns frontmatter and body',
      'session',
      'load_skill and load_skill_asset remove hidden characters and escape lines that look like notes; only a body has its commands marked',
      {
        sentence: '读取并返回 SKILL.md 的完整内容（frontmatter + 正文）',
        ours: 'control and invisible characters are removed, a command of a body that other agents would run (`!` before code) is marked as not run, a line that starts with `[note]` gets a `\\`, and a note names links that leave the skill; `load_skill_asset` changes characters and lines alike, and marks no commands',
        why: 'text of a skill must not pass for a note of ours',
        restoredBy: [],
      },
    ],
    [
      'get_skill_content of an unknown name is a clear error with the name',
      'seed',
      'load_skill of an unknown skill says so, and of a broken one gives its parse error',
    ],
    [
      'search_skills(query, n=5): five by default',
      'tools',
      'search_skills gives name and description of the best, five by default',
    ],
    [
      'search matches name and description and ranks',
      'tools',
      'search_skills gives name and description of the best, five by default',
    ],
    [
      'search returns [{name, description}], at most n',
      'seed',
      'search_skills gives at most n pairs of name and description',
    ],
    [
      'a skill with invalid frontmatter is left out of the search, and the documentation says how to write it',
      'seed',
      'load_skill of an unknown skill says so, and of a broken one gives its parse error',
    ],
    [
      'get_skill_asset(skill_name, relative_path) returns the text',
      'seed',
      'DOCUMENT_ROOT/skills is the only root, and an asset is returned whole',
    ],
    [
      'relative_path is relative to the skill',
      'tools',
      'load_skill_asset gives text, only below references/, assets/ and scripts/',
    ],
    [
      'only references/, assets/ and scripts/ are allowed',
      'tools',
      'load_skill_asset gives text, only below references/, assets/ and scripts/',
    ],
    ['.. and paths that leave the skill are refused', 'seed', 'paths that leave the skill are refused'],
    [
      'get_skill_script_path returns the absolute path of scripts/<script_name>',
      'seed',
      'assets are listed, read and found as in the examples',
    ],
    [
      'a missing script or an invalid path is a clear error',
      'script',
      'one that is not there is answered with those that are most like it',
    ],
    [
      'list_skill_assets lists relative paths of the three folders',
      'seed',
      'assets are listed, read and found as in the examples',
    ],
    [
      'frontmatter is a YAML block between --- lines',
      'seed',
      'name, description and frontmatter follow the rules of the specification',
    ],
    [
      'the body is returned whole, whatever its format',
      'seed',
      'load_skill returns the whole SKILL.md, whatever its length, and ignores case',
    ],
    ['tool load_skill(skill_name: str)', 'tools', 'load_skill gives the whole SKILL.md as text'],
    [
      'tool search_skills(query: str, n: int = 5)',
      'tools',
      'search_skills gives name and description of the best, five by default',
    ],
    [
      'tool load_skill_asset(skill_name: str, relative_path: str)',
      'tools',
      'load_skill_asset gives text, only below references/, assets/ and scripts/',
    ],
    [
      'tool get_skill_script_path(skill_name: str, script_name: str)',
      'tools',
      'get_skill_script_path gives the absolute path',
    ],
    [
      'tool list_skill_assets(skill_name: str)',
      'tools',
      'list_skill_assets gives sorted relative paths below the three folders',
    ],
    [
      'the tools are registered by name in a tools list',
      'offered',
      'a tool is offered whose row says that it can work',
    ],
    [
      'the agent searches, loads the chosen skill and follows it; otherwise it plans itself',
      'seed',
      'the guidance names search, load, assets and the script path in the order of the design',
    ],
    [
      'load_skill_asset(name, "references/SPEC.md") loads a specification',
      'seed',
      'assets are listed, read and found as in the examples',
    ],
    [
      'list_skill_assets, get_skill_script_path, then run_shell_command with the path',
      'packed',
      'the examples of the source documents run',
    ],
    [
      'without a root, search_skills is [] and load_skill is "not found"',
      'seed',
      'list_skills gives the folders that have a usable SKILL.md, and nothing without a root',
    ],
    [
      'a folder without SKILL.md or without name or description is in no list',
      'seed',
      'list_skills gives the folders that have a usable SKILL.md, and nothing without a root',
    ],
    [
      'load_skill by the folder of an invalid SKILL.md returns the parse error',
      'seed',
      'load_skill of an unknown skill says so, and of a broken one gives its parse error',
    ],
    ['absolute paths are refused', 'seed', 'paths that leave the skill are refused'],
    ['after resolving, a real path outside the skill is an error', 'seed', 'paths that leave the skill are refused'],
    [
      'optionally, the first use creates the root with a README',
      'seed',
      'list_skills gives the folders that have a usable SKILL.md, and nothing without a root',
      {
        sentence: '可选：首次使用或启动时创建 skills_root 并写入 README',
        ours: 'neither is created; `call` and `run` write records, to `.agent/runs` of the project (`runs.directory`)',
        why: 'a listing must not change the skills of a project',
        restoredBy: [],
      },
    ],
    [
      'a second load returns the text again',
      'seed',
      'load_skill returns the whole SKILL.md, whatever its length, and ignores case',
    ],
    [
      'inputs and outputs of the five tools can be tested',
      'input',
      'any JSON, any value and any text is read or refused, never thrown at',
    ],
    [
      'the documentation names root, layout and both file tools',
      'seed',
      'the page of the vocabulary names the root, the layout and every tool',
    ],
    [
      'the text of a file below scripts/ is loaded too (scripts/compare.py)',
      'statements',
      'the text of a script, a reference and a template is loaded by its relative path',
    ],
    [
      'references/FORMS.md and assets/template.md are loaded by their relative paths',
      'statements',
      'the text of a script, a reference and a template is loaded by its relative path',
    ],
    [
      'get_skill_script_path refuses .. and absolute paths',
      'statements',
      'a script path is refused if it is absolute or contains ..',
    ],
    [
      'load_skill_asset, get_skill_script_path and list_skill_assets name an unknown skill',
      'statements',
      'each tool names a skill that does not exist',
    ],
    [
      'list_skill_assets of a skill without the three folders is []',
      'statements',
      'a skill without the three folders has no assets, and a file in the root is not a skill',
    ],
    [
      'a file in the root, such as README, is not a skill',
      'statements',
      'a skill without the three folders has no assets, and a file in the root is not a skill',
    ],
    [
      'search compares the query with name and description only',
      'statements',
      'a search matches name and description, not the body, and n = 1 gives the best one',
    ],
    [
      'the results are sorted before the first n are taken',
      'statements',
      'a search matches name and description, not the body, and n = 1 gives the best one',
    ],
    [
      'run_shell_command "python <path> file1 file2" takes relative names of files of the project',
      'packed',
      'the examples of the source documents run',
    ],
    [
      'the model decides by the system prompt and the descriptions of the tools',
      'seed',
      'the guidance names search, load, assets and the script path in the order of the design',
    ],
    [
      'a folder whose YAML cannot be parsed is in no list and in no search',
      'seed',
      'list_skills gives the folders that have a usable SKILL.md, and nothing without a root',
    ],
    [
      'a folder whose SKILL.md has no name is in no list and in no search',
      'seed',
      'list_skills gives the folders that have a usable SKILL.md, and nothing without a root',
    ],
    [
      'list_skills gives the folder where the declared name differs',
      'seed',
      'load_skill finds a skill by its folder if the declared name differs',
    ],
    [
      'a skill can be loaded and its files used by the declared name too',
      'seed',
      'load_skill finds a skill by its folder if the declared name differs',
    ],
    [
      'the functions of SkillsManager can be called from a program',
      'packed',
      'the examples of the source documents run',
    ],
    [
      'n may exceed the number of skills: as many results as there are',
      'seed',
      'DOCUMENT_ROOT/skills is the only root, and an asset is returned whole',
    ],
    [
      'only the direct folders of the root are skills',
      'seed',
      'DOCUMENT_ROOT/skills is the only root, and an asset is returned whole',
    ],
    [
      'the documentation cites the Agent Skills specification',
      'seed',
      'the page of the vocabulary names the root, the layout and every tool',
    ],
    [
      'folders that declare one name are listed and loaded by the names of the folders',
      'seed',
      'folders that declare one name, or the name of each other, are skills by their folders',
    ],
    ['the file is called SKILL.md, not skill.md', 'seed', 'a folder with skill.md in lower case is not a skill'],
    [
      'the task in Chinese finds the skill',
      'seed',
      'the task of the design finds the skill, with the names of the files in it',
    ],
    [
      'there is one root: skills/ of the project is not read beside DOCUMENT_ROOT/skills',
      'seed',
      'DOCUMENT_ROOT/skills is the only root, and an asset is returned whole',
    ],
    [
      'load_skill of a folder whose SKILL.md lacks name or description returns it',
      'seed',
      'a SKILL.md without name or description is loaded by its folder, is in no list, and keeps its restrictions',
    ],
    ['the first n are taken, whatever n is', 'seed', 'search_skills gives at most n pairs of name and description'],
    [
      'load_skill returns the text to its caller, whatever else the frontmatter has',
      'fields',
      'a skill with context: fork or run-mode: subagent is loaded into the conversation as any other',
    ],
  ],
);
