import { seedRows } from './row.ts';

/** A root that the user names needs no trust. */
const NAMED_ROOT = [
  [
    '--root backend/skills',
    'restored',
    'manusx: below a root that the user names, skills need no trust, nor does a new one after a restart',
  ],
] as const;

/** Document 003: skills in ManusX. */
export const ROWS = seedRows(
  'MANUSX',
  {
    seed: 'test/seeds/manusx.test.ts',
    tools: 'test/tools/manusx.test.ts',
    discover: 'test/skills/registry/discover.test.ts',
    openseed: 'test/seeds/openseed.test.ts',
    session: 'test/runtime/session.test.ts',
    catalog: 'test/skills/catalog/catalog.test.ts',
    packed: 'test/package.system.test.ts',
    create: 'test/skills/format/new-skill.test.ts',
    statements: 'test/seeds/statements.test.ts',
    fields: 'test/seeds/foreign-fields.system.test.ts',
    restored: 'test/seeds/restored.system.test.ts',
  },
  [
    [
      'layer 1: names and short descriptions are always loaded',
      'seed',
      'injects one heading, the descriptions and one sentence, and nothing without skills',
    ],
    [
      'layer 2: the whole guide is loaded on demand',
      'seed',
      'skill_request gives the body and the resources, file_read the script',
    ],
    [
      'layer 3: scripts, templates and references are loaded on explicit request',
      'seed',
      'skill_request gives the body and the resources, file_read the script',
    ],
    [
      'nothing of a skill that was not requested is loaded',
      'session',
      'of skills that were not loaded not one byte is shown, and the ledger names every byte that was',
    ],
    [
      'the folder is <root>/<skill>/SKILL.md with scripts/, references/ and assets/',
      'seed',
      'skill_request gives the body and the resources, file_read the script',
    ],
    [
      'a skill may have only some of the folders (data-analysis)',
      'tools',
      'without resources there is no list of them',
    ],
    [
      'SKILL.md is YAML frontmatter and a Markdown body',
      'openseed',
      'name, description and frontmatter follow the rules of the specification',
    ],
    [
      'name is required and identifies the skill',
      'seed',
      'backend/skills of a trusted project is read without an option, and nothing else is listed',
    ],
    [
      'description is required',
      'seed',
      'backend/skills of a trusted project is read without an option, and nothing else is listed',
    ],
    [
      'the body is the Markdown after the frontmatter, trimmed',
      'seed',
      'skill_request gives the body and the resources, file_read the script',
    ],
    [
      'the example SKILL.md with code blocks and a table is returned as written',
      'seed',
      'the example of the document is returned as it is written',
    ],
    ['Skill.name', 'discover', 'an entry has id, name, description, source, path, controls, meta and digest'],
    ['Skill.description', 'discover', 'an entry has id, name, description, source, path, controls, meta and digest'],
    ['Skill.body', 'session', 'a load gives the body, who the skill is, its files, and a report of what was read'],
    [
      'Skill.path, the path of SKILL.md',
      'discover',
      'an entry has id, name, description, source, path, controls, meta and digest',
    ],
    ['Skill.dir', 'discover', 'an entry has id, name, description, source, path, controls, meta and digest'],
    ['Skill.resources', 'session', 'a load gives the body, who the skill is, its files, and a report of what was read'],
    [
      'skills are loaded when the loader is made',
      'session',
      'tools and system message are the same bytes after loads and after a skill came or went on disk',
    ],
    [
      'the frontmatter starts at the first line',
      'seed',
      'a SKILL.md that does not start with the line --- is in no list, and its request says why',
    ],
    ['files are read as UTF-8', 'openseed', 'name, description and frontmatter follow the rules of the specification'],
    [
      'resources are the files below scripts, references and assets, at any depth',
      'seed',
      'resources of nested folders are listed, and folders of other names are not',
    ],
    [
      'resources are listed in the order scripts, references, assets',
      'tools',
      'skill_request gives the body, the directory and the resources',
    ],
    ['resources are relative to the skill', 'tools', 'skill_request gives the body, the directory and the resources'],
    [
      'get_descriptions: one line "- name: description" for each skill',
      'seed',
      'a description stays on its line of the prompt and closes no tag',
      {
        sentence: 'f"- {s.name}: {s.description}"',
        ours: '`<` and `>` become `&lt;` and `&gt;`, a line break becomes a space, control and invisible characters are removed',
        why: 'a description must not close a tag of the prompt, nor start a line of its own',
        restoredBy: [],
      },
    ],
    [
      'get_skill_content of an unknown skill is nothing, and the tool says so',
      'seed',
      'an unknown skill is a result without success',
    ],
    [
      'content is the body, an empty line and "## Available Resources"',
      'tools',
      'a body cannot write the list of resources, nor a file name a line of it',
      {
        sentence: 'content = skill.body',
        ours: 'control and invisible characters are removed; `<` of a tag of ours, such as `<skill`, becomes `&lt;`; a command that other agents would run (`!` before code) is marked as not run; a line that reads `## Available Resources`, or starts with `## Skill:`, `## Document:` or `[note]`, gets a `\\`; notes follow, such as on links that leave the skill. `file_read` does so with `[note]` and notes',
        why: 'a skill could forge the list of its files, or a note of ours',
        restoredBy: [],
      },
    ],
    ['content has "Directory: <dir>"', 'seed', 'skill_request gives the body and the resources, file_read the script'],
    [
      'content has "- <path>" for each resource',
      'seed',
      'skill_request gives the body and the resources, file_read the script',
    ],
    ['without resources there is no such section', 'tools', 'without resources there is no list of them'],
    [
      'the system prompt has the heading "## Available Skills"',
      'seed',
      'injects one heading, the descriptions and one sentence, and nothing without skills',
    ],
    [
      'the sentence about domain expertise',
      'seed',
      'injects one heading, the descriptions and one sentence, and nothing without skills',
    ],
    [
      'the sentence that requests the full content',
      'seed',
      'injects one heading, the descriptions and one sentence, and nothing without skills',
    ],
    [
      'without skills nothing is injected',
      'seed',
      'injects one heading, the descriptions and one sentence, and nothing without skills',
    ],
    ['tool skill_request(skill_name: str)', 'tools', 'skill_request gives the body, the directory and the resources'],
    [
      'success is {success: true, data: {content}}',
      'seed',
      'skill_request gives the body and the resources, file_read the script',
    ],
    [
      'failure is {success: false, message: "Skill \'x\' not found"}',
      'seed',
      'an unknown skill is a result without success',
    ],
    [
      'file_read(file="/path/to/skills/pdf/scripts/extract_tables.py")',
      'seed',
      'skill_request gives the body and the resources, file_read the script',
    ],
    [
      'file_read("scripts/extract_tables.py") after skill_request("pdf")',
      'seed',
      'skill_request gives the body and the resources, file_read the script',
    ],
    [
      'file_read reads resource files in the directory of a skill',
      'tools',
      'file_read takes an absolute path in the directory of a skill, or skill/path',
    ],
    ['the agent runs commands with shell_exec', 'tools', 'shell_exec and file_write share the workspace'],
    ['the agent writes files with file_write', 'tools', 'shell_exec and file_write share the workspace'],
    ['shell_exec runs what file_write wrote', 'tools', 'shell_exec and file_write share the workspace'],
    [
      'a second skill_request returns the guide again',
      'seed',
      'the whole guide is returned, whatever its length and however often it is requested',
    ],
    ['a new skill is a folder with a SKILL.md', 'create', 'keeps the specification as it is, with every part or none'],
    [
      'a new skill is found after a restart',
      'session',
      'tools and system message are the same bytes after loads and after a skill came or went on disk',
      {
        sentence: 'Skill 会在服务启动时自动加载。',
        ours: 'after the user trusts the new skill',
        why: 'what a `git pull` brings could instruct the model',
        restoredBy: NAMED_ROOT,
      },
    ],
    ['a description of about 100 tokens is shown whole', 'catalog', 'shows every skill whole, sorted by name'],
    [
      'long guides (500 to 2,000 tokens and more) are returned whole',
      'seed',
      'the whole guide is returned, whatever its length and however often it is requested',
    ],
    [
      'mkdir my-skill/{scripts,references,assets}: empty folders are no resources',
      'statements',
      'a new skill with empty folders has no resources',
    ],
    [
      'scripts/helper.py of a new skill is a resource and can be read',
      'statements',
      'helper.py and template.html of a new skill are listed and read',
    ],
    [
      'assets/template.html of a new skill is a resource and can be read',
      'statements',
      'helper.py and template.html of a new skill are listed and read',
    ],
    [
      'the lines --- may end with white space (^---\\s*\\n)',
      'statements',
      'spaces after the lines --- of the frontmatter are accepted, and the body is trimmed',
    ],
    [
      'a description with " - " is read whole',
      'statements',
      'spaces after the lines --- of the frontmatter are accepted, and the body is trimmed',
    ],
    [
      'skills are in backend/skills of the project',
      'seed',
      'backend/skills of a trusted project is read without an option, and nothing else is listed',
      {
        sentence: 'backend/skills/',
        ours: 'after the user trusts the project',
        why: 'a cloned project could instruct the model',
        restoredBy: NAMED_ROOT,
      },
    ],
    [
      'Skill.body is required: check reports a skill without one',
      'seed',
      'a skill as the document shows it passes check, and one without a body is reported',
    ],
    [
      'the SKILL.md of my-skill, as shown, is valid',
      'seed',
      'a skill as the document shows it passes check, and one without a body is reported',
    ],
    [
      'shell_exec("pip install pdfplumber") installs for the session',
      'packed',
      'the flow chart of ManusX runs to its end in a sandbox',
    ],
    [
      'file_write("extract.py", ...) writes into the workspace without a question',
      'packed',
      'the examples of the source documents run',
    ],
    [
      'shell_exec("python extract.py") uses the packages that pip installed',
      'packed',
      'the flow chart of ManusX runs to its end in a sandbox',
    ],
    [
      'the flow chart ends with the extracted tables as the answer',
      'packed',
      'the examples of the source documents run',
    ],
    [
      'the sequence: skill_request("pdf"), file_read("scripts/extract_tables.py"), the task, the answer',
      'packed',
      'the examples of the source documents run',
    ],
    ['a script of a skill runs by itself, by its path', 'packed', 'the examples of the source documents run'],
    [
      'has_skills(): the program knows whether there are skills',
      'seed',
      'injects one heading, the descriptions and one sentence, and nothing without skills',
    ],
    [
      'get_descriptions has every skill, however many there are',
      'seed',
      'backend/skills of a trusted project is read without an option, and nothing else is listed',
    ],
    [
      'skills are the direct folders of the root (skills/*/SKILL.md)',
      'seed',
      'backend/skills of a trusted project is read without an option, and nothing else is listed',
    ],
    [
      'the whole script comes from file_read, whatever its length',
      'seed',
      'backend/skills of a trusted project is read without an option, and nothing else is listed',
    ],
    [
      'a link to a folder is not a file of the list (is_file)',
      'seed',
      'resources of nested folders are listed, and folders of other names are not',
    ],
    [
      'skill_request without any skill says that the skill is not found',
      'seed',
      'injects one heading, the descriptions and one sentence, and nothing without skills',
    ],
    [
      'a skill that was requested is not forgotten, however many follow',
      'seed',
      'a skill stays loaded however many are requested after it',
    ],
    [
      'skill_request returns the content to its caller, whatever else the frontmatter has',
      'fields',
      'a skill with context: fork or run-mode: subagent is loaded into the conversation as any other',
    ],
  ],
);
