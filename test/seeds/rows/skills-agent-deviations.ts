import type { Choice, SeedRow } from './row.ts';

const RESTORED = 'test/seeds/restored.system.test.ts';
const DIFFERS = 'test/seeds/skills-agent-differs.system.test.ts';

/** Statements of documents 001 and 004 that do not hold here by default. */
export const DEVIATES: readonly SeedRow[] = [
  {
    id: 'D.4',
    says: 'skills of the project are in the index of the model',
    test: `${DIFFERS}: trust means the skills of a project as they are; runtime.catalog() has the others too, unless they are passed to it`,
    deviation: {
      sentence: '项目级：<repo>/.agent/skills/',
      ours: 'after the user trusts the project, as its skills are then (one that is new or has changed files needs `skillwright trust` again); until then it has the skill of the user that has the same name. `runtime.catalog()` of the library has all, unless called with `without: await runtime.distrust(runtime.index.skills, { files: true })`',
      why: 'a cloned project could instruct the model',
      restoredBy: [
        {
          setting: '--trust-project',
          test: `${RESTORED}: skills-agent: skills of the project are in the index of the model`,
        },
      ],
    },
  },
  {
    id: 'D.5',
    says: 'reading any file of the project is low risk',
    test: `${DIFFERS}: read_file asks about ignored files and .env, grep leaves both out unless they are named, list_dir leaves out the ignored ones`,
    deviation: {
      sentence: '低风险：read_file, list_dir, grep（只读）',
      ours: "a file that git ignores, or that is named like a secret (`.env`), is asked about (`--yes` answers); `grep` leaves both out unless its `path` names the file, which asks too; `list_dir` leaves out ignored files. `policy.allow: ['read_file(**)', 'grep(**)']` lets ignored files be read by name, and nothing more",
      why: 'such files are often local settings and keys',
      restoredBy: [],
    },
  },
  {
    id: 'D.6',
    says: 'adapters speak HTTP without a third-party library',
    test: 'test/package.system.test.ts: the library of $model comes with the command: a key is enough',
    deviation: {
      sentence: '通过 HTTP 适配 OpenAI-compatible 或 Anthropic（不引入第三方库）',
      ours: 'the libraries of the vendors are bundled into the package; nothing is installed beside it',
      why: 'the providers change their protocols, and their packages follow',
      restoredBy: [],
    },
  },
  {
    id: 'D.7',
    says: 'the configuration may be TOML',
    test: 'test/seeds/skills-agent.test.ts: a config.toml is named as ignored',
    deviation: {
      sentence: '如需 TOML，可要求 Python 3.11+ 并使用 tomllib（只读）',
      ours: '`config.toml` is named as ignored, with the `config.json` that is read',
      why: 'one format has one schema, and editors know it',
      restoredBy: [],
    },
  },
  {
    id: 'D.8',
    says: 'a tool that allowed-tools does not name cannot be called',
    test: 'test/runtime/rule-names.test.ts: a skill with `allowed-tools: []` leaves the actions that load skills and answer, and no other tool',
    deviation: {
      sentence: '最终允许工具集合 = 全局配置允许 ∩ 技能 allowed-tools（如存在） ∩ 运行时策略',
      ours: 'also with `allowed-tools: []`, `select_skills`, `load_resource` and `final_answer` work for every skill, and `list_dir`, `grep` and `read_file` (what `load_resource` reads) reach files of loaded skills, and nothing else',
      why: 'with `allowed-tools: run_script`, a skill could not use its own references, nor another skill help',
      restoredBy: [],
    },
  },
];

