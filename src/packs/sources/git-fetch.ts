/** One commit of a repository, by branch, tag, or name of the commit. */
import { PackRefused, packRefusal } from '../problems.ts';
import { quoted } from '../../core/text/text.ts';
import { gitFailed, packBytes, runGit, shownErrors } from './git-program.ts';
import type { OwnRepository } from './git-program.ts';

/** Where the fetched commit is kept in our repository. */
const OURS = 'refs/skillwright/brought';
const FULL_COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const SHORT_COMMIT = /^[0-9a-f]{4,63}$/;
/** What servers and transports say when one commit cannot be had by itself. All in English: the language is set. */
const NO_SHALLOW = /does not support shallow|dumb http/i;
const NO_SUCH_REF =
  /couldn't find remote ref|not our ref|unadvertised object|no such ref|Server does not allow request/i;
const NO_REPOSITORY = /repository .* not found|does not appear to be a git repository|Repository not found|404/i;

/** Fetches and gives the full name of the commit. `wanted`: the default branch where nothing is said. Throws `PackRefused`. */
export async function fetchCommit(own: OwnRepository, wanted: string | undefined): Promise<string> {
  const failure = await tryFetch(own, [`${wanted ?? 'HEAD'}:${OURS}`]);
  if (failure === undefined) return await commitOf(own, OURS, wanted);
  if (!NO_SUCH_REF.test(failure)) throw ofFailure(failure);
  if (wanted === undefined)
    throw new PackRefused(packRefusal('source/revision', 'the repository is empty: it has no default branch'));
  if (!SHORT_COMMIT.test(wanted) && !FULL_COMMIT.test(wanted)) throw noRevision(wanted);
  // A commit that no server gives by itself is among all of them, or nowhere.
  const all = await tryFetch(
    own,
    ['+refs/heads/*:refs/skillwright/heads/*', '+refs/tags/*:refs/skillwright/tags/*'],
    false,
  );
  if (all !== undefined) throw ofFailure(all);
  return await commitOf(own, wanted, wanted);
}

/** What git complained of; nothing where it worked. */
async function tryFetch(own: OwnRepository, refs: readonly string[], isShallow = true): Promise<string | undefined> {
  const { maxArchiveBytes } = own.bringing.limits;
  const args = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', '--force'];
  const result = await runGit(own, [...args, ...(isShallow ? ['--depth=1'] : []), '--', own.url, ...refs], {
    isTooMuch: () => packBytes(own) > maxArchiveBytes,
  });
  if (result.isTooMuch)
    throw new PackRefused(
      packRefusal('archive/too-large', `the repository has more than ${String(maxArchiveBytes)} bytes`),
    );
  if (result.exitCode === 0) return undefined;
  if (isShallow && NO_SHALLOW.test(result.errors)) return await tryFetch(own, refs, false);
  return result.errors;
}

async function commitOf(own: OwnRepository, name: string, wanted: string | undefined): Promise<string> {
  const result = await runGit(own, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`]);
  const commit = result.output.toString('latin1').trim();
  if (result.exitCode === 0 && FULL_COMMIT.test(commit)) return commit;
  if (result.exitCode !== 0) throw noRevision(wanted ?? 'HEAD');
  throw gitFailed(result);
}

function noRevision(wanted: string): PackRefused {
  return new PackRefused(
    packRefusal('source/revision', `the repository has no branch, tag or commit ${quoted(wanted)}`),
  );
}

function ofFailure(errors: string): PackRefused {
  const code = NO_REPOSITORY.test(errors) ? 'source/missing' : 'source/failed';
  return new PackRefused(packRefusal(code, `git: ${shownErrors(errors)}`));
}
