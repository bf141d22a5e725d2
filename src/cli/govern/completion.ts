import { listRuns } from '#journal';
import { openAgentFolders } from '#packs';
import {
  GLOBAL_FLAGS,
  NAME_KINDS,
  defineCommand,
  option,
  shownFlags,
  type Flag,
  type Flags,
  type GlobalInvocation,
  type NameKind,
} from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import { listScripts } from '../agent/list-scripts.ts';
import { openRuntime } from '../open-runtime.ts';
import { resolveRunsDirectory } from '../runs/runs-directory.ts';

export const command = defineCommand({
  usage: 'completion bash|zsh|fish',
  details:
    'Prints a script that completes commands, flags, their values and the names of skills, scripts, sources, agents and runs.',
  flags: {
    names: option('KIND', 'print all names of this kind, one per line; the scripts call this (default: skills)', {
      choices: NAME_KINDS,
      bare: 'skills',
    }),
    scripts: option('SKILL', 'print the scripts of a skill, one per line; the scripts call this', {
      offers: 'skills',
    }),
  },
  examples: [
    ['source <(skillwright completion bash)', 'add to ~/.bashrc'],
    ['source <(skillwright completion zsh)', 'add to ~/.zshrc, after compinit'],
    ['skillwright completion fish > ~/.config/fish/completions/skillwright.fish', 'install for fish'],
  ],
  positionals: [0, 1],
  async run(invocation) {
    const { flags, positionals, terminal, commands: all } = invocation;
    if (flags.names !== undefined) {
      // Names with shell syntax are not offered.
      for (const name of await NAMES[flags.names](invocation)) if (/^[\p{L}\p{N}_.-]+$/u.test(name)) terminal.out(name);
      return EXIT.done;
    }
    if (flags.scripts !== undefined) {
      const runtime = await openRuntime(invocation);
      for (const { path } of listScripts(runtime.find(flags.scripts).dir))
        if (/^[\w./-]+$/.test(path)) terminal.out(path);
      return EXIT.done;
    }
    const shell = SHELLS.find((known) => known === positionals[0]);
    if (shell === undefined)
      throw usageError('missing or unknown shell', `usage: skillwright completion ${SHELLS.join('|')}`);
    const commands = await Promise.all(
      all.map(async ({ name, aliases, summary, load }): Promise<CompletedCommand> => {
        const loaded = await load();
        return {
          name,
          aliases,
          summary,
          flags: { ...loaded.command.flags, ...GLOBAL_FLAGS },
          words: listWords(loaded.command.usage),
          takes: listTaken(name, loaded.command.usage),
        };
      }),
    );
    terminal.out(completionScript(shell, commands));
    return EXIT.done;
  },
});

const NAMES: Readonly<Record<NameKind, (invocation: GlobalInvocation) => Promise<readonly string[]>>> = {
  skills: async (invocation) => (await openRuntime(invocation)).index.skills.map(({ name }) => name),
  sources: async (invocation) => [...new Set((await openRuntime(invocation)).index.skills.map(({ source }) => source))],
  agents: async ({ surroundings }) => ['all', ...openAgentFolders(surroundings).known],
  runs: async (invocation) => ['last', ...listRuns(await resolveRunsDirectory(invocation)).map(({ id }) => id)],
};

/** The words that a usage such as `runs list|show [ID]` or `keys [list] | keys new NAME` allows after the command. */
function listWords(usage: string): readonly string[] {
  const first = usage.split(' | ').flatMap((line) => (line.split(' ')[1] ?? '').split('|'));
  return first.map((word) => word.replaceAll(/[[\]]/g, '')).filter((word) => /^[a-z]+$/.test(word));
}