export const CHOICES: readonly Choice[] = [
  {
    theirs: 'a body may hold any tag, and `!` before code',
    ours: '`<` of a tag of ours, such as `<skill`, becomes `&lt;`, and a command that other agents would run (`!` before code) is marked as not run',
    why: 'a text must not end the marks around it, nor seem to have run',
    test: 'test/seeds/manusx-files.test.ts: a body keeps no hidden characters, no tags of ours and no commands that other agents run before it is read',
  },
  {
    theirs: 'the folder of a run is `<timestamp>` (a suggestion)',
    ours: '`<timestamp>-<id>`, such as `20260301T101500Z-1f9c03aa`',
    why: 'two runs may start in one second',
    test: 'test/seeds/skills-agent.test.ts: a run records its scan, phases, resources, tools and the normalized request',
  },
  {
    theirs: '`read_file` and `list_dir` of a skill that is not loaded',
    ours: 'refused; `load_resource` reads its files',
    why: 'a skill is used by selecting it: its restrictions then apply',
    test: 'test/runtime/rule-names.test.ts: stay readable by every tool whatever `allowed-tools` says, and rules reach them by every tool',
  },
  {
    theirs: 'a skill that is selected again',
    ours: '`run` and `chat` return its body once; `openSkillTools` gives it to the request after a note, `mcp` to every request',
    why: 'nothing is paid twice, unless the loop of another program may have dropped the body',
    test: 'test/seeds/skills-agent.test.ts: the body is in the context once, however often it is loaded, and identical turns end the run',
  },
  {
    theirs: '`args` of `run_script` with a number in it (the example has texts)',
    ours: 'numbers and booleans are written as text',
    why: 'models write `["--top", 5]`, and it has one meaning',
    test: 'test/tools/read-input.test.ts: numbers and booleans in lists and maps of texts are written as text',
  },
  {
    theirs: '`load_resource` reads files of `reference` and `assets`',
    ours: 'files of `references` and `scripts` too, and each `.md` and `.txt` of the skill; of other files (`LICENSE`, `other/d.json`), `list_dir` has the names and `grep` the lines',
    why: 'skills name such files, and a model that may run a script may read it',
    test: 'test/seeds/skills-agent.test.ts: load_resource and read_file read scripts and documents of a skill, and grep finds lines of its other files',
  },
  {
    theirs: 'the frontmatter has the fields of the list',
    ours: '`context: fork`, a field of Claude Code, means `run-mode: subagent`; `paths` brings up a skill in `run` and `chat` when a matching file is given or read; a nested field outside the list is ignored',
    why: 'skills of other agents are used here too',
    test: 'test/seeds/foreign-heads.test.ts: skills-agent: context: fork is a subagent, paths is kept, and a nested field that the list does not have is ignored',
  },
  {
    theirs: 'a subset of YAML, which does not say how `&`, `*`, `!`, `<<` or a second colon is read',
    ours: 'as in YAML: a skill with an anchor, a merge key, an unknown tag or an unquoted colon is left out with the reason; in lenient mode the colon is read as text',
    why: 'a text has one meaning in every vocabulary',
    test: 'test/seeds/foreign-heads.test.ts: an unknown YAML tag and a merge key leave a skill out with the reason, in each of the four systems',
  },
  {
    theirs: 'a file whose name has a backslash, a control or invisible character or an encoded `.`, `/` or `\\`',
    ours: 'it is not listed; a note of `select_skills` names it',
    why: 'every listed path can be read',
    test: 'test/seeds/skills-agent.test.ts: a file whose name no path can spell is not listed, and a note names it',
  },
  {
    theirs: '`write_file` is high risk wherever it writes',
    ours: 'a file in `work/` of the workspace (`workspace://work/`) is written without a question',
    why: 'it changes nothing of the user, and the program that reads it is asked about',
    test: 'test/seeds/skills-agent.system.test.ts: a file in work/ of the workspace is written without a question',
  },
  {
    theirs: '`allowed-tools` is a list, or text with commas',
    ours: 'both are read; `list`, `inspect` and `check` note that the Agent Skills specification separates entries by spaces',
    why: 'other agents may read nothing else',
    test: 'test/seeds/skills-agent-registry.test.ts: allowed-tools as a text is split at commas',
  },
  {
    theirs: 'a pack holds `<skill>/SKILL.md`',
    ours: 'a SKILL.md at its top, or in deeper folders, is installed too, in the folder of its name',
    why: 'archives of one skill, and of repositories, are made so',
    test: 'test/seeds/skills-agent.system.test.ts: a SKILL.md at the top of a pack, or in a deeper folder, is installed by its name',
  },
  {
    theirs: 'a model that repeats itself',
    ours: 'five identical turns end the run',
    why: 'it would use up the budget',
    test: 'test/seeds/skills-agent.test.ts: the body is in the context once, however often it is loaded, and identical turns end the run',
  },
  {
    theirs: 'a model that guesses names',
    ours: 'three answers in which a tool fails with one error code end the run, also for three different names (`load_resource` of files that do not exist), unless such a call worked between them; refusals count per path, and inputs that are invalid in different ways end it at six',
    why: 'it would use up the budget',
    test: 'test/seeds/skills-agent.test.ts: three resources that do not exist end the run, unless one that does is loaded between them',
  },
  {
    theirs: 'a line of more than 500 characters is refused (the design gives 500 as an example)',
    ours: 'a line of a field of the Agent Skills specification, such as `description`, may have any length; other lines have 500',
    why: 'the specification allows 1,024 characters for a description, and the design has no limit for it',
    test: 'test/seeds/skills-agent-registry.test.ts: a description on one line of any length is accepted in the vocabulary, and another line has 500 characters',
  },
  {
    theirs: 'a body is limited by its lines',
    ours: 'by 40,000 characters too (`security.max_skill_body_characters` of the user)',
    why: 'a body of few long lines fills the context just as well',
    test: 'test/seeds/skills-agent-registry.test.ts: a body of more than 40,000 characters is refused in the vocabulary, and max_skill_body_characters accepts it',
  },
  {
    theirs: '`run_script` starts a script where it is, beside the files of the project',
    ours: 'on a copy of the skill, where a change is discarded or (`landlock`) refused; it sees of the project what is mounted (`--project`, by default `read` in `run` and `chat`; `mounts` in the library, nothing by default). With `--executor local` it has no isolation and is of high risk: `--yes` needs `unsafe_local` in `policy.allow`',
    why: 'a script must change neither its skill nor the project unasked',
    test: `${DIFFERS}: a script runs on a copy and sees of the project what is mounted; without isolation --yes does not start it`,
  },
  {
    theirs: 'a pack is unpacked whole',
    ours: 'hidden files are skipped and named, but for a few such as `.env.example`',
    why: 'they are settings of other tools, or secrets by mistake',
    test: `${DIFFERS}: a hidden file of a pack is not installed, which is said, but .env.example is`,
  },
  {
    theirs: '`model.params` of the project may hold all that the mock model answers',
    ours: '`turns` count in the configuration of the user only',
    why: 'a cloned project must not decide what the model does',
    test: 'test/seeds/skills-agent.test.ts: the mock model of the configuration plays its turns: actions of the design, flat or with a payload, and a bare plan',
  },
  {
    theirs: '`security` of the project may allow longer bodies, or `<` and `>` in the frontmatter',
    ours: 'a larger limit, or `false`, counts in `~/.agent/config.json`; in the file of the project it is ignored with a warning',
    why: 'a cloned project must not loosen what the user allows',
    test: 'test/seeds/skills-agent-registry.test.ts: security settings loosen the format in the file of the user, and those of the project only tighten it',
  },
];
