import { isUtf8 } from 'node:buffer';
import path from 'node:path';

import { estimateTokens, isSkillError, sliceStart, toRelativePath, type SkillEntry, isProblem } from '#core';
import { listSkillFiles, parseSkillMd, readSkillFile, type SkillIndex } from '#skills';
import { findLocked, openAgentFolders } from '#packs';
import { inConfined, readTreeDigest, sha256 } from '#platform';
import { checkAndFix, openSecrets } from '#runtime';
import {
  RepairRequest,
  Repaired,
  ScanView,
  SkillDetail,
  SkillFile,
  SkillList,
  SkillQuery,
  type SkillRow,
} from '../api/skills.ts';
import type { SkillContext } from '../context.ts';
import { httpError } from '../http-error.ts';
import { route, type Immutable, type Route } from '../router.ts';

const MAX_LEFT_OUT = 500;
const MAX_BODY_CHARACTERS = 400_000;
const MAX_FILE_BYTES = 1_000_000;
/** After this time the folders are scanned again, for the next answer. */
const FRESH_MS = 2_000;

interface Listing {
  readonly index: SkillIndex;
  readonly rows: readonly Immutable<SkillRow>[];
  readonly byName: ReadonlyMap<string, Immutable<SkillRow>>;
  readonly facets: Readonly<Record<'sources' | 'states' | 'agents', ReturnType<typeof countFacet>>>;
}

export function skillRoutes(context: SkillContext): readonly Route[] {
  const list = openListing(context);
  return [
    route(
      'GET /skills',
      'List or search skills',
      { query: SkillQuery, answer: SkillList },
      async ({ query: { query, source, state, agent, offset, limit }, signal }) => {
        const { index, rows, byName } = await list();
        const ranked = query.trim() === '' ? rows : await search(context, query, byName, signal);
        const matching = ranked.filter(
          (row) =>
            (source === undefined || row.source === source) &&
            (agent === undefined || row.agents.includes(agent)) &&
            (state === undefined || listStates(row).includes(state)),
        );
        return {
          indexHash: index.indexHash,
          total: matching.length,
          skills: matching.slice(offset, offset + limit),
        };
      },
    ),
    route(
      'GET /scan',
      'Show how many skills there are of each kind, and the folders that were left out',
      { answer: ScanView },
      async () => {
        const { index, rows, facets } = await list();
        const { report } = index;
        return ScanView.parse({
          indexHash: index.indexHash,
          total: rows.length,
          facets,
          leftOut: report.leftOut.slice(0, MAX_LEFT_OUT),
          leftOutTotal: report.leftOut.length,
          roots: report.roots,
        });
      },
    ),
    route(
      'GET /skills/{id}',
      'Show a skill: instructions, files, problems, what it may do, cost, trust and versions',
      { answer: SkillDetail },
      async ({ params: { id = '' }, signal }) => {
        const { byName } = await list();
        return readDetail(context, context.options.runtime.find(id), byName, signal);
      },
    ),
    route(
      'GET /skills/{id}/files/{path}',
      'Read a file of a skill',
      { answer: SkillFile },
      ({ params: { id = '', path: file = '' } }) => readShownFile(context.options.runtime.find(id), file),
    ),
    route(
      'POST /skills/{id}/repair',
      'Apply the mechanical fixes that the skill page shows',
      { body: RepairRequest, answer: Repaired },
      async ({ params: { id = '' }, body: { before } }) => {
        const { runtime } = context.options;
        const skill = runtime.find(id);
        const planned = checkAndFix(skill, { mode: 'strict' }, { dryRun: true });
        if (sha256(planned.text) !== before)
          throw httpError(409, 'SKILL.md changed since it was shown', 'open the skill again');
        const { applied } = checkAndFix(skill, { mode: 'strict' }, { dryRun: false });
        await runtime.refresh();
        return { codes: applied.map(({ code }) => code) };
      },
    ),
  ];
}

function openListing({ options: { runtime }, surroundings }: SkillContext): () => Promise<Listing> {
  let scannedAt = Date.now();
  let current: Promise<Listing> | undefined;
  let madeFor: SkillIndex | undefined;
  return async () => {
    if (Date.now() - scannedAt > FRESH_MS) {
      scannedAt = Date.now();
      // Not awaited: the stream of changes tells pages about another index.
      runtime.refresh().catch(() => undefined);
    }
    if (current === undefined || madeFor !== runtime.index) {
      madeFor = runtime.index;
      current = listing(runtime.index);
    }
    return current;
  };

  async function listing(index: SkillIndex): Promise<Listing> {
    const agents = openAgentFolders(surroundings);
    const untrusted = await runtime.distrust(index.skills);
    const problems = countProblems(index);
    const rows = index.skills.map((skill): Immutable<SkillRow> => ({
      ...toSkillRow(skill, !untrusted.has(skill.dir)),
      ...problems.get(skill.dir),
      agents: agents.seeing(skill.dir),
    }));
    return {
      index,
      rows,
      byName: new Map(rows.map((row) => [`${row.source}/${row.name}`, row])),
      facets: {
        sources: countFacet(rows.map(({ source }) => source)),
        states: countFacet(rows.flatMap(listStates)),
        agents: countFacet(rows.flatMap(({ agents }) => agents)),
      },
    };
  }
}

/** The ranking of the library. Every match is ranked, so that filters and pages work on the same order. */
async function search(
  { options: { runtime } }: SkillContext,
  query: string,
  byName: Listing['byName'],
  signal: AbortSignal,
): Promise<readonly Immutable<SkillRow>[]> {
  const found = await runtime.searchSkills(query, 500, { signal });
  return found.flatMap(({ source, name }) => byName.get(`${source}/${name}`) ?? []);
}

