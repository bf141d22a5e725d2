/**
 * Attempts to run or reach something else under a list of allowed commands, and to run a denied one unseen. `evil` stands for any
 * program that nobody allowed; it leaves a file `reached`, and so do the attempts that write. An attempt with `proof` is really run, to
 * show that it would have worked; the others need a network, a terminal or a tool that is seldom there.
 */

import type { Attempt } from './command-bypass-case.ts';
import { PROGRAM_BYPASSES } from './command-bypasses-programs.ts';
import { SHELL_BYPASSES } from './command-bypasses-shell.ts';

export { DENY_BYPASSES } from './command-bypasses-denied.ts';

export const ALLOW_BYPASSES: readonly Attempt[] = [...SHELL_BYPASSES, ...PROGRAM_BYPASSES];
