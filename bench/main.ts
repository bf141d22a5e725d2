import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { benchAgent } from './agent.ts';
import { benchArchives } from './archives.ts';
import { benchCollect } from './collect.ts';
import { benchContainer } from './container.ts';
import { benchDisclosure } from './disclosure.ts';
import { benchEvalFiles } from './eval-files.ts';
import { benchEvalSubject } from './eval-subject.ts';
import { benchEvalSuite } from './eval-suite.ts';
import { benchEvalVerdicts } from './eval-verdicts.ts';
import { benchExecutors } from './executors.ts';
import { benchFleet } from './fleet.ts';
import { benchFleetGrowth } from './fleet-growth.ts';
import { benchHints } from './hints.ts';
import { benchHook } from './hook.ts';
import { benchInstall, benchVerify } from './install.ts';
import { benchListing } from './listing.ts';
import { benchJournal } from './journal.ts';
import type { BenchRow } from './row.ts';
import { benchPacksPeers } from './packs-peers.ts';
import { benchPolicy } from './policy.ts';
import { benchRedaction } from './redaction.ts';
import { benchRegrade } from './regrade.ts';
import { benchReportPage } from './report-page.ts';
import { benchScan } from './scan.ts';
import { benchScanCorpus } from './scan-corpus.ts';
import { benchScriptHelp } from './script-help.ts';
import { benchScriptPackages } from './script-packages.ts';
import { benchSearch } from './search.ts';
import { benchStaging } from './staging.ts';
import { benchStart } from './start.ts';
import { benchTokens } from './tokens.ts';
import { benchMcp } from './mcp.ts';
import { benchConsole } from './console.ts';
import { benchConversations } from './conversations.ts';

const HELP = `npm run bench -- [--only start,listing,tokens,scan,search,hints,hook,disclosure,executors,packages,script-help,staging,collect,container,journal,policy,redaction,agent,mcp,install,verify,archives,packs-peers,scan-corpus,eval-files,suite,verdicts,subject,regrade,report,console,conversations,fleet,fleet-growth] [--data DIR] [--collections DIR,DIR] [--sources DIR]
Prints figures as ratios inside one run. DIR holds real data (retrieval/); without it, generated skills stand in. script-help runs the scripts
of --collections; packs-peers also installs each folder below --sources (clones of collections). Peers are
installed into .cache/peers. Exit 1 when a bound is not kept.`;

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    data: { type: 'string' },
    collections: { type: 'string' },
    sources: { type: 'string' },
    help: { type: 'boolean' },
  },
});
if (values.help === true) {
  console.log(HELP);
} else {
  // Compiled to .cache/bench/bench/main.js.
  const project = fileURLToPath(new URL('../../..', import.meta.url));
  const beside = path.join(project, '../shared/data');
  const dataDir = values.data ?? (existsSync(beside) ? beside : undefined);
  // Threads and sandboxes start files of the build, which are expected in the same place as in the package.
  rmSync(path.join(project, '.cache/bench/dist'), { force: true });
  symlinkSync('../../dist', path.join(project, '.cache/bench/dist'));
  const peersDir = path.join(project, '.cache/peers');
  mkdirSync(peersDir, { recursive: true });
  const workDir = mkdtempSync(path.join(os.tmpdir(), 'skillwright-bench-'));
  const suites: Readonly<Record<string, () => Promise<readonly BenchRow[]> | readonly BenchRow[]>> = {
    start: () => benchStart(project),
    listing: () => benchListing({ project, dataDir, peersDir, workDir }),
    tokens: () => benchTokens({ dataDir, peersDir }),
    scan: () => benchScan({ dataDir, peersDir, workDir }),
    search: () => benchSearch({ dataDir, peersDir }),
    hints: () => benchHints({ project, dataDir }),
    hook: () => benchHook({ project, dataDir, workDir }),
    disclosure: () => benchDisclosure({ project, dataDir, workDir }),
    executors: () => benchExecutors({ workDir }),
    packages: () => benchScriptPackages({ workDir }),
    'script-help': () =>
      benchScriptHelp({
        collections: values.collections?.split(',').map((folder) => path.resolve(folder)) ?? [],
        workDir,
      }),
    staging: () => benchStaging({ workDir }),
    collect: () => benchCollect({ project, workDir }),
    container: () => benchContainer(),
    policy: () => benchPolicy(),
    redaction: () => benchRedaction(),
    journal: () => benchJournal({ workDir }),
    agent: () => benchAgent({ project, workDir }),
    mcp: () => benchMcp({ project, workDir }),
    install: () => benchInstall({ workDir }),
    verify: () => benchVerify({ workDir }),
    archives: () => benchArchives({ project, workDir }),
    'packs-peers': () => benchPacksPeers({ project, workDir, sourcesDir: values.sources }),
    'scan-corpus': () => benchScanCorpus({ dataDir, workDir }),
    'eval-files': () => benchEvalFiles({ dataDir }),
    verdicts: () => benchEvalVerdicts(),
    suite: () => benchEvalSuite({ workDir }),
    subject: () => benchEvalSubject({ workDir }),
    regrade: () => benchRegrade({ workDir }),
    report: () => benchReportPage({ workDir }),
    console: () => benchConsole({ project, workDir, dataDir }),
    conversations: () => benchConversations(),
    fleet: () => benchFleet({ project }),
    'fleet-growth': () => benchFleetGrowth({ project }),
  };
  // The last one fills a database of 10 GB.
  const wanted = values.only?.split(',') ?? Object.keys(suites).filter((name) => name !== 'fleet-growth');
  try {
    const all: BenchRow[] = [];
    for (const name of wanted) {
      const suite = suites[name];
      if (suite === undefined)
        throw new Error(`there is no suite ${name}; there are ${Object.keys(suites).join(', ')}`);
      console.log(`\n${name}`);
      for (const row of await suite()) {
        all.push(row);
        console.log(rowText(row));
      }
    }
    writeFileSync(path.join(project, '.cache/bench.json'), `${JSON.stringify(all, undefined, 2)}\n`);
    const missed = all.filter(({ ok }) => ok === false);
    console.log(
      missed.length === 0
        ? '\nevery bound is kept'
        : `\n${String(missed.length)} bounds are not kept: ${missed.map(({ name }) => name).join('; ')}`,
    );
    process.exitCode = missed.length === 0 ? 0 : 1;
  } finally {
    rmSync(workDir, { recursive: true, force: true });
  }
}

function rowText({ name, value, unit, bound, ok, note }: BenchRow): string {
  const verdict = ok === undefined ? '  ' : ok ? 'ok' : 'NO';
  const figure = Number.isNaN(value) ? '-' : value >= 100 ? value.toFixed(0) : value.toPrecision(3);
  return `  ${verdict}  ${name.padEnd(64)} ${figure.padStart(9)} ${unit.padEnd(14)} ${(bound ?? '').padEnd(12)} ${note ?? ''}`.trimEnd();
}
