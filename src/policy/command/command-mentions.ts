/** Commands in the words of programs that run them elsewhere, for rules that deny or ask. */
import type { Words } from './command-builtins.ts';
import type { CommandLine, CommandWord, SimpleCommand } from './command-words.ts';

/** Programs that run a command elsewhere or in an environment of their own, with the words before it. */
const RUNNERS: ReadonlyMap<string, RegExp> = new Map(
  Object.entries({
    'ssh mosh autossh rsh npx pnpx bunx uvx pipx tsx nix-shell direnv mise asdf dotenv cross-env pssh pdsh ansible':
      /^/,
    'docker podman nerdctl kubectl oc docker-compose lxc incus multipass flatpak toolbox distrobox':
      /^(?:exec|run|debug|enter)$/,
    'vagrant adb gcloud fly heroku wsl limactl': /^(?:ssh|shell|run|-c|-C|-e|--command|--exec|--)$/,
    'op doppler infisical aws-vault chamber': /^(?:run|exec|--)$/,
    'uv poetry pipenv pdm hatch rye conda mamba micromamba devbox': /^run$/,
    'npm pnpm yarn bun bundle corepack': /^(?:exec|x|dlx)$/,
    git: /^(?:foreach|run|-x|--exec)$/,
  }).flatMap(([names, after]) => names.split(' ').map((name) => [name, after] as const)),
);

/** Rules that deny look at everything such a program may run. */
export function mentioned(
  program: string,
  words: Words,
  readMentioned: (text: string) => CommandLine,
): readonly SimpleCommand[] {
  const after = RUNNERS.get(program);
  const start = after === undefined ? -1 : words.findIndex(({ text }, index) => index > 0 && after.test(text));
  if (program === 'git' && words.some(isAlias))
    return [{ ...mention(words), hides: 'an alias of git may be any command' }];
  if (start === -1 || words.length > 200) return [];
  return words.slice(start).flatMap((word, index): readonly SimpleCommand[] => {
    if (/\s/.test(word.text) && word.kind === 'fixed') {
      return readMentioned(word.text).commands;
    }
    const rest = mention(words.slice(start + index));
    const isLine = word.isSplit || (index > 0 && after?.source === '^');
    const isUnknown = isLine && word.kind === 'computed' && word.pieces.every((piece) => piece === '');
    return [isUnknown ? { ...rest, hides: `${program} runs a command that is computed` } : rest];
  });
}

function mention(words: Words): SimpleCommand {
  return { words, role: 'program', inner: [], mentions: [], isMoved: false };
}

/** `git -c alias.p=push p` is `git push`. */
function isAlias({ text, kind }: CommandWord, index: number, words: Words): boolean {
  const before = words[index - 1]?.text;
  if (before !== '-c' && before !== '--config-env') return /^--config-env=(?:alias|include(?:if)?)\./i.test(text);
  return kind !== 'fixed' || /^(?:alias|include(?:if)?)\./i.test(text);
}
