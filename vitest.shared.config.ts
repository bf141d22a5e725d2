import { availableParallelism } from 'node:os';

import { defineConfig } from 'vitest/config';

// .ci/run names a folder for the counts; a person sees the usual report.
const report = process.env['SKILLWRIGHT_REPORT'];

export const SYSTEM_TESTS = [
  'test/executor/**/*.test.ts',
  'test/artifact/**/*.test.ts',
  'test/runtime/{approvals,closed-places,enforcement,policy-matrix,replay-run,trust-in-use,execution,replay-programs,run-record,secret-canary}.test.ts',
  'test/runtime/approval/stored-approvals.test.ts',
  'test/cli/{approvals,call,chat,code-cache,demo,exec,exec-record,policy,replay,resume,run,standard-stream,terminal-questions,untrusted}.test.ts',
  'test/audit/{processes,redact,redact-shapes,verify}.test.ts',
  'test/registry/{cache,hostile,processes,watch}.test.ts',
  'test/search/{hostile,search-index}.test.ts',
  'test/host/{grep,harmful-answers}.test.ts',
  'test/core/{catalog,fix,glob,skill-arguments}.test.ts',
  'test/core/agent/{action-protocol,plan}.test.ts',
  'test/core/command/{command-bypasses,command-line,dynamic-commands}.test.ts',
  'test/core/frontmatter/{colon-head,read-head,restrictions,work}.test.ts',
  'test/core/json/json-stream.test.ts',
  'test/core/policy/policy-laws.test.ts',
  'test/core/text/{inert,markdown-sections}.test.ts',
  'test/agent/**/*.test.ts',
  'test/model/{auto,cut-streams,fuzz,hostile-answers,hostile-servers,protocols,rules-run}.test.ts',
  'test/examples.test.ts',
  'test/core/pack/ignore-git.test.ts',
  'test/core/scan/{find-many,hostile-text,scan}.test.ts',
  'test/install/root/{crash,file-systems,open-root}.test.ts',
  'test/runtime/packs/*.test.ts',
  'test/cli/{install,update,packs,pack-questions,eval*}.test.ts',
  'test/evals/grade/**/*.test.ts',
  'test/evals/cases/{broken-cases,case-laws,init-cases-run}.test.ts',
  'test/evals/{run,trigger}/*.test.ts',
  'test/evals/evaluate.test.ts',
  'test/install/{apply-update,scan-files}.test.ts',
  'test/install/pack/{full-disk,minisign-program,reproducible}.test.ts',
  'test/install/sources/{archive,folder,git,npm,url,well-known}.test.ts',
  'test/platform/archive/{archive,attacks,bombs,disk,fuzz,packers}.test.ts',
  'test/viewer/{chromium,page-text,real-run}.test.ts',
  'test/worker/event-source.test.ts',
  'test/skills/{csv-report,layout,skill-author,text-diff}.test.ts',
  'test/platform/{allow-proxy,child-process,confined-race,confined-write,copy-tree,output-capture,remove-tree,tree-*}.test.ts',
];

export const shared = defineConfig({
  test: {
    // The suites share nothing but the file system and each cleans up after itself; one realm a worker is many times faster.
    isolate: false,
    // Half of the tests wait for processes of their own.
    maxWorkers: Math.max(2, availableParallelism()),
    // Only for what hangs: what is slow on a busy machine is no failure.
    testTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
    hookTimeout: 120_000,
    globalSetup: ['test/global-setup.ts'],
    setupFiles: ['test/random-seed.ts'],
    reporters:
      report === undefined
        ? ['default']
        : ['default', ['json', { outputFile: `${report}/${String(process.pid)}.json` }]],
  },
});
