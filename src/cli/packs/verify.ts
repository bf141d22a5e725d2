import os from 'node:os';
import path from 'node:path';

import {
  isRefusal,
  olderFolder,
  verifyPack,
  verifyRoot,
  type CheckedPlace,
  type PackSettings,
  type VerifiedPack,
  type VerifiedSkill,
} from '#packs';
import { scanSarif } from '#scan';
import { printable, problemError } from '#core';
import { isPresent } from '#platform';
import { VERSION } from '../../version.ts';
import { option, toggle, type Invocation } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { jsonText, plainJson } from '../json.ts';
import { ROOT_FLAGS, accepted, completeChange, definePackCommand, readingSettings } from './pack-command.ts';
import { FINDINGS_FLAG, findingLines } from './show-pack.ts';
import { openProgress } from '../terminal/progress.ts';
import type { Terminal } from '../terminal/terminal.ts';

const flags = {
  ...ROOT_FLAGS,
  signature: toggle('for packs: require a signature by a pinned key'),
  lenient: toggle('for packs: validate like a loader, not like a publisher'),
  ...FINDINGS_FLAG,
  format: option('FORMAT', 'print as text, json or, for packs, sarif (default: text)', {
    choices: ['text', 'json', 'sarif'],
  }),
} as const;

export const command = definePackCommand({
  usage: 'verify [NAME...] [--scope project|user] | verify PACK [--signature]',
  details: [
    'Prints the digest of each skill of a root, compares it with skills.lock.json and lists every changed, missing and added file, and every broken link for an agent. Skills that were put there by hand are not in the lock; --json also gives the hash of each file. For a pack (.zip, .skill, .tar.gz or a folder): verifies its structure, manifest and signature, and scans it. Writes nothing, except that it completes an interrupted change first.',
    'Exit code 1: something differs.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright verify', 'verify every skill of this project'],
    ['skillwright verify pdf-forms --scope user', 'verify one skill of the user scope'],
    ['skillwright verify pack.zip --signature', 'verify a pack before you install it'],
  ],
  positionals: [0, Number.POSITIVE_INFINITY],
  async run(invocation) {
    const { positionals } = invocation;
    const settings = await readingSettings(invocation);
    const packs = positionals.filter((word) => isPack(word, settings));
    if (packs.length === 0) {
      refusePackFlags(invocation);
      return installed(invocation, settings);
    }
    if (packs.length !== 1 || positionals.length !== 1)
      throw new UsageError('expected one PACK, or NAMEs of installed skills', 'see skillwright verify --help');
    return pack(invocation, settings, packs[0] ?? '');
  },
});

type VerifyInvocation = Invocation<typeof flags>;

/** Without a pack these flags would be ignored, and the output would suggest that they were checked. */
function refusePackFlags({ flags: given }: VerifyInvocation): void {
  const [flag] = [
    ...(given.signature === true ? ['--signature'] : []),
    ...(given.lenient === true ? ['--lenient'] : []),
    ...(given.findings === true ? ['--findings'] : []),
    ...(given.format === 'sarif' ? ['--format sarif'] : []),
  ];
  if (flag !== undefined) throw new UsageError(`${flag} works only with a pack`, 'usage: skillwright verify PACK');
}

/** Skill names contain no dot and no slash. */
function isPack(word: string, { surroundings: { cwd } }: PackSettings): boolean {
  return /[./\\:]/.test(word) && (/:/.test(word) || isPresent(path.resolve(cwd, word)) || /[/\\]/.test(word));
}

async function installed(invocation: VerifyInvocation, { root, surroundings }: PackSettings): Promise<number> {
  const { flags: given, positionals, terminal, signal } = invocation;
  const progress = openProgress(terminal);
  const verifyIn = (folder: string, names: readonly string[]): ReturnType<typeof verifyRoot> =>
    verifyRoot(folder, {
      names,
      surroundings,
      signal,
      onProgress: (done, total) => progress.show(`verifying ${String(done)} of ${String(total)}`),
    });
  const older = given.to === undefined ? olderFolder(root) : undefined;
  for (const folder of [root, ...(older === undefined ? [] : [older])]) await completeChange(invocation, folder);
  const inOlder = positionals.filter(
    (name) => older !== undefined && isPresent(path.join(older, name)) && !isPresent(path.join(root, name)),
  );
  const others = positionals.filter((name) => !inOlder.includes(name));
  const isAll = positionals.length === 0;
  const found = [
    ...(isAll || others.length > 0 ? [await verifyIn(root, others)] : []),
    ...(older !== undefined && (isAll || inOlder.length > 0) ? [await verifyIn(older, inOlder)] : []),
  ];
  progress.end();
  // One of two folders may have no skills yet.
  const refusals = found.filter(isRefusal);
  const refusal = refusals.find(({ code }) => code !== 'lock/missing' || refusals.length === found.length);
  if (refusal !== undefined) throw problemError(refusal);
  const roots = found.filter((one) => !isRefusal(one));
  const skills = roots.flatMap((one) => one.skills);
  const isIntact = roots.every((one) => one.isIntact);
  if (given.json === true || given.format === 'json')
    terminal.out(
      jsonText({
        ok: isIntact,
        root,
        skills: skills.map(({ name, status, locked, digest, files = {}, drift, reason, places = [] }) => ({
          name,
          status,
          locked: locked?.digest ?? null,
          digest: digest ?? null,
          files: Object.fromEntries(Object.entries(files).map(([file, one]) => [file, one.sha256])),
          ...drift,
          ...(reason === '' ? {} : { reason }),
          ...(places.length === 0 ? {} : { places }),
        })),
      }),
    );
  else {
    for (const skill of skills) terminal.out(skillLines(skill, terminal));
    terminal.out(
      skills.flatMap(({ places = [] }) => places.filter(isNotSame).map((place) => placeLine(place, terminal))),
    );
    const same = skills.filter(({ status }) => status === 'same').length;
    const byHand = skills.filter(({ status }) => status === 'not-locked').length;
    if (skills.length > byHand) terminal.remark(`${String(same)} of ${String(skills.length - byHand)} match the lock`);
    if (byHand > 0) terminal.remark(`${String(byHand)} not in the lock: compare the digest with another copy`);
  }
  return isIntact ? EXIT.done : EXIT.failed;
}

