import { parseJson, type Diagnostic, type Mode, type SkillHead, type SkillEntry } from '#core';
import { readPrivateFile } from '#platform';
import { checksum } from './checksum.ts';
import { sortSkills, type ShadowedSkill, type ScanReport, type SkillIndex } from './index-skills.ts';
import type { KnownFile, KnownSkills } from './known-skills.ts';

/**
 * Increase it whenever the same frontmatter may produce a different head or diagnostic, or the file layout changes:
 * a test in `test/skills/registry/cache.system.test.ts` fails otherwise.
 */
export const CACHE_FORMAT = 10;

/** The options that heads depend on; a cache written under others is ignored. */
export interface CacheKey {
  readonly mode: Mode;
  readonly blockAngleBrackets: boolean;
}

/** The values that every scan measures again. */
export type MeasuredFacts = Pick<ScanReport, 'durationMs' | 'bytesRead' | 'fromCache' | 'cache'>;

/** An index that a later scan with the same options and the same findings can return again. */
export interface ReusableIndex {
  /** The scan options as JSON. */
  readonly options: string;
  /** What the scan found beside the skills, as JSON: roots, failures, links. */
  readonly findings: string;
  restore(facts: MeasuredFacts): SkillIndex;
}

export type CacheLoad =
  | { readonly type: 'loaded'; readonly known: KnownSkills; readonly index: ReusableIndex | undefined }
  | { readonly type: 'unusable'; readonly reason: string };

const MAX_BYTES = 1024 * 1024 * 1024;
const LINE_FEED = 0x0a;

/**
 * Each line of the file is JSON: header, files, diagnostics, and entries, a few thousand per line. Header and files are parsed when the
 * cache is opened; the others only on first use, because a rescan of unchanged files needs neither.
 */
export interface CacheHeader extends CacheKey {
  readonly format: number;
  /** One for each of the other lines, with its line feed: detects truncated and edited files. */
  readonly checksums: readonly string[];
}

export interface FilesLine {
  readonly directories: readonly (readonly [path: string, files: readonly NamedFile[]])[];
  /** Absent if the index cannot be reused. */
  readonly index?: {
    readonly options: string;
    readonly findings: string;
    readonly shadowed: readonly ShadowedSkill[];
    readonly report: Omit<ScanReport, keyof MeasuredFacts | 'conflicts'>;
  };
}

export interface NamedFile extends KnownFile {
  /** The base name of the skill folder. */
  readonly name: string;
}

export interface DiagnosticsLine {
  readonly index: readonly Diagnostic[];
  /** Diagnostics of folders that the scan reached by a second path; the index reports them only under the first. */
  readonly repeated: readonly Diagnostic[];
  readonly undescribed: readonly SkillEntry[];
}

/** Reads a cache file. A file that is missing, damaged or written under other options is reported as unusable. */
export function loadCache(file: string, key: CacheKey): CacheLoad {
  const reading = readPrivateFile(file, { maxBytes: MAX_BYTES });
  if (reading.type === 'absent') return { type: 'unusable', reason: 'the file does not exist' };
  if (reading.type === 'failed') return { type: 'unusable', reason: reading.reason };
  const { bytes } = reading;
  const headerEnd = bytes.indexOf(LINE_FEED);
  const header = parseHeader(bytes.toString('utf8', 0, Math.max(headerEnd, 0)));
  if (header === undefined) return { type: 'unusable', reason: 'the file is not a Skillwright cache' };
  if (
    header.format !== CACHE_FORMAT ||
    header.mode !== key.mode ||
    header.blockAngleBrackets !== key.blockAngleBrackets
  ) {
    return { type: 'unusable', reason: 'the file was written by another version or with other options' };
  }
  const lines = splitLines(bytes.subarray(headerEnd + 1));
  if (JSON.stringify(lines.map(checksum)) !== JSON.stringify(header.checksums))
    return { type: 'unusable', reason: 'the checksum does not match' };
  return openContent(lines);
}

function splitLines(content: Buffer): readonly Buffer[] {
  const lines: Buffer[] = [];
  for (let from = 0; from < content.length;) {
    const end = content.indexOf(LINE_FEED, from) + 1;
    const next = end === 0 ? content.length : end;
    lines.push(content.subarray(from, next));
    from = next;
  }
  return lines;
}

