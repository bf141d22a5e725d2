/** Parts of a git command that run other programs, load configuration, or write outside of what a rule names. */

import type { CommandWord } from '../../core/command.ts';
import { isOptionOf, isSubcommandOf, namesIn, sortOptions } from './command-options.ts';
import type { Spelling } from './command-options.ts';

/** Safe options before the subcommand; all others are hazards. */
const SAFE_GLOBALS: ReadonlySet<string> = new Set(
  namesIn(
    '--no-pager -P --version -v --help -h --no-optional-locks --no-replace-objects --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --no-advice --no-lazy-fetch --html-path --man-path --info-path',
  ),
);
const VALUED_GLOBALS: ReadonlySet<string> = new Set(
  namesIn('-c -C --git-dir --work-tree --namespace --config-env --super-prefix --attr-source --list-cmds'),
);

/** Hazards per subcommand: options as in the table, and words after the subcommand. */
const TALKS = '--upload-pack --receive-pack --exec';
const DIFFS = '--output --ext-diff';

const SUBCOMMANDS: ReadonlyMap<string, Spelling> = new Map(
  Object.entries({
    'add branch tag status restore rm mv stash switch checkout reset clean describe rev-parse rev-list ls-files ls-tree cat-file merge cherry-pick revert notes reflog remote worktree shortlog show-ref for-each-ref symbolic-ref merge-base name-rev count-objects fsck gc prune repack init check-ignore check-attr check-ref-format whatchanged diff-index diff-files diff-tree apply am range-diff cherry hash-object write-tree read-tree update-ref update-index commit-tree mktree mktag var verify-commit verify-tag pack-refs version sparse-checkout lfs column stripspace show-branch unpack-objects index-pack pack-objects bundle merge-tree merge-file patch-id request-pull rerere': `${DIFFS} --template --unsafe-paths --edit-description`,
    'diff log show blame annotate commit': DIFFS,
    clone: `-u -c --config --template --upload-pack --recurse-submodules --recursive --separate-git-dir`,
    'fetch pull ls-remote fetch-pack': `-u ${TALKS}`,
    'push send-pack': TALKS,
    grep: '-O --open-files-in-pager',
    rebase: '-x -i --exec --interactive',
    archive: '-o --remote --exec --output',
    'format-patch': `-o --output-directory ${DIFFS}`,
    submodule: 'foreach update add set-url',
    bisect: 'run visualize view',
    help: '-w -m -i --web --man --info',
  }).flatMap(([names, options]) => namesIn(names).map((name) => [name, sortOptions(options)] as const)),
);

const READS_CONFIG = /^(?:--get.*|--list|-l|get|list|--show-.*|--name-only|--local|--global|--system|--null|-z)$/;
const ASKS_CONFIG = /^(?:--get(?:-all|-regexp|-urlmatch|-color|-colorbool)?|--list|-l|get|list)$/;
/** `ext::sh -c ..` runs git-remote-ext: the scheme before `::` is a helper program. */
const HELPER = /(?:^|=)[a-z0-9+.-]+::/i;

/** Another repository has its own configuration, but the command is still git. */
const OTHER_FOLDER = '-C';

export interface GitHazard {
  readonly at: number;
  /** Whether it may run a program that the line does not show. */
  readonly hides: boolean;
}

/** Index of the subcommand; undefined if there is none or it is uncertain. */
export function gitSubcommandAt(words: readonly CommandWord[]): number | undefined {
  let at = 1;
  for (let word = words[at]; word !== undefined; word = words[at]) {
    if (!word.text.startsWith('-')) return word.glob === 'none' ? at : undefined;
    at += VALUED_GLOBALS.has(word.text) ? 2 : 1;
  }
  return undefined;
}

export function gitHazards(words: readonly CommandWord[]): readonly GitHazard[] {
  const at = gitSubcommandAt(words);
  const globals = words.slice(1, at ?? words.length).flatMap(({ text, glob }, index): GitHazard[] => {
    const isSafe = glob === 'none' && (SAFE_GLOBALS.has(text) || words[index]?.text === OTHER_FOLDER);
    return isSafe ? [] : [{ at: index + 1, hides: text !== OTHER_FOLDER }];
  });
  return at === undefined ? globals : [...globals, ...subcommandHazards(words, at)];
}

function subcommandHazards(words: readonly CommandWord[], at: number): readonly GitHazard[] {
  const name = words[at]?.text ?? '';
  const rest = words.slice(at + 1);
  if (name === 'config') {
    const isReading = rest.some(({ text }) => ASKS_CONFIG.test(text)) && rest.every(isConfigReading);
    return isReading ? [] : [{ at, hides: true }];
  }
  const spelling = SUBCOMMANDS.get(name);
  // An alias, or a program on the path named `git-…`.
  if (spelling === undefined) return [{ at, hides: true }];
  return rest.flatMap((word, index): GitHazard[] => {
    const isHazard = isOptionOf(spelling, word) || isSubcommandOf(spelling, word) || HELPER.test(word.text);
    return isHazard ? [{ at: at + 1 + index, hides: !/^--?o(?:u|$)/.test(word.text) }] : [];
  });
}

function isConfigReading({ text, glob }: CommandWord): boolean {
  return glob === 'none' && (!text.startsWith('-') || READS_CONFIG.test(text));
}
