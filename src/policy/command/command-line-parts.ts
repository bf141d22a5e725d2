import type { CommandLine, OfType } from '#core';

export type SimpleCommand = OfType<CommandLine, 'commands'>['commands'][number];
export type CommandWord = SimpleCommand['words'][number];
export type Unclear = OfType<CommandLine, 'unclear'>;
