import { GLOBAL_FLAGS, defineCommand, option, shownFlags, toggle, type Flag, type Flags } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import { listScripts } from '../agent/list-scripts.ts';
import { openRuntime } from '../open-runtime.ts';

export const command = defineCommand({
  usage: 'completion bash|zsh|fish',
  details: 'Prints a script that completes commands, flags, their values and skill names.',
  flags: {
    names: toggle('print the names of all skills, one per line; the scripts call this'),
    scripts: option('SKILL', 'print the scripts of a skill, one per line; the scripts call this'),
  },
  examples: [
    ['source <(skillwright completion bash)', 'add to ~/.bashrc'],
    ['source <(skillwright completion zsh)', 'add to ~/.zshrc, after compinit'],
    ['skillwright completion fish > ~/.config/fish/completions/skillwright.fish', 'install for fish'],
  ],
  positionals: [0, 1],
  async run(invocation) {
    const { flags, positionals, terminal, commands: all } = invocation;
    if (flags.names === true) {
      const { index } = await openRuntime(invocation);
      // Names with shell syntax are not offered.
      for (const { name } of index.skills) if (/^[\p{L}\p{N}_-]+$/u.test(name)) terminal.out(name);
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
          takesSkill: name === 'exec' || (/NAME/.test(loaded.command.usage) && name !== 'new'),
        };
      }),
    );
    terminal.out(completionScript(shell, commands));
    return EXIT.done;
  },
});

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

interface CompletedCommand {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly summary: string;
  readonly flags: Flags;
  readonly takesSkill: boolean;
}

/** The completion script of a shell. It gets skill names from `completion --names` when the user completes one. */
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

/** The value is the name of a skill. */
const takesSkillName = (flag: string): boolean => flag === 'skill' || flag === 'scripts';
const listNames = (command: CompletedCommand): readonly string[] => [command.name, ...command.aliases];
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const flagNames = (flags: Flags): string =>
  shownFlags(flags)
    .map(([name]) => `--${name}`)
    .join(' ');

function bash(commands: readonly CompletedCommand[]): string {
  const values = commands.flatMap((command) =>
    shownFlags(command.flags)
      .filter(([name, { path, choices }]) => path === true || choices !== undefined || takesSkillName(name))
      .map(([name, { choices }]) => {
        const pattern = listNames(command)
          .map((word) => `${word}:--${name}`)
          .join('|');
        const words = takesSkillName(name)
          ? '-W "$(skillwright completion --names 2>/dev/null)"'
          : choices === undefined
            ? '-f'
            : `-W ${quote(choices.join(' '))}`;
        return `    ${pattern}) COMPREPLY=($(compgen ${words} -- "$word")); return ;;`;
      }),
  );
  const skillCommands = commands.filter(({ takesSkill }) => takesSkill).flatMap(listNames);
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
  case $command in
    ${skillCommands.join('|')}) COMPREPLY=($(compgen -W "$(skillwright completion --names 2>/dev/null)" -- "$word") $(compgen -d -- "$word")) ;;
    completion) COMPREPLY=($(compgen -W ${quote(SHELLS.join(' '))} -- "$word")) ;;
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
        .join(' ')} ${quote(zshWords(command))} ;;`,
  )
  .join('\n')}
  esac
}
_skillwright_names() { compadd -- \${(f)"$(skillwright completion --names 2>/dev/null)"}; _files -/ }
compdef _skillwright skillwright`;
}

function zshFlag(name: string, flag: Flag): string {
  const about = flag.about.replaceAll(/[[\]:]/g, ' ');
  const repeat = flag.multiple === true ? '*' : '';
  if (flag.type === 'boolean') return `--${name}[${about}]`;
  const action = takesSkillName(name)
    ? '_skillwright_names'
    : flag.path === true
      ? '_files'
      : flag.choices === undefined
        ? ' '
        : `(${flag.choices.join(' ')})`;
  return `${repeat}--${name}=[${about}]:${flag.value ?? 'value'}:${action}`;
}

function zshWords({ name, takesSkill }: CompletedCommand): string {
  if (name === 'completion') return `1:shell:(${SHELLS.join(' ')})`;
  return takesSkill ? '*:skill:_skillwright_names' : '*: :';
}

function fish(commands: readonly CompletedCommand[]): string {
  const lines = ['# fish completion for skillwright', 'complete -c skillwright -f'];
  for (const command of commands) {
    lines.push(
      `complete -c skillwright -n __fish_use_subcommand -a ${quote(command.name)} -d ${quote(command.summary)}`,
    );
    const when = quote(`__fish_seen_subcommand_from ${listNames(command).join(' ')}`);
    for (const [name, flag] of shownFlags(command.flags)) {
      const value =
        flag.type === 'boolean'
          ? ''
          : flag.path === true
            ? ' -r -F'
            : takesSkillName(name)
              ? " -x -a '(skillwright completion --names 2>/dev/null)'"
              : flag.choices === undefined
                ? ' -x'
                : ` -x -a ${quote(flag.choices.join(' '))}`;
      const short = flag.short === undefined ? '' : ` -s ${flag.short}`;
      lines.push(`complete -c skillwright -n ${when} -l ${name}${short}${value} -d ${quote(flag.about)}`);
    }
    if (command.takesSkill)
      lines.push(`complete -c skillwright -n ${when} -a '(skillwright completion --names 2>/dev/null)'`);
    if (command.name === 'completion') lines.push(`complete -c skillwright -n ${when} -a ${quote(SHELLS.join(' '))}`);
  }
  return lines.join('\n');
}