/** What names a command takes as its first words, or after a subcommand. */
function listTaken(name: string, usage: string): NameKind | undefined {
  if (name === 'runs') return 'runs';
  return name === 'exec' || (name !== 'new' && /^\w+ \[?(?:[A-Z]+\|)?NAME/.test(usage)) ? 'skills' : undefined;
}

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

interface CompletedCommand {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly summary: string;
  readonly flags: Flags;
  /** Its subcommands. */
  readonly words: readonly string[];
  readonly takes: NameKind | undefined;
}

/** The completion script of a shell. It gets names from `completion --names` when the user completes one. */
function completionScript(shell: Shell, commands: readonly CompletedCommand[]): string {
  switch (shell) {
    case 'bash':
      return bash(commands);
    case 'zsh':
      return zsh(commands);
    case 'fish':
      return fish(commands);
  }
}

/** Shell text that lists the names. */
const nameQuery = (kind: NameKind): string => `$(skillwright completion --names ${kind} 2>/dev/null)`;
const listNames = (command: CompletedCommand): readonly string[] => [command.name, ...command.aliases];
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const flagNames = (flags: Flags): string =>
  shownFlags(flags)
    .map(([name]) => `--${name}`)
    .join(' ');

/** The words that a flag offers, as shell text between double quotes. Undefined: none. */
function offeredBy({ choices, offers }: Flag): string | undefined {
  const known = choices ?? offers;
  if (known === undefined) return undefined;
  return typeof known === 'string' ? nameQuery(known) : known.join(' ');
}

function bash(commands: readonly CompletedCommand[]): string {
  const values = commands.flatMap((command) =>
    shownFlags(command.flags)
      .filter(([, flag]) => flag.path === true || offeredBy(flag) !== undefined)
      .map(([name, flag]) => {
        const pattern = listNames(command)
          .map((word) => `${word}:--${name}`)
          .join('|');
        const offered = offeredBy(flag);
        return `    ${pattern}) COMPREPLY=($(compgen ${offered === undefined ? '-f' : `-W "${offered}"`} -- "$word")); return ;;`;
      }),
  );
  const taking = commands.filter(({ takes, words }) => takes !== undefined && words.length === 0);
  const withWords = commands.filter(({ words }) => words.length > 0);
  return `# bash completion for skillwright
_skillwright() {
  local word=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case \${COMP_WORDS[i]} in
      -*) ;;
      *) command=\${COMP_WORDS[i]}; break ;;
    esac
  done
  case $command:$previous in
${values.join('\n')}
  esac
  if [[ -z $command ]]; then
    COMPREPLY=($(compgen -W ${quote(commands.flatMap(listNames).join(' '))} -- "$word"))
    return
  fi
  if [[ $word == -* ]]; then
    case $command in
${commands.map((command) => `      ${listNames(command).join('|')}) COMPREPLY=($(compgen -W ${quote(flagNames(command.flags))} -- "$word")) ;;`).join('\n')}
    esac
    return
  fi
  if [[ $command == exec && $previous != exec && $previous != -* ]]; then
    COMPREPLY=($(compgen -W "$(skillwright completion --scripts "$previous" 2>/dev/null)" -- "$word") $(compgen -f -- "$word"))
    return
  fi
  case $command:$previous in
${withWords
  .map(
    (command) =>
      `    ${listNames(command)
        .map((name) => `${name}:${name}`)
        .join('|')}) COMPREPLY=($(compgen -W ${quote(command.words.join(' '))} -- "$word")) ;;`,
  )
  .join('\n')}
    runs:*) COMPREPLY=($(compgen -W "${nameQuery('runs')}" -- "$word")) ;;
    ${taking
      .flatMap(listNames)
      .map((name) => `${name}:*`)
      .join('|')}) COMPREPLY=($(compgen -W "${nameQuery('skills')}" -- "$word") $(compgen -d -- "$word")) ;;
  esac
}
complete -o filenames -F _skillwright skillwright`;
}

function zsh(commands: readonly CompletedCommand[]): string {
  const describe = ({ name, summary }: CompletedCommand): string => quote(`${name}:${summary.replaceAll(':', '\\:')}`);
  return `#compdef skillwright
_skillwright() {
  local -a commands
  commands=(${commands.map(describe).join(' ')})
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  case $words[2] in
${commands
  .map(
    (command) => `    ${listNames(command).join('|')})
      _arguments ${shownFlags(command.flags)
        .map(([name, flag]) => quote(zshFlag(name, flag)))
        .join(' ')} ${zshWords(command).map(quote).join(' ')} ;;`,
  )
  .join('\n')}
  esac
}
${NAME_KINDS.map((kind) => `_skillwright_${kind}() { compadd -- \${(f)"${nameQuery(kind)}"}${kind === 'skills' ? '; _files -/' : ''} }`).join('\n')}
compdef _skillwright skillwright`;
}

function zshFlag(name: string, flag: Flag): string {
  const about = flag.about.replaceAll(/[[\]:]/g, ' ');
  const repeat = flag.multiple === true ? '*' : '';
  if (flag.type === 'boolean') return `--${name}[${about}]`;
  return `${repeat}--${name}=[${about}]:${flag.value ?? 'value'}:${zshAction(flag)}`;
}

function zshAction({ path, choices, offers }: Flag): string {
  if (path === true) return '_files';
  const known = choices ?? offers;
  if (known === undefined) return ' ';
  return typeof known === 'string' ? `_skillwright_${known}` : `(${known.join(' ')})`;
}

function zshWords({ words, takes }: CompletedCommand): readonly string[] {
  const names = takes === undefined ? '*: :' : `*:name:_skillwright_${takes}`;
  return words.length === 0 ? [names] : [`1:subcommand:(${words.join(' ')})`, names];
}

function fish(commands: readonly CompletedCommand[]): string {
  const lines = ['# fish completion for skillwright', 'complete -c skillwright -f'];
  for (const command of commands) {
    lines.push(
      `complete -c skillwright -n __fish_use_subcommand -a ${quote(command.name)} -d ${quote(command.summary)}`,
    );
    const when = quote(`__fish_seen_subcommand_from ${listNames(command).join(' ')}`);
    for (const [name, flag] of shownFlags(command.flags)) {
      const short = flag.short === undefined ? '' : ` -s ${flag.short}`;
      lines.push(`complete -c skillwright -n ${when} -l ${name}${short}${fishValue(flag)} -d ${quote(flag.about)}`);
    }
    if (command.words.length > 0) lines.push(`complete -c skillwright -n ${when} -a ${quote(command.words.join(' '))}`);
    if (command.takes !== undefined)
      lines.push(
        `complete -c skillwright -n ${when} -a '(skillwright completion --names ${command.takes} 2>/dev/null)'`,
      );
  }
  return lines.join('\n');
}

function fishValue({ type, path, choices, offers }: Flag): string {
  if (type === 'boolean') return '';
  if (path === true) return ' -r -F';
  const known = choices ?? offers;
  if (known === undefined) return ' -x';
  return ` -x -a ${quote(typeof known === 'string' ? `(skillwright completion --names ${known} 2>/dev/null)` : known.join(' '))}`;
}
