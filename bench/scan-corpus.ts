import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { isRefusal } from '../src/packs/problems.ts';
import { DEFAULT_SCAN_POLICY, SCAN_SEVERITIES, type ScanFinding } from '../src/scan/finding.ts';
import { applyScanPolicy } from '../src/scan/policy.ts';
import { scanSkill } from '../src/scan/scan.ts';
import { readScanFiles } from '../src/packs/inspect/scan-files.ts';
import { median } from './median.ts';
import type { BenchRow } from './row.ts';

interface Labelled {
  readonly dir: string;
  readonly label: 'hostile' | 'benign';
}

interface Scanned extends Labelled {
  readonly set: string;
  readonly findings: readonly ScanFinding[];
  readonly ms: number;
}

/**
 * Recall and false positives on labelled skills, and how often a skill with an instruction put in is judged worse than the same skill
 * without it: the honest figure, because what the skill says anyway counts on both sides. Hostile texts are read, never shown.
 */
export function benchScanCorpus({
  dataDir,
  workDir,
}: {
  readonly dataDir: string | undefined;
  readonly workDir: string;
}): readonly BenchRow[] {
  const packed = dataDir === undefined ? undefined : path.join(dataDir, 'scan/dev.tar.gz');
  if (packed === undefined || !existsSync(packed))
    return [{ name: 'scan of labelled skills', value: Number.NaN, unit: '', note: 'no data here' }];
  const folder = path.join(workDir, 'scan-corpus');
  mkdirSync(folder, { recursive: true });
  execFileSync('tar', ['-xzf', packed, '-C', folder]);
  return corpusRows(folder);
}

/** The rows for an unpacked collection. */
function corpusRows(folder: string): readonly BenchRow[] {
  const scanned = readLabels(folder).map((labelled) => scanLabelled(folder, labelled));
  const sets = [...new Set(scanned.map(({ set }) => set))].toSorted();
  return [
    ...sets.flatMap((set) =>
      setRows(
        set,
        scanned.filter((one) => one.set === set),
      ),
    ),
    ...pairRows(scanned),
    { name: 'scan of a skill, median', value: median(scanned.map(({ ms }) => ms)), unit: 'ms' },
  ];
}

function readLabels(folder: string): readonly Labelled[] {
  // Ours: written beside the collection, not by whoever wrote the skills.
  const labels: readonly Labelled[] = JSON.parse(readFileSync(path.join(folder, 'labels.json'), 'utf8'));
  return labels.filter(({ dir }) => existsSync(path.join(folder, dir)));
}

function scanLabelled(folder: string, labelled: Labelled): Scanned {
  const files = readScanFiles(path.join(folder, labelled.dir));
  if (isRefusal(files)) throw new Error(`${labelled.dir}: ${files.message}`);
  const began = performance.now();
  const findings = scanSkill(files);
  return { ...labelled, set: path.posix.dirname(labelled.dir), findings, ms: performance.now() - began };
}

function setRows(set: string, scanned: readonly Scanned[]): readonly BenchRow[] {
  const isHostile = scanned[0]?.label === 'hostile';
  const stopped = scanned.filter(({ findings }) => applyScanPolicy(findings).stops.length > 0).length;
  const flagged = scanned.filter(({ findings }) => rank(findings) > 0).length;
  const of = `of ${String(scanned.length)}`;
  const share = (count: number): string => `${((100 * count) / scanned.length).toFixed(1)} %`;
  const isKept = isHostile ? {} : { bound: '<= 5 %', ok: stopped <= scanned.length * 0.05 };
  return [
    {
      name: `${set}: ${isHostile ? 'recall' : 'false positives'} at stop`,
      value: stopped,
      unit: of,
      ...isKept,
      note: share(stopped),
    },
    {
      name: `${set}: ${isHostile ? 'recall' : 'false positives'} at warn or stop`,
      value: flagged,
      unit: of,
      note: share(flagged),
    },
  ];
}

/** 2 where something stops, 1 where something warns. */
function rank(findings: readonly ScanFinding[]): number {
  const { stops, warnings } = applyScanPolicy(findings, DEFAULT_SCAN_POLICY);
  return stops.length > 0 ? 2 : warnings.length > 0 ? 1 : 0;
}

/** Worse: a higher verdict, or a worse severity, or more findings of the worst severity. */
function isWorse(injected: readonly ScanFinding[], clean: readonly ScanFinding[]): boolean {
  const [ours, theirs] = [weightOf(injected), weightOf(clean)];
  const at = ours.findIndex((value, place) => value !== theirs[place]);
  return at !== -1 && (ours[at] ?? 0) > (theirs[at] ?? 0);
}

function weightOf(findings: readonly ScanFinding[]): readonly number[] {
  const worst = Math.max(-1, ...findings.map(({ severity }) => SCAN_SEVERITIES.indexOf(severity)));
  return [rank(findings), worst, findings.filter(({ severity }) => SCAN_SEVERITIES.indexOf(severity) === worst).length];
}

function pairRows(scanned: readonly Scanned[]): readonly BenchRow[] {
  const pairs = scanned
    .filter(({ set }) => set.endsWith('_inj'))
    .flatMap((injected) => {
      const clean = scanned.find((one) => isTwin(injected, one));
      return clean === undefined ? [] : [{ kind: kindOf(injected), injected, clean }];
    });
  return ['obvious', 'contextual', ''].flatMap((kind) => {
    const some = pairs.filter((pair) => kind === '' || pair.kind === kind);
    const higher = some.filter(({ injected, clean }) => rank(injected.findings) > rank(clean.findings)).length;
    const worse = some.filter(({ injected, clean }) => isWorse(injected.findings, clean.findings)).length;
    const name = kind === '' ? 'paired' : `paired, ${kind}`;
    const unit = `of ${String(some.length)}`;
    const goal = kind === '' ? { bound: '>= 30 %', ok: worse >= some.length * 0.3 } : {};
    return [
      { name: `${name}: a higher verdict than the clean twin`, value: higher, unit },
      { name: `${name}: judged worse than the clean twin`, value: worse, unit, ...goal },
    ];
  });
}

/** `x_inj/obvious_7_pdf` is made from `x_clean/pdf`, or from `x_clean/collection__pdf`. */
function isTwin(injected: Scanned, clean: Scanned): boolean {
  if (clean.set !== injected.set.replace(/_inj$/, '_clean')) return false;
  const base = path.posix.basename(injected.dir).split('_').slice(2).join('_');
  const name = path.posix.basename(clean.dir);
  return name === base || name.endsWith(`__${base}`);
}

function kindOf({ dir }: Scanned): string {
  return path.posix.basename(dir).split('_', 1)[0] ?? '';
}
