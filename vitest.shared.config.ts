import { availableParallelism } from 'node:os';

import { defineConfig } from 'vitest/config';

// .ci/run names a folder for the counts; a person sees the usual report.
const report = process.env['SKILLWRIGHT_REPORT'];

export const SYSTEM_TESTS = [
  'test/executor/**/*.test.ts',
  'test/artifact/**/*.test.ts',
  'test/runtime/{approvals,closed-places,enforcement,trust-in-use,execution,replay-programs,run-record,secret-canary}.test.ts',
  'test/runtime/approval/stored-approvals.test.ts',
  'test/cli/{approvals,call,chat,code-cache,demo,exec,exec-record,policy,replay,resume,run,standard-stream,terminal-questions,untrusted}.test.ts',
  'test/audit/{processes,redact,redact-shapes,verify}.test.ts',
  'test/registry/{cache,hostile,processes,watch}.test.ts',
  'test/host/{grep,harmful-answers}.test.ts',
  'test/core/{command-bypasses,command-line,inert,markdown-sections,restrictions}.test.ts',
  'test/core/frontmatter/work.test.ts',
  'test/agent/**/*.test.ts',
  'test/model/{cut-streams,fuzz,hostile-answers,hostile-servers,protocols,rules-run}.test.ts',
  'test/examples.test.ts',
  'test/skills/{csv-report,skill-author,text-diff}.test.ts',
  'test/platform/{allow-proxy,child-process,confined-write,copy-tree,output-capture,remove-tree,tree-*}.test.ts',
];

export const shared = defineConfig({
  test: {
    // The suites share nothing but the file system and each cleans up after itself; one realm a worker is many times faster.
    isolate: false,
    // Half of the tests wait for processes of their own.
    maxWorkers: Math.max(2, availableParallelism()),
    testTimeout: 60_000,
    hookTimeout: 120_000,
    globalSetup: ['test/global-setup.ts'],
    reporters:
      report === undefined
        ? ['default']
        : ['default', ['json', { outputFile: `${report}/${String(process.pid)}.json` }]],
  },
});
