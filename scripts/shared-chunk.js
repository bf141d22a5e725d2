// What every command loads. build-command.js injects this file into each of them, so that esbuild keeps it in one chunk instead of fifty.
// oxlint-disable-next-line import/no-unassigned-import -- imported only to be bundled
import '../src/cli/start.ts';
