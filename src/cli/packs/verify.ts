import path from 'node:path';

import { accepted, verifyInstalled, verifyPack, type PackSettings } from '#packs';
import { scanSarif } from '#scan';
import { printable } from '#core';
import { isPresent } from '#platform';
import { VERSION } from '../../version.ts';
import { option, toggle, type Invocation } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import { jsonText, plainJson } from '../json.ts';
import {
  ACCEPT_FLAG,
  ROOT_FLAGS,
  definePluginCommand,
  readingSettings,
  rootOptions,
  withProgress,
} from './pack-command.ts';
import { FINDINGS_FLAG, findingLines } from './show-pack.ts';

const flags = {
  ...ROOT_FLAGS,
  signature: toggle('for packs: require a signature by a pinned key'),
  lenient: toggle('for packs: validate like a loader, not like a publisher'),
  ...ACCEPT_FLAG,
  ...FINDINGS_FLAG,
  format: option('FORMAT', 'print as text, json or, for packs, sarif (default: text)', {
    choices: ['text', 'json', 'sarif'],
  }),
} as const;

export const command = definePluginCommand({
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
      throw usageError('expected one PACK, or NAMEs of installed skills', 'see skillwright verify --help');
    return pack(invocation, settings, packs[0] ?? '');
  },
});

type VerifyInvocation = Invocation<typeof flags>;

/** Without a pack these flags would be ignored, and the output would suggest that they were checked. */
function refusePackFlags({ flags: options }: VerifyInvocation): void {
  const [flag] = [
    ...(options.signature === true ? ['--signature'] : []),
    ...(options.lenient === true ? ['--lenient'] : []),
    ...(options.accept === undefined ? [] : ['--accept']),
    ...(options.findings === true ? ['--findings'] : []),
    ...(options.format === 'sarif' ? ['--format sarif'] : []),
  ];
  if (flag !== undefined) throw usageError(`${flag} works only with a pack`, 'usage: skillwright verify PACK');
}

/** Skill names contain no dot and no slash. */
function isPack(word: string, { surroundings: { cwd } }: PackSettings): boolean {
  return /[./\\:]/.test(word) && (/:/.test(word) || isPresent(path.resolve(cwd, word)) || /[/\\]/.test(word));
}

async function installed(invocation: VerifyInvocation, settings: PackSettings): Promise<number> {
  const { flags: options, positionals: names, terminal } = invocation;
  const { style } = terminal;
  const { root, skills, isIntact } = await withProgress(invocation, (show) =>
    verifyInstalled({
      ...rootOptions(invocation, settings),
      names,
      withOlder: options.to === undefined,
      onProgress: (done, total) => show({ step: 'verifying', done, total }),
    }),
  );
  if (options.json === true || options.format === 'json') {
    const shown = skills.map(({ name, status, locked, digest, files = {}, drift, reason, places = [] }) => ({
      name,
      status,
      locked: locked?.digest ?? null,
      accepted: locked?.accepted,
      digest: digest ?? null,
      files: Object.fromEntries(Object.entries(files).map(([file, one]) => [file, one.sha256])),
      ...drift,
      reason: reason === '' ? undefined : reason,
      places: places.length === 0 ? undefined : places,
    }));
    terminal.out(jsonText({ ok: isIntact, root, skills: shown }));
    return isIntact ? EXIT.done : EXIT.failed;
  }
  const line = (word: string, file: string): string => `  ${style('yellow', word)} ${printable(file)}`;
  for (const { name, status, digest, drift, reason, locked } of skills)
    terminal.out([
      [
        style(status === 'same' ? 'green' : status === 'not-locked' ? 'yellow' : 'red', status),
        printable(name),
        ...(digest === undefined ? [] : [style('dim', digest)]),
        ...(reason === '' ? [] : [`(${reason})`]),
      ].join('  '),
      ...(locked?.accepted === undefined
        ? []
        : [
            `  ${style('yellow', 'accepted')} ${locked.accepted.join(', ')}${status === 'same' ? '' : ', but not in these files'}`,
          ]),
      ...drift.changed.map((file) => line('changed', file)),
      ...drift.missing.map((file) => line('missing', file)),
      ...drift.added.map((file) => line('added  ', file)),
    ]);
  for (const { kind, path: place, agents, status } of skills.flatMap(({ places = [] }) => places)) {
    const who = agents.length === 0 ? '' : ` for ${agents.join(', ')}`;
    if (status !== 'same') terminal.out(`${style('red', status)} ${kind} ${printable(place)}${who}`);
  }
  const same = skills.filter(({ status }) => status === 'same').length;
  const byHand = skills.filter(({ status }) => status === 'not-locked').length;
  if (skills.length > byHand) terminal.remark(`${String(same)} of ${String(skills.length - byHand)} match the lock`);
  if (byHand > 0) terminal.remark(`${String(byHand)} not in the lock: compare the digest with another copy`);
  return isIntact ? EXIT.done : EXIT.failed;
}

async function pack(invocation: VerifyInvocation, settings: PackSettings, source: string): Promise<number> {
  const { flags: options, terminal, signal } = invocation;
  const { style } = terminal;
  const { signature = false, lenient = false } = options;
  const verified = accepted(await verifyPack({ settings, source, signature, lenient, signal }));
  const { skills, refusals, leftOut, archive, hasManifest, signedBy } = verified;
  const isGood = refusals.length === 0;
  const format = options.json === true ? 'json' : (options.format ?? 'text');
  if (format === 'json')
    terminal.out(
      jsonText({
        ok: isGood,
        source: verified.source,
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
        refusals: refusals.map(({ code, message, hint, path: file }) => ({ code, message, hint, path: file })),
      }),
    );
  else if (format === 'sarif') {
    const findings = skills.flatMap(({ name, scan }) =>
      [...scan.stops, ...scan.warnings, ...scan.ignored].map((finding) => {
        return { ...finding, path: `${name}/${finding.path}` };
      }),
    );
    terminal.out(plainJson(scanSarif(findings, { version: VERSION })));
  } else
    terminal.out([
      ...(archive === undefined ? [] : [archive]),
      hasManifest ? 'manifest: every file matches' : style('dim', 'no manifest'),
      signedBy === undefined ? style('dim', 'not signed with a pinned key') : `signed by ${printable(signedBy)}`,
      ...skills.flatMap(({ name, version = '-', digest, scan }) => [
        `${printable(name)}  ${printable(version)}  ${digest}`,
        ...findingLines(scan, terminal, { all: options.findings === true }).map((line) => `  ${line}`),
      ]),
      ...leftOut.map((line) => style('yellow', `left out ${printable(line)}`)),
      ...refusals.flatMap(({ code, message, hint }) => [
        `${style('red', 'refused')} ${message} ${style('dim', code)}`,
        ...(code === 'pack/scan' ? [`  ${style('dim', hint)}`] : []),
      ]),
    ]);
  return isGood ? EXIT.done : EXIT.failed;
}