function parseHeader(line: string): Partial<CacheHeader> | undefined {
  const value = parseJson(line);
  return typeof value === 'object' && value !== null ? value : undefined;
}

/** The checksums have verified that this version wrote these bytes, so their shape is not validated again. */
function openContent([filesLine, diagnosticsLine, ...entryLines]: readonly Buffer[]): CacheLoad {
  const files: FilesLine = JSON.parse(String(filesLine));
  const entries = lazily(() => entryLines.flatMap((line) => parseEntries(line.toString())));
  const diagnostics = lazily((): DiagnosticsLine => {
    const line: DiagnosticsLine = JSON.parse(String(diagnosticsLine));
    return { ...line, undescribed: line.undescribed.map(withPlainMeta) };
  });
  return {
    type: 'loaded',
    known: openKnownSkills(files, entries, diagnostics),
    index: files.index === undefined ? undefined : openIndex(files.index, entries, diagnostics),
  };
}

function parseEntries(line: string): readonly SkillEntry[] {
  const entries: SkillEntry[] = JSON.parse(line);
  return entries.map(withPlainMeta);
}

/** `meta` has no prototype, so that no key can reach one. */
function withPlainMeta(entry: SkillEntry): SkillEntry {
  return { ...entry, meta: Object.assign(Object.create(null), entry.meta) };
}

function openIndex(
  { options, findings, shadowed, report }: NonNullable<FilesLine['index']>,
  entries: () => readonly SkillEntry[],
  diagnostics: () => DiagnosticsLine,
): ReusableIndex {
  const skills = lazily(() => {
    const hidden = new Set(shadowed.map(({ dir }) => dir));
    return sortSkills(entries().filter(({ dir }) => !hidden.has(dir)));
  });
  return {
    options,
    findings,
    restore: (facts) => ({
      get skills() {
        return skills();
      },
      get all() {
        return entries();
      },
      get diagnostics() {
        return diagnostics().index;
      },
      get undescribed() {
        return diagnostics().undescribed;
      },
      shadowed,
      report: { ...report, ...facts, conflicts: shadowed },
      indexHash: report.indexHash,
    }),
  };
}

function openKnownSkills(
  { directories }: FilesLine,
  entries: () => readonly SkillEntry[],
  diagnostics: () => DiagnosticsLine,
): KnownSkills {
  const known = new Map<string, ReadonlyMap<string, KnownFile>>();
  let count = 0;
  for (const [directory, files] of directories) {
    const byName = new Map<string, KnownFile>();
    for (const file of files) byName.set(file.name, file);
    known.set(directory, byName);
    count += files.length;
  }
  const entryByDir = lazily(
    () => new Map([...entries(), ...diagnostics().undescribed].map((entry) => [entry.dir, entry])),
  );
  const diagnosticsByPath = lazily(() => groupByPath([...diagnostics().index, ...diagnostics().repeated]));
  return {
    count,
    directory: (directory) => known.get(directory),
    record(parent, name) {
      const file = known.get(parent)?.get(name);
      if (file === undefined) throw new RangeError(`no record of ${parent}/${name}`);
      const dir = `${parent}/${name}`;
      const entry = entryByDir().get(dir);
      return {
        ...file,
        digest: entry?.digest ?? '',
        head: entry === undefined ? undefined : pickHead(entry),
        diagnostics: diagnosticsByPath().get(`${dir}/${file.file}`) ?? [],
      };
    },
  };
}

function groupByPath(diagnostics: readonly Diagnostic[]): ReadonlyMap<string, readonly Diagnostic[]> {
  const groups = new Map<string, Diagnostic[]>();
  for (const diagnostic of diagnostics) {
    const group = groups.get(diagnostic.path);
    if (group === undefined) groups.set(diagnostic.path, [diagnostic]);
    else group.push(diagnostic);
  }
  return groups;
}

/** Computes a value on first use. */
export function lazily<T>(make: () => T): () => T {
  let computed: { readonly value: T } | undefined;
  return () => {
    computed ??= { value: make() };
    return computed.value;
  };
}

function pickHead({ name, description, license, compatibility, controls, meta }: SkillHead): SkillHead {
  return { name, description, license, compatibility, controls, meta };
}
