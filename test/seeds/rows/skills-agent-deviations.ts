import type { Choice, SeedRow } from './row.ts';

const REGISTRY = 'test/seeds/skills-agent-registry.test.ts';
const RESTORED = 'test/seeds/restored.system.test.ts';

/** Statements of documents 001 and 004 that do not hold here by default. */
export const DEVIATES: readonly SeedRow[] = [
  {
    id: 'D.1',
    says: 'strict mode is the default',
    test: `${REGISTRY}: lenient mode lists them with diagnostics; a missing description is an empty text`,
    deviation: {
      sentence: '默认建议严格模式：前言解析失败或缺少必需字段：该技能目录不进入索引',
      ours: 'lenient: what can be read is listed with a warning',
      why: 'real collections break the strict rules in every fifth skill',
      restoredBy: [
        {
          setting: "format.mode: 'strict'",
          test: `${REGISTRY}: strict mode leaves out what the design refuses, each with its reason`,
        },
      ],
    },
  },
  {
    id: 'D.2',
    says: '`<` and `>` in the frontmatter are forbidden by default',
    test: `${REGISTRY}: lenient mode lists them with diagnostics; a missing description is an empty text`,
    deviation: {
      sentence: '禁止前言出现 < 与 > 字符（默认强约束）',
      ours: 'a warning in the description',
      why: 'texts are escaped wherever a model sees them, so they can close no tag',
      restoredBy: [
        {
          setting: 'security.block_angle_brackets_in_frontmatter: true',
          test: `${REGISTRY}: the security settings of the example block angle brackets anywhere in the frontmatter`,
        },
      ],
    },
  },
  {
    id: 'D.3',
    says: 'a body over 500 lines is refused or split',
    test: 'test/skills/loader/load-body.test.ts: is refused beyond 500 lines or 40,000 characters, with advice, or cut at the end of a line',
    deviation: {
      sentence: '默认限制最大行数（例如 500 行），超限要求拆分到 reference 文件或拒绝加载',
      ours: 'cut at the limit, with the call that reads on',
      why: 'the start of a guide and a way to the rest is more useful than an error',
      restoredBy: [
        {
          setting: "security.oversized_body: 'refuse'",
          test: `${RESTORED}: skills-agent: a body over 500 lines is refused`,
        },
      ],
    },
  },
  {
    id: 'D.4',
    says: 'skills of the project are in the index of the model',
    test: 'test/runtime/trust-in-use.system.test.ts: are listed for people, shown to no model, and used by nobody; and once the folder is trusted, by all',
    deviation: {
      sentence: '项目级：<repo>/.agent/skills/',
      ours: 'after the user trusts the project',
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
    test: 'test/cli/coding.system.test.ts: asks about a write with a diff, about ignored files, and shows no AGENTS.md with --no-agents-md',
    deviation: {
      sentence: '低风险：read_file, list_dir, grep（只读）',
      ours: 'medium risk for a file that git ignores; listings and searches leave it out',
      why: 'ignored files are often local settings',
      restoredBy: [
        {
          setting: "policy.allow: ['read_file(**)']",
          test: `${RESTORED}: skills-agent: a file that git ignores is read without a question`,
        },
      ],
    },
  },
  {
    id: 'D.6',
    says: 'adapters speak HTTP without a third-party library',
    test: 'test/package.system.test.ts: a model of a vendor is refused with the command that installs its package',
    deviation: {
      sentence: '通过 HTTP 适配 OpenAI-compatible 或 Anthropic（不引入第三方库）',
      ours: 'the package of the provider is installed beside Skillwright; the providers are to come with the package',
      why: 'the providers change their protocols, and their packages follow',
      restoredBy: [],
    },
  },
];

export const CHOICES: readonly Choice[] = [
  {
    theirs: 'a skill that is selected again',
    ours: 'its body is in the context once',
    why: 'nothing is paid twice',
    test: 'test/seeds/skills-agent.test.ts: the body is in the context once, however often it is loaded, and identical turns end the run',
  },
  {
    theirs: 'a model that repeats itself',
    ours: 'five identical turns end the run',
    why: 'it would use up the budget',
    test: 'test/seeds/skills-agent.test.ts: the body is in the context once, however often it is loaded, and identical turns end the run',
  },
];