function listStates({ state, trusted, errors, warnings }: Immutable<SkillRow>): readonly string[] {
  return [state, ...(trusted ? [] : ['untrusted']), ...(errors + warnings > 0 ? ['problems'] : [])];
}

function countFacet(values: readonly string[]): readonly { readonly name: string; readonly count: number }[] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].map(([name, count]) => ({ name, count })).toSorted((a, b) => b.count - a.count);
}

function countProblems(index: SkillIndex): ReadonlyMap<string, { readonly errors: number; readonly warnings: number }> {
  const counts = new Map<string, { errors: number; warnings: number }>();
  for (const { path: file, severity } of index.diagnostics) {
    if (severity === 'info') continue;
    const dir = path.posix.dirname(file);
    const count = counts.get(dir) ?? { errors: 0, warnings: 0 };
    count[severity === 'error' ? 'errors' : 'warnings'] += 1;
    counts.set(dir, count);
  }
  return counts;
}

async function readDetail(
  context: SkillContext,
  skill: SkillEntry,
  byName: Listing['byName'],
  signal: AbortSignal,
): Promise<Immutable<SkillDetail>> {
  const { runtime } = context.options;
  const { dir, file, name, source } = skill;
  const [distrust, tree] = await Promise.all([
    runtime.distrust([skill], { files: true }),
    readTreeDigest(dir, { signal }),
  ]);
  const trust = distrust.get(dir);
  const body = readBody(skill);
  const { files, isCut } = listSkillFiles(dir);
  const fixed = checkAndFix(skill, { mode: 'strict' }, { dryRun: true });
  const row = byName.get(`${source}/${name}`) ?? toSkillRow(skill, trust === undefined);
  return SkillDetail.parse({
    ...skill,
    skill: { ...row, trusted: trust === undefined },
    body: sliceStart(body, MAX_BODY_CHARACTERS),
    isBodyCut: body.length > MAX_BODY_CHARACTERS,
    tokens: {
      catalog: row.tokens,
      body: estimateTokens(body),
      // Four bytes are about one token; the files are not read for this.
      files: Math.ceil(files.filter(({ path: at }) => at !== file).reduce((sum, { bytes }) => sum + bytes, 0) / 4),
    },
    files,
    isFilesCut: isCut,
    diagnostics: fixed.found.map((one) => ({ ...one, path: path.posix.relative(dir, one.path) || file })),
    repair:
      fixed.applied.length === 0
        ? undefined
        : { codes: fixed.applied.map(({ code }) => code), before: fixed.text, after: fixed.fixedText },
    powers: listPowers(skill, context, files),
    trust: { ...trust, trusted: trust === undefined },
    treeDigest: tree.type === 'digest' ? tree.digest : undefined,
    installed: findInstallation(skill),
    others: runtime.index.shadowed
      .filter((one) => one.name === name && one.reason !== 'same-directory')
      .map((one) => ({ ...one, isHidden: one.dir !== dir })),
  });
}

/** A row without what others know of the skill: its problems, and the agents that see it. */
function toSkillRow({ id, name, description, source, group, state, meta }: SkillEntry, trusted: boolean): SkillRow {
  return {
    id,
    name,
    description,
    source,
    group,
    state,
    version: meta['version'],
    trusted,
    errors: 0,
    warnings: 0,
    agents: [],
    tokens: estimateTokens(`${name} ${description}`),
  };
}

function listPowers(
  { name, source, controls }: SkillEntry,
  { options: { runtime, reach }, surroundings }: SkillContext,
  files: readonly { readonly path: string; readonly kind: string }[],
): Immutable<SkillDetail>['powers'] {
  const { allowedTools, disallowedTools = [], requires = [], paths = [], runMode } = controls;
  const secrets = openSecrets(runtime.config.secrets ?? {}, surroundings);
  return {
    allowedTools,
    deniedTools: disallowedTools,
    requires,
    secrets: secrets.namesFor({ name, source, controls }),
    hosts: reach?.hosts ?? [],
    scripts: files.filter(({ kind }) => kind === 'script').map(({ path: at }) => at),
    chosenBy: controls.disableModelInvocation ? 'user' : controls.userInvocable ? 'both' : 'model',
    runMode,
    paths,
  };
}

function findInstallation({ dir }: SkillEntry): object | undefined {
  const locked = findLocked([dir]).get(dir);
  return locked && { ...locked, root: path.dirname(dir) };
}

function readBody({ dir, file }: SkillEntry): string {
  const read = readSkillFile(dir, file);
  if (read.type !== 'read') return '';
  try {
    return parseSkillMd(
      { path: file, directory: path.basename(dir), fileName: file, text: read.text, validUtf8: true },
      { mode: 'lenient' },
    ).body;
  } catch (error) {
    if (isSkillError(error)) return '';
    throw error;
  }
}

function readShownFile({ dir }: SkillEntry, name: string): SkillFile {
  const relative = toRelativePath(name);
  const limits = { maxBytes: 16 * MAX_FILE_BYTES, allowHardLinks: true };
  if (isProblem(relative)) throw httpError(404, 'no such file');
  const read = inConfined(
    dir,
    (folder) => folder.read(relative, limits),
    () => undefined,
  );
  if (read === undefined) throw httpError(404, 'no such file');
  if (read.type !== 'read') throw httpError(404, `the file cannot be read (${read.code})`);
  const { bytes } = read;
  const isBinary = bytes.includes(0) || !isUtf8(bytes);
  const text = isBinary ? '' : bytes.subarray(0, MAX_FILE_BYTES).toString('utf8');
  return { path: name, bytes: bytes.length, isBinary, isCut: !isBinary && bytes.length > MAX_FILE_BYTES, text };
}
