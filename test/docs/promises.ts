import { AGENT_PROMISES } from './agent-promises.ts';
import { REFERENCE_PROMISES } from './reference-promises.ts';

/**
 * What pages promise, with the test that would fail if it were untrue. `page` is compared word by word, so a sentence cannot change without
 * its entry. A sentence with a word such as "never" that promises nothing names the reason in `because`.
 */
export type Promised = {
  /** A part of one sentence of the page, which occurs once. */
  readonly sentence: string;
} & ({ readonly test: string } | { readonly because: string });

const RUNS = 'test/journal/run-chain.test.ts';
const OUTPUTS = 'test/cli/outputs.system.test.ts';
const UNDO = 'test/runtime/undo-files.test.ts';
const TAKE = 'test/runtime/execution/take-outputs.system.test.ts';
const APPROVALS = 'test/runtime/approvals.system.test.ts';
const SECRETS = 'test/runtime/secrets/secrets.test.ts';
const MERGE = 'test/packs/update/merge-installed.system.test.ts';

export const PROMISES: Readonly<Record<string, readonly Promised[]>> = {
  ...AGENT_PROMISES,
  ...REFERENCE_PROMISES,
  'docs/install.md': [
    {
      sentence: 'refuses everything that needs a network',
      test: 'test/packs/sources/archive.system.test.ts: needs no network, and every other source says that it does',
    },
    {
      sentence: 'is refused with `source/marketplace`; nothing is written, and other plugins still install',
      test: 'test/packs/sources/marketplace.test.ts: is refused if it leads out, names this machine, has credentials or wrong types',
    },
    {
      sentence: 'and is never stored',
      test: 'test/packs/sources/url.system.test.ts: is sent to that host alone, not to where it sends on to, and is in no message',
    },
    {
      sentence: 'one bad skill never costs the others',
      test: 'test/cli/install-verdicts.system.test.ts: installs what is ready, names what is not and why, and exits 0 without names',
    },
    {
      sentence: 'a named skill was refused, or all were',
      test: 'test/cli/install-verdicts.system.test.ts: exits 3 if a named skill was refused; the others go in',
    },
    {
      sentence: '`--strict` or `format.mode: "strict"` refuses them',
      test: 'test/cli/install-verdicts.system.test.ts: --strict and format.mode refuse violations; --lenient is accepted and not shown',
    },
    { sentence: 'and proves nothing', because: 'it says what the scan does not promise' },
    {
      sentence: 'models never see them',
      test: 'test/cli/source.system.test.ts: add, search, install, update and remove',
    },
    {
      sentence: 'a project file cannot set it',
      test: 'test/runtime/config/config-merge.test.ts: whatever a project says, nothing gets wider than the user left it',
    },
    {
      sentence: '`install --frozen` restores them',
      test: 'test/cli/agents.system.test.ts: puts 18 skills in for Claude Code; uninstall --all leaves nothing, and restore brings all back',
    },
    {
      sentence: 'In a clone without `.skillwright`',
      because: 'it says what is not promised',
    },
    {
      sentence: 'If one was edited, it refuses (`lock/drift`)',
      test: 'test/packs/install.system.test.ts: verify names each changed, missing and added file',
    },
    {
      sentence: 'An unchanged source changes nothing without `--force`',
      test: 'test/packs/install.system.test.ts: the same again changes nothing and asks nobody; other bytes are refused without a word for it',
    },
    { sentence: 'are never merged by lines', test: `${MERGE}: never merges %s by lines` },
    {
      sentence: 'every version that the lock or a backup refers to',
      test: `${MERGE}: keeps one original per version that the lock or a backup refers to`,
    },
    {
      sentence: 'It refuses to replace a skill with other bytes in the lock',
      test: 'test/packs/root/open-root.system.test.ts: refuses a skill that is installed, and touches nothing',
    },
    {
      sentence: 'a folder that `install` did not make',
      test: 'test/packs/root/open-root.system.test.ts: refuses folders, files and links that it did not make, and keeps them where told to go on',
    },
    {
      sentence: 'A damaged lock is refused, a merge conflict with its line',
      test: 'test/packs/lock/lock-file.test.ts: with the mark ${mark} names its line',
    },
    {
      sentence: 'refuses to start on changed skills',
      because: 'it describes an example, which examples.system.test.ts runs',
    },
  ],
  'docs/policy.md': [
    {
      sentence: 'only reading is allowed',
      test: 'test/runtime/closed-places.system.test.ts: leaves reading and nothing else, whoever says yes: %s',
    },
    {
      sentence: 'an approval lasts at most for the run',
      test: `${APPROVALS}: for the skill is not offered for what is dangerous, nor for what no sandbox holds`,
    },
    {
      sentence: 'Files of a loaded skill are never written',
      test: `${TAKE}: nothing is written into a skill or its lock file, wherever it is and whatever agent keeps it`,
    },
  ],
  'docs/approval.md': [
    {
      sentence: 'the first yes shows the details and must be repeated',
      test: 'test/cli/ask.test.ts: the first yes to what the question cannot show is answered with the details and the reason',
    },
    {
      sentence: 'so it cannot imitate the question',
      test: 'test/cli/approval-summary.test.ts: names and texts of a skill make no line without a frame, no terminal code and no other beginning',
    },
    {
      sentence: 'never high risk, never a capability, never without isolation',
      test: `${APPROVALS}: --yes: what is of medium risk and in a sandbox; nothing else`,
    },
    {
      sentence: 'If either cannot be written, was edited, removed or replaced',
      test: 'test/policy/approval/used-approvals.test.ts: is not done where the use cannot be written, which is said',
    },
  ],
  'docs/secrets.md': [
    {
      sentence: 'that alone gives nothing',
      test: `${SECRETS}: what it declares and the configuration gives, and nothing else`,
    },
    {
      sentence: 'for its owner only (`chmod 600`), at most 64 KiB',
      test: `${SECRETS}: where the file is not for its owner alone`,
    },
    {
      sentence: 'a program without a shell, exit code 0 within 10 seconds, at most 64 KiB',
      test: `${SECRETS}: gives its output without the last line end, and sees nothing but where it is`,
    },
    {
      sentence: 'never that of a project',
      test: 'test/runtime/config/config-merge.test.ts: whatever a project says, nothing gets wider than the user left it',
    },
    {
      sentence: 'One that cannot be fetched is `secret/missing`',
      test: `${SECRETS}: and all missing secrets are reported at once`,
    },
    {
      sentence: '**Values that cannot be redacted**',
      test: `${SECRETS}: where the variable is not there, empty, or cannot be kept out of texts`,
    },
  ],
  'docs/runs.md': [
    {
      sentence: 'what cannot be recorded is not done',
      test: 'test/runtime/run-record.system.test.ts: ends the run: what cannot be recorded is not done, and nothing is done afterwards',
    },
    {
      sentence: 'A run killed before its first event did nothing',
      test: 'test/journal/prune.test.ts: removes what was killed before its first event, whatever else it keeps, and not what was emptied later',
    },
    {
      sentence: 'If a line cannot be written, the run ends with `record/failed`',
      test: 'test/runtime/run-record.system.test.ts: ends the run: what cannot be recorded is not done, and nothing is done afterwards',
    },
    {
      sentence: 'a deleted or replaced `chain.jsonl`',
      test: `${RUNS}: a chain that was written anew as a whole lacks the codes of the user`,
    },
    { sentence: 'nothing is remembered', because: 'it says what is not promised without a home folder' },
    {
      sentence: 'If the memory cannot be written, every run warns',
      test: 'test/cli/runs.test.ts: a home folder that cannot remember a run is named by each command that records one',
    },
    {
      sentence: 'they are not kept, and the command that repeats the run',
      test: `${OUTPUTS}: without a record, prints the command that repeats it with --out`,
    },
    {
      sentence: 'copies all of it or nothing',
      test: `${TAKE}: if one file cannot be written, no file and no folder is left behind`,
    },
    {
      sentence: 'names each with the reason, and with `--out` copies the rest',
      test: `${OUTPUTS}: --out copies what it can, and the error names what it cannot`,
    },
    {
      sentence: 'restores every file that still has the content the run left',
      test: 'test/runtime/undo-property.test.ts: of random changes takes back what the run did, and leaves alone what a person did',
    },
    {
      sentence: 'no file is changed (exit code 1)',
      test: `${UNDO}: a forged record writes neither outside nor into files that tools never write`,
    },
    {
      sentence: 'or the executor is missing; nothing was done',
      test: 'test/cli/replay.system.test.ts: a script is run again with what it ran with; a skill that changed makes it impossible, exit 4',
    },
    {
      sentence: 'Files are written only with `--writes`',
      test: 'test/cli/replay.system.test.ts: files are written again only with --writes, and then by the answer that the record holds',
    },
    {
      sentence: 'a running run is never removed',
      test: 'test/journal/prune.test.ts: keeps the newest, those that run, and those it cannot judge while they are young',
    },
  ],
  'docs/executors.md': [
    {
      sentence: 'On Linux nothing has to be installed',
      because: 'it names no limit; .ci/bare runs the tests without bubblewrap',
    },
    {
      sentence: 'never root, no capabilities',
      test: 'src/sandbox/conformance/isolation-cases.ts: a program is not root and has no capability',
    },
    {
      sentence: "is staged as its folder's name with eight digits",
      test: 'test/runtime/execution/skill-folders.system.test.ts: is another one, and the result says so, where the name cannot be a folder',
    },
    {
      sentence: 'nothing is pulled',
      test: 'test/sandbox/container.system.test.ts: an image is never fetched: the refusal says how to',
    },
    {
      sentence: 'with an environment made from nothing',
      test: 'test/sandbox/process/program-environment.system.test.ts: a program sees where it is, and nothing else',
    },
    {
      sentence: 'but never links and folders named',
      test: `${OUTPUTS}: --out copies what it can, and the error names what it cannot`,
    },
    {
      sentence: '`--out` never writes into `.git`',
      test: `${TAKE}: nothing is written into .git, the configuration or a skill, not even with a yes`,
    },
    {
      sentence: 'follows no link below `DIR`',
      test: `${TAKE}: a link in the target folder is not followed, and nothing else is written either`,
    },
    {
      sentence: 'Never mounted',
      test: 'test/sandbox/mounts/check-mount.test.ts: the state of skillwright',
    },
    {
      sentence: 'in a writable folder with one nothing is created or deleted directly',
      because: 'SECURITY.md promises it per executor',
    },
    { sentence: '`local` protects nothing', because: 'it says what is not promised' },
    {
      sentence: 'names are resolved outside, so nothing leaks by DNS',
      test: 'test/platform/net/allow-proxy.system.test.ts: a host without a grant is refused with the list of grants, and never resolved',
    },
    {
      sentence: 'Buffers of pipes cannot be enlarged',
      test: 'test/sandbox/user-resources.system.test.ts: a program in %s cannot enlarge a pipe',
    },
    { sentence: 'Nothing else bounds them', because: 'it says what is not promised' },
    {
      sentence: 'The kernel bounds one file and refuses to reserve space',
      test: 'test/sandbox/bubblewrap.system.test.ts: a file beyond its size ends a program for the disk',
    },
  ],
};
