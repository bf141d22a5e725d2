/** What reference pages and step-by-step pages promise; `promises.ts` says how. */
import type { Promised } from './promises.ts';

const HEAD = 'test/skills/format/read-head.test.ts';
const RESTRICTIONS = 'test/skills/format/restrictions.test.ts';
const MERGE = 'test/runtime/config/config-merge.test.ts';
const AUTO = 'test/model/auto.system.test.ts';
const HOSTILE_TEXT = 'test/runtime/hostile-text.test.ts';
const ARCHITECTURE = 'test/architecture.test.ts';
const ARMS = 'test/evals/report/compare-arms.test.ts';

export const REFERENCE_PROMISES: Readonly<Record<string, readonly Promised[]>> = {
  'README.md': [{ sentence: 'They **cannot be trusted**', because: 'it says what hurts without Skillwright' }],
  'docs/architecture.md': [
    { sentence: 'the test below refuses others', test: `${ARCHITECTURE}: the import table` },
    { sentence: 'at most 400 lines per file', test: `${ARCHITECTURE}: none has more than 400 lines` },
    {
      sentence: '`auto` uses the first executor that probe programs cannot escape from',
      test: 'test/sandbox/probe/detect.system.test.ts: auto takes the first executor that isolates, and never another',
    },
    {
      sentence: 'ours refuses the whole archive before writing',
      test: 'test/packs/archive/fuzz.system.test.ts: nothing is written outside; what is accepted is exactly what is declared, and other readers see the same',
    },
  ],
  'docs/catalog.md': [
    { sentence: 'nothing; found by searching', because: 'it names a state, and says what is listed in it' },
    {
      sentence: 'inside delimiters that it cannot close',
      test: `${HOSTILE_TEXT}: stays inside what it is in: it ends no mark, opens none and imitates no heading`,
    },
  ],
  'docs/configuration.md': [
    {
      sentence: 'it may tighten safety settings and never loosen them',
      test: `${MERGE}: whatever a project says, nothing gets wider than the user left it`,
    },
    {
      sentence: 'at most 64 files of 1 MiB, eight deep',
      test: 'test/policy/policy-files.test.ts: cannot be included: more than 64 files are included',
    },
    {
      sentence: 'Values of `telemetry.headers` and keys in `model.params` are never printed',
      test: 'test/cli/config.test.ts: is a table for people, and shows no key',
    },
  ],
  'docs/eval-cases.md': [
    { sentence: 'only for what code cannot check', because: 'it says what the key is for' },
    {
      sentence: 'A case that asks for nothing is an error',
      test: 'test/evals/cases/invalid-cases.system.test.ts: unknown keys, wrong types and infinite numbers',
    },
    {
      sentence: 'Their programs never run',
      test: 'test/evals/cases/foreign-cases.test.ts: a set-up script is an error, because nothing runs it',
    },
  ],
  'docs/eval-subjects.md': [
    {
      sentence: 'A run is an error, never a verdict',
      test: 'test/evals/subjects/subjects.system.test.ts: is INVALID when a new version changed its transcript',
    },
    {
      sentence: 'never from the cache',
      test: 'test/evals/trigger/run-trigger.system.test.ts: asks its controls again, whatever the cache has',
    },
    {
      sentence: 'a transcript without it is an error',
      test: 'test/evals/subjects/subjects.system.test.ts: is INVALID when a new version changed its transcript',
    },
  ],
  'docs/file-formats.md': [{ sentence: 'Never copy the key', because: 'it tells the reader what not to do' }],
  'docs/models.md': [
    { sentence: 'nothing: no language model, no network', because: 'it names what the rule model needs' },
    {
      sentence: 'A model that you name is used or refused, never replaced',
      test: `${AUTO}: is never replaced by another one`,
    },
    { sentence: 'if nothing is named', because: 'it introduces a list' },
    {
      sentence: 'A base URL with a user, a password or a query is refused',
      test: 'test/model/providers.test.ts: the base URL of the model is invalid',
    },
    {
      sentence: 'Nothing is tried again after a piece of an answer was shown',
      test: 'test/model/hostile-servers.system.test.ts: a stream that breaks after its first words is not told twice',
    },
    {
      sentence: 'Scripts of skills never get these variables',
      test: 'test/runtime/secrets/secrets.test.ts: no skill can get a key of a model provider',
    },
  ],
  'docs/observability.md': [
    {
      sentence: 'A sink never throws into a run',
      test: 'test/runtime/run-record.system.test.ts: a sink that throws neither ends the run nor keeps events from the next sink',
    },
    {
      sentence: 'so it cannot imitate a line',
      test: 'test/cli/approval-summary.test.ts: names and texts of a skill make no line without a frame, no terminal code and no other beginning',
    },
  ],
  'docs/registry.md': [
    {
      sentence: 'One that cannot be fetched is a warning',
      test: 'test/runtime/roots.test.ts: root/not-supported',
    },
    {
      sentence: 'searched 16 levels deep',
      test: 'test/skills/registry/discover.test.ts: depth is bounded, and said to be',
    },
    {
      sentence: 'Only the frontmatter is read, at most 64 KiB',
      test: 'test/skills/registry/read-head-bytes.test.ts: is read up to its closing fence, with the digest of exactly these bytes',
    },
  ],
  'docs/rule-model.md': [
    {
      sentence: 'at most one search, two loads and one run per request',
      test: 'test/model/rules-run.system.test.ts: searches, loads, runs the quickstart on the given file and answers from its output',
    },
    { sentence: 'the same, or nothing', because: 'it says what a placeholder becomes' },
    {
      sentence: 'If something is missing, nothing runs, and the answer says what',
      test: 'test/model/rules-run.system.test.ts: says what is missing, and follows the same skill when it is given',
    },
  ],
  'docs/script-packages.md': [
    {
      sentence: 'if they cannot be installed, the script runs with a warning',
      test: 'test/runtime/packages/packages.system.test.ts: a list for the whole skill is installed for scripts that import something, and its failure is a warning',
    },
    {
      sentence: 'A project file cannot choose indexes or hosts',
      test: `${MERGE}: whatever a project says, nothing gets wider than the user left it`,
    },
    {
      sentence: '`local` and `macos` never install packages',
      test: 'test/runtime/execution.system.test.ts: execution/missing',
    },
  ],
  'docs/search.md': [{ sentence: 'that were never used for tuning', because: 'npm run bench measures it' }],
  'docs/skill-format.md': [
    {
      sentence: 'contains control characters is never used',
      test: `${HEAD}: never yields a name that is a path or empty, and never a hidden character`,
    },
    {
      sentence: 'commas inside parentheses separate nothing',
      test: `${RESTRICTIONS}: an entry of allowed-tools that is not a tool pattern is ignored and reported`,
    },
    {
      sentence: 'A mistake anywhere in the file never gives them back',
      test: `${RESTRICTIONS}: a mistake never lifts a restriction that stands in the file`,
    },
    { sentence: 'What is refused', because: 'it is a heading' },
    {
      sentence: 'Nothing is ever executed to read a skill',
      test: `${ARCHITECTURE}: that read skills start no program, and import no part that does`,
    },
    {
      sentence: 'with `security.block_angle_brackets_in_frontmatter` the skill is left out',
      test: `${HEAD}: angle brackets leave the skill out where the configuration says so`,
    },
    {
      sentence: 'By default at most 500 lines and 40,000 characters',
      test: 'test/skills/format/skill-md.test.ts: body/too-long@505:1',
    },
  ],
  'docs/vocabularies.md': [
    {
      sentence: 'A project can choose a vocabulary, and gains nothing by it',
      test: 'test/runtime/vocabulary-setting.test.ts: a project that chooses it cannot turn off what it turns on',
    },
    {
      sentence: 'A tool that cannot work is not offered',
      test: 'test/tools/tools.test.ts: a tool is offered whose row says that it can work',
    },
    {
      sentence: 'Text of a skill cannot imitate what we write around it',
      test: `${HOSTILE_TEXT}: stays inside what it is in: it ends no mark, opens none and imitates no heading`,
    },
  ],
  'docs/how-to/allow-one-host.md': [
    {
      sentence: 'reach one host and nothing else',
      test: 'test/platform/net/allow-proxy.system.test.ts: a host without a grant is refused with the list of grants, and never resolved',
    },
    { sentence: 'this machine cannot resolve it', test: 'test/core/network/refused-connection.test.ts: unresolved' },
  ],
  'docs/how-to/compare-two-versions.md': [
    { sentence: 'Two cases cannot prove a difference', test: 'test/docs/how-to.system.test.ts: shows ${page}' },
    {
      sentence: 'trigger checks alone cannot compare versions',
      test: `${ARMS}: may trigger another version less often, which is compared`,
    },
  ],
  'docs/how-to/install-into-several-agents.md': [
    {
      sentence: '`install --frozen` restores exactly these files and links',
      test: 'test/cli/agents.system.test.ts: puts 18 skills in for Claude Code; uninstall --all leaves nothing, and restore brings all back',
    },
  ],
  'docs/how-to/migrate-from-npx-skills.md': [
    {
      sentence: 'a failed install leaves nothing behind',
      test: 'test/packs/archive/archive.system.test.ts: in place: nothing is left of it',
    },
  ],
  'docs/how-to/migrate-from-openseed.md': [
    { sentence: 'A command cannot write', test: 'test/docs/how-to.system.test.ts: shows ${page}' },
  ],
  'docs/how-to/migrate-from-skills-agent.md': [
    { sentence: 'the setting that restores the behaviour of the design', because: 'it introduces a link' },
  ],
  'docs/how-to/migrate-from-trpc-agent-go.md': [
    { sentence: 'or nothing isolates programs', because: 'it names the cause of a message' },
    {
      sentence: 'A host file is refused (`host://`)',
      test: 'test/seeds/restored.system.test.ts: trpc: host:// reads a file of the machine',
    },
  ],
  'docs/how-to/packages-for-a-script.md': [
    { sentence: 'the package index … cannot be reached', because: 'it names a message' },
  ],
  'docs/how-to/resume-a-run.md': [
    { sentence: 'nothing else, or `--model` with another one', because: 'it says what to type' },
  ],
  'docs/how-to/write-a-policy.md': [
    {
      sentence: 'a cloned repository cannot give itself rights',
      test: `${MERGE}: whatever a project says, nothing gets wider than the user left it`,
    },
    { sentence: 'nothing is executed', test: 'test/docs/how-to.system.test.ts: shows ${page}' },
    { sentence: 'because nothing allows `rm`', test: 'test/docs/how-to.system.test.ts: shows ${page}' },
    {
      sentence: 'If the configuration cannot be read, only reading is allowed',
      test: 'test/runtime/closed-places.system.test.ts: leaves reading and nothing else, whoever says yes: %s',
    },
  ],
  'docs/tutorials/learn-from-use.md': [
    {
      sentence: '`--write` changes nothing',
      test: 'test/cli/eval-tune.system.test.ts: calls noise no improvement, and does not write it',
    },
  ],
  'docs/tutorials/prove-it-helps.md': [
    { sentence: 'if the skill did nothing', because: 'it explains a number' },
    {
      sentence: 'is not compared: without the skill nothing can be loaded',
      test: `${ARMS}: give no credit to a skill in cases that did not load it`,
    },
    {
      sentence: 'CI runs the same cases for nothing',
      because: 'the tutorial shows it, and tutorials.system.test.ts runs it',
    },
  ],
  'docs/tutorials/safe-skills.md': [
    { sentence: 'proves nothing about a clean skill', because: 'it says what the scan does not promise' },
    {
      sentence: 'so it sent nothing',
      test: 'test/sandbox/granted-network.system.test.ts: a program without a grant has no network to talk to',
    },
    { sentence: 'never the whole internet', because: 'it advises the reader' },
    {
      sentence: 'The text of a skill cannot widen what a model may do',
      test: 'test/policy/policy.test.ts: a list cannot widen what the configuration allows, as restriction or as grant',
    },
    { sentence: 'Forbid what you never want', because: 'it tells the reader what to do' },
  ],
  'docs/tutorials/team.md': [
    {
      sentence: 'Nothing is lost when a worker dies',
      test: 'test/fleet/fleet.system.test.ts: a worker that is killed loses no run, and no model call is repeated',
    },
  ],
};
