/** What the pages about agents, evaluations, servers and publishing promise; `promises.ts` says how. */
import type { Promised } from './promises.ts';

const AUTO = 'test/model/auto.system.test.ts';
const LINT = 'test/evals/lint/lint-suite.test.ts';
const ARMS = 'test/evals/report/compare-arms.test.ts';
const VERDICT = 'test/evals/report/verdict.test.ts';
const HOST = 'test/mcp/host.system.test.ts';
const FAULTS = 'test/fleet/faults.system.test.ts';
const TEAMS = 'test/fleet/teams.system.test.ts';
const SIGN = 'test/packs/sign/sign.test.ts';
const SITE = 'test/packs/site/build-site.system.test.ts';

export const AGENT_PROMISES: Readonly<Record<string, readonly Promised[]>> = {
  'docs/agent.md': [
    { sentence: 'A named model is never replaced', test: `${AUTO}: is never replaced by another one` },
    {
      sentence: 'A project file cannot choose where requests go',
      test: `${AUTO}: a file of a project cannot say whose model is asked, nor where, nor with which key`,
    },
    {
      sentence: 'at most two bodies per turn',
      test: 'test/agent/limits.system.test.ts: at most two bodies are loaded in a turn, workflow skills first; the rest is put off with a note',
    },
    {
      sentence: '`.git` and records cannot be read',
      test: 'test/runtime/closed-folders.test.ts: reads no record, no stored answer, no data of git, and no file of a skill that is not loaded',
    },
    {
      sentence: '`NO_COLOR`, `--color never`, `TERM=dumb` and `CI` are respected',
      test: 'test/cli/commands.test.ts: cuts descriptions to the width of a terminal and colours them there',
    },
    {
      sentence: '`--plain` draws nothing',
      test: 'test/cli/chat-editing.system.test.ts: --plain draws nothing: no cursor movements, no status line, whole lines',
    },
  ],
  'docs/evals.md': [
    {
      sentence: 'incomplete, or nothing to believe',
      test: 'test/evals/report/report.test.ts: is incomplete if more than a third of its results were skipped, with the exit code 5',
    },
    {
      sentence: 'the checks pass on nothing, any text or number',
      test: `${LINT}: an expression that any number meets, and outcome: done alone, are errors`,
    },
    {
      sentence: '`eval trigger` cannot measure precision, or recall',
      test: 'test/evals/lint/trigger-suites.test.ts: need a request that must not load the skill',
    },
    {
      sentence: 'A file in `evals/` that cannot be parsed is an error',
      test: 'test/cli/eval.system.test.ts: ends with 5 and names file and line where case files have problems, or there are none',
    },
    {
      sentence: 'exit code 0 passes',
      test: 'test/evals/run/grade-case.system.test.ts: runs checkers over the workspace and the project: exit 0 passes, 1 fails, others are errors',
    },
    {
      sentence: 'a skill that was never loaded is *not used: no effect can be claimed*',
      test: 'test/evals/traps.system.test.ts: tools that one arm lacks, or by a skill that is never loaded',
    },
    {
      sentence: 'A case that never loaded it is not worse',
      test: `${ARMS}: give no credit to a skill in cases that did not load it`,
    },
    { sentence: 'an edited one is refused', test: `${VERDICT}: of a report that was edited consistently is refused` },
    {
      sentence: 'at most 90 days ahead',
      test: 'test/evals/cases/quarantine.test.ts: a quarantine lasts at most 90 days',
    },
    {
      sentence: '`seconds` of a mean run at most',
      test: 'test/evals/report/costs.test.ts: fails above a threshold of tokens, money or latency',
    },
  ],
  'docs/activate.md': [
    {
      sentence: 'at most five in 400 tokens',
      test: 'test/activation/hook/hint-text.test.ts: stays within 400 tokens and five skills, with descriptions of a megabyte',
    },
  ],
  'docs/usage.md': [
    { sentence: 'missed or never used', because: 'it says what the command shows' },
    {
      sentence: 'Nothing is written or sent; no text of a request is printed',
      test: 'test/activation/usage.test.ts: changes nothing in the folders of %s and prints no text of a request',
    },
  ],
  'docs/mcp.md': [
    {
      sentence: 'the call fails with `record/failed`',
      test: 'test/mcp/server.system.test.ts: calls fail with the same code as long as the record cannot be written',
    },
    {
      sentence: 'default: all, at most 128',
      test: `${HOST}: more tools than a request can carry: 128 are offered, and a problem says how to choose`,
    },
    {
      sentence: 'keys of model providers are never passed on',
      test: `${HOST}: get no variable that the configuration does not name, and their secrets are removed from answers`,
    },
    {
      sentence: 'at most 4 of an answer, 3 MiB each',
      test: `${HOST}: give images to the model within limits, and describe every other part`,
    },
    {
      sentence: 'A tool whose definition changes during a session is refused',
      test: `${HOST}: changing a tool after it was offered: that tool is refused, and the call is not sent`,
    },
  ],
  'docs/mcp-skills.md': [],
  'docs/fleet.md': [
    {
      sentence: 'nothing: an ordinary user without capabilities',
      test: 'test/fleet/manifests.test.ts: keeps the restricted profile of pods, and lifts exactly what namespaces need',
    },
    {
      sentence: '`problems` of the run names those that cannot be',
      test: `${TEAMS}: every output file that can be stored is stored, and the others are named with their invisible characters escaped`,
    },
    {
      sentence: 'so that the second call changes nothing',
      test: `${TEAMS}: a script that kill -9 interrupted runs again with the same key in another workspace`,
    },
    {
      sentence: 'It starts nothing with effects, and after 3 seconds it ends its runs',
      test: `${FAULTS}: a worker that is cut off from the database gives its runs up, and works again when it is back`,
    },
    {
      sentence: 'Nothing is done, because nothing can be recorded',
      test: `${FAULTS}: a full database accepts nothing and loses nothing; with room it goes on`,
    },
    {
      sentence: 'The server holds at most a megabyte for it',
      test: 'test/server/exchange.test.ts: a reader of a stream that takes no data is disconnected, and reads why if it goes on',
    },
    {
      sentence: 'A project has at most `--per-project` runs at a time',
      test: `${FAULTS}: a project that floods the queue does not hold up another`,
    },
    {
      sentence: 'The configuration of the worker decides what a run may do, never the submission',
      test: 'test/fleet/api.system.test.ts: unknown names in a body, rules among them, are refused with the nearest one',
    },
    {
      sentence: 'and contents never change',
      test: 'test/fleet/fleet.system.test.ts: contents that do not match their digest are refused, and a database of a later version too',
    },
  ],
  'docs/server.md': [
    {
      sentence: 'Plan an install, an update or an uninstall; nothing is changed',
      test: 'test/server/api.test.ts: are installed, and only by the plan that was shown',
    },
    {
      sentence: 'Frames are made while the reader takes them',
      test: 'test/server/server-sent-events.test.ts: nothing is read ahead of who takes it',
    },
    {
      sentence: 'A request cannot extend what a run may do',
      test: 'test/server/api.test.ts: a request gives its run no rules',
    },
  ],
  'docs/console.md': [
    {
      sentence: 'If the source changed in between, nothing is installed',
      test: 'test/server/api.test.ts: are installed, and only by the plan that was shown',
    },
    {
      sentence: 'it cannot change rules',
      test: 'test/server/api.test.ts: every route is described, and the description names no other',
    },
  ],
  'docs/trust.md': [
    {
      sentence: 'always, also if the project names the folder too',
      test: 'test/policy/trust.test.ts: what lies in a folder that the person named, and not beside it',
    },
    {
      sentence: 'hooks of plugins never run',
      test: 'test/skills/plugin/plugin.test.ts: has skills directly in skills, servers in mcp.json, and folders of clients',
    },
  ],
  'docs/publishing.md': [
    {
      sentence: 'files that look like secrets',
      test: 'test/packs/pack/build-pack-refused.test.ts: a secret, by its line and kind and never by its value',
    },
    {
      sentence: 'so it cannot be moved to another pack',
      test: `${SIGN}: is refused for another name, version or set of skills, without a signature, and for other bytes`,
    },
    { sentence: 'a project cannot pin one', test: 'test/packs/sign/keys.test.ts: edited by hand are ignored' },
    {
      sentence: 'or nothing is written (exit code 1, or 3 for the scan)',
      test: `${SITE}: is refused for every skill that cannot be published, and the old site stays`,
    },
    {
      sentence: 'A folder that is not a site is never touched',
      test: `${SITE}: never replaces a folder that is something else`,
    },
  ],
  'docs/library.md': [
    {
      sentence: 'A snapshot (`skills.index`) never changes',
      test: 'test/library/open-skills.test.ts: a skill that is added is there for conversations that start after refresh',
    },
  ],
  'docs/why.md': [{ sentence: 'shorter descriptions; names; nothing', because: 'it lists what a catalog can lose' }],
};
