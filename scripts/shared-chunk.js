// What most commands load. build-command.js injects this file into every command, so that esbuild keeps it in one chunk instead of fifty.
/* oxlint-disable import/no-unassigned-import -- imported only to be bundled */
import '../src/cli/start.ts';
import '../src/cli/skills/list.ts';
import '../src/runtime/skill-trust.ts';
