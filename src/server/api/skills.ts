/** Schemas of the API: skills, catalog and packs. The page uses their types; the OpenAPI description is made from them. */
import { z } from 'zod';

const text = z.string();
const count = z.int().nonnegative();

export const SkillRow = z.object({
  id: text.describe('source/name, with @version if the skill has one'),
  name: text,
  description: text,
  source: text,
  group: text.describe('folders between the root and the skill'),
  state: z.enum(['auto', 'pinned', 'name-only', 'manual', 'required', 'disabled']),
  version: text.optional(),
  trusted: z.boolean(),
  errors: count,
  warnings: count,
  agents: z.array(text).describe('agents on this machine that see the skill'),
  tokens: count.describe('estimated tokens of name and description'),
});
export type SkillRow = z.output<typeof SkillRow>;

const LeftOut = z.object({ path: text, code: text, message: text });

const Facet = z.object({ name: text, count });

export const SkillQuery = z.strictObject({
  query: text.max(1_000).default('').describe('search text; empty lists all skills by name'),
  source: text.max(200).optional(),
  state: text.max(40).optional().describe('a visibility, or `untrusted`, `problems`'),
  agent: text.max(200).optional(),
  offset: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(500).default(100),
});

export const SkillList = z.object({
  indexHash: text,
  total: count.describe('skills that match'),
  skills: z.array(SkillRow),
});

export const ScanView = z.object({
  indexHash: text,
  total: count,
  facets: z.object({ sources: z.array(Facet), states: z.array(Facet), agents: z.array(Facet) }),
  leftOut: z.array(LeftOut).describe('folders with a SKILL.md that is not usable, at most 500'),
  leftOutTotal: count,
  roots: z.array(z.object({ source: text, path: text, status: text, skills: count })),
});

const Diagnostic = z.object({
  code: text,
  severity: z.enum(['error', 'warning', 'info']),
  path: text.describe('relative to the skill'),
  line: count,
  column: count,
  message: text,
  hint: text,
});

export const SkillDetail = z.object({
  skill: SkillRow,
  dir: text,
  file: text,
  license: text.optional(),
  compatibility: text.optional(),
  meta: z.record(text, text),
  body: text.describe('the instructions, as Markdown; untrusted'),
  isBodyCut: z.boolean(),
  tokens: z.object({
    catalog: count.describe('level 1'),
    body: count.describe('level 2'),
    files: count.describe('level 3: all text files together, estimated from their size'),
  }),
  files: z.array(z.object({ path: text, bytes: count, kind: text, isExecutable: z.boolean(), isLink: z.boolean() })),
  isFilesCut: z.boolean(),
  diagnostics: z.array(Diagnostic),
  repair: z
    .object({ codes: z.array(text), before: text, after: text })
    .optional()
    .describe('what mechanical fixes would change in SKILL.md'),
  powers: z.object({
    allowedTools: z.array(text).optional(),
    deniedTools: z.array(text),
    requires: z.array(text),
    secrets: z.array(text),
    hosts: z.array(text).describe('hosts that its programs reach'),
    scripts: z.array(text),
    chosenBy: z.enum(['user', 'model', 'both']),
    runMode: text,
    paths: z.array(text),
  }),
  trust: z.object({ trusted: z.boolean(), reason: text.optional(), command: text.optional() }),
  digest: text.describe('of the frontmatter'),
  treeDigest: text.optional().describe('of all files'),
  installed: z
    .object({
      root: text,
      source: text,
      installedAt: text,
      digest: text,
      version: text.optional(),
      revision: text.optional(),
      signedBy: text.optional(),
    })
    .optional(),
  others: z
    .array(z.object({ source: text, version: text.optional(), dir: text, reason: text, isHidden: z.boolean() }))
    .describe('skills of the same name'),
});
export type SkillDetail = z.output<typeof SkillDetail>;

export const SkillFile = z.object({
  path: text,
  bytes: count,
  isBinary: z.boolean(),
  isCut: z.boolean(),
  text: text.describe('empty for a binary file'),
});
export type SkillFile = z.output<typeof SkillFile>;

export const RepairRequest = z.strictObject({
  before: text.describe('SHA-256 of the text that the user saw; another text is not repaired'),
});
export const Repaired = z.object({ codes: z.array(text) });

export const CatalogQuery = z.strictObject({
  budget: z.coerce.number().int().min(1).max(10_000_000).optional(),
  format: z.enum(['xml', 'markdown', 'lines', 'list', 'expertise']).optional(),
});
const CATALOG_FORMS = ['full', 'shortened', 'nameOnly', 'omitted', 'hidden'] as const;
export const CatalogView = z.object({
  budget: count,
  tokens: count,
  text,
  parts: z.object({ frame: count, full: count, shortened: count, nameOnly: count }).describe('tokens by form'),
  entries: z.array(
    z.object({ name: text, source: text, form: z.enum(CATALOG_FORMS), tokens: count.describe('of the whole entry') }),
  ),
  request: z
    .array(z.object({ part: text, tokens: count }))
    .describe('what every request of a run carries before a skill is loaded'),
});
export type CatalogView = z.output<typeof CatalogView>;

export const Finding = z.object({
  severity: z.enum(['low', 'medium', 'high', 'critical']),
  rule: text,
  path: text,
  line: count,
  message: text,
});

export const PackRequest = z.strictObject({
  action: z.enum(['install', 'update', 'uninstall']),
  source: text.max(4_000).optional().describe('install: a folder, archive, address, repository or package'),
  skills: z.array(text.max(200)).max(200).default([]),
  scope: z.enum(['project', 'user']).optional(),
});

export const PackPlan = z.object({
  root: text,
  digest: text.describe('identifies the plan; pass it to apply exactly this'),
  source: text.optional(),
  skills: z.array(
    z.object({
      name: text,
      version: text.optional(),
      change: text,
      description: text,
      files: count,
      findings: z.array(Finding),
      notes: z.array(text),
    }),
  ),
  refused: z.array(z.object({ name: text, code: text, message: text, hint: text })),
  notes: z.array(text),
});
export type PackPlan = z.output<typeof PackPlan>;

export const PackApply = PackRequest.extend({ digest: text });
export const PackApplied = z.object({ names: z.array(text), notes: z.array(text) });