const isNotSame = ({ status }: CheckedPlace): boolean => status !== 'same';

function placeLine({ kind, path: place, agents, status }: CheckedPlace, { style }: Terminal): string {
  const who = agents.length === 0 ? '' : ` for ${agents.join(', ')}`;
  return `${style('red', status)} ${kind} ${printable(place)}${who}`;
}

function skillLines(skill: VerifiedSkill, { style }: Terminal): readonly string[] {
  const { name, status, digest, drift, reason } = skill;
  const line = (word: string, file: string): string => `  ${style('yellow', word)} ${printable(file)}`;
  return [
    [
      style(status === 'same' ? 'green' : status === 'not-locked' ? 'yellow' : 'red', status),
      printable(name),
      ...(digest === undefined ? [] : [style('dim', digest)]),
      ...(reason === '' ? [] : [`(${reason})`]),
    ].join('  '),
    ...drift.changed.map((file) => line('changed', file)),
    ...drift.missing.map((file) => line('missing', file)),
    ...drift.added.map((file) => line('added  ', file)),
  ];
}

async function pack(invocation: VerifyInvocation, settings: PackSettings, source: string): Promise<number> {
  const { flags: given, terminal, signal } = invocation;
  const verifying = verifyPack({
    settings,
    source,
    workFolder: os.tmpdir(),
    signature: given.signature === true,
    lenient: given.lenient === true,
    signal,
  });
  const verified = accepted(await verifying);
  const isGood = verified.refusals.length === 0;
  const format = given.json === true ? 'json' : (given.format ?? 'text');
  if (format === 'json') terminal.out(jsonText({ ok: isGood, ...packJson(verified) }));
  else if (format === 'sarif') terminal.out(sarifText(verified));
  else terminal.out(packLines(verified, terminal, given.findings === true));
  return isGood ? EXIT.done : EXIT.failed;
}

function sarifText({ skills }: VerifiedPack): string {
  const findings = skills.flatMap(({ name, scan }) =>
    [...scan.stops, ...scan.warnings, ...scan.ignored].map((finding) => ({
      ...finding,
      path: `${name}/${finding.path}`,
    })),
  );
  return plainJson(scanSarif(findings, { version: VERSION }));
}

function packLines(
  { skills, refusals, leftOut, archive, hasManifest, signedBy }: VerifiedPack,
  terminal: Terminal,
  all: boolean,
): readonly string[] {
  const { style } = terminal;
  return [
    ...(archive === undefined ? [] : [archive]),
    hasManifest ? 'manifest: every file matches' : style('dim', 'no manifest'),
    signedBy === undefined ? style('dim', 'not signed with a pinned key') : `signed by ${printable(signedBy)}`,
    ...skills.flatMap(({ name, version = '-', digest, scan }) => [
      `${printable(name)}  ${printable(version)}  ${digest}`,
      ...findingLines(scan, terminal, { all }).map((line) => `  ${line}`),
    ]),
    ...leftOut.map((line) => style('yellow', `left out ${printable(line)}`)),
    ...refusals.flatMap(({ code, message, hint }) => [
      `${style('red', 'refused')} ${message} ${style('dim', code)}`,
      ...(code === 'pack/scan' ? [`  ${style('dim', hint)}`] : []),
    ]),
  ];
}

function packJson({ skills, refusals, leftOut, source, archive, hasManifest, signedBy }: VerifiedPack): object {
  return {
    source,
    archive: archive ?? null,
    hasManifest,
    signedBy: signedBy ?? null,
    skills: skills.map(({ name, version, digest, files, scan }) => ({
      name,
      version: version ?? null,
      digest,
      files: Object.keys(files).length,
      findings: { stops: scan.stops, warnings: scan.warnings },
    })),
    leftOut,
    refusals: refusals.map(({ code, message, hint, path: file }) => ({
      code,
      message,
      hint,
      path: file,
    })),
  };
}
