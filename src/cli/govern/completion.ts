import { completionScript, SHELLS } from './completion-script.ts';
import type { CompletedCommand } from './completion-script.ts';
import { GLOBAL_FLAGS, defineCommand, toggle } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { openRuntime } from '../open-runtime.ts';

export const command = defineCommand({
  usage: 'completion bash|zsh|fish',
  details: 'Prints a script that completes commands, flags, their values and skill names.',
  flags: {
    names: toggle('print the names of all skills, one per line; the scripts call this'),
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
    const shell = SHELLS.find((known) => known === positionals[0]);
    if (shell === undefined)
      throw new UsageError('missing or unknown shell', `usage: skillwright completion ${SHELLS.join('|')}`);
    const commands = await Promise.all(
      all.map(async ({ name, aliases, summary, load }): Promise<CompletedCommand> => {
        const loaded = await load();
        return {
          name,
          aliases,
          summary,
          flags: { ...loaded.command.flags, ...GLOBAL_FLAGS },
          takesSkill: /NAME/.test(loaded.command.usage) && name !== 'new',
        };
      }),
    );
    terminal.out(completionScript(shell, commands));
    return EXIT.done;
  },
});
