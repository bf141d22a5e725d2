import type { SkillIndex } from '../../registry/index-skills.ts';
import type { SkillEntry } from '../../core/skill.ts';
import { printable } from '../../core/text/text.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { defineCommand } from '../command.ts';
import type { Invocation } from '../command.ts';
import { EXIT } from '../exit.ts';
import { jsonText } from '../json.ts';
import { openRuntime } from '../open-runtime.ts';

const flags = {
  deep: { type: 'boolean', about: 'also index the bodies for search --deep' },
  watch: { type: 'boolean', short: 'w', about: 'stay, and say what changes (for people who write skills)' },
} as const;

export const command = defineCommand({
  usage: 'refresh [--deep] [--watch]',
  details:
    'Looks again at every root, brings the cache up to date and reports what was done. No command needs it: each looks for itself.',
  flags,
  examples: [
    ['skillwright refresh', 'what is there now'],
    ['skillwright refresh --deep', 'make the next search --deep fast'],
    ['skillwright refresh --watch', 'follow your own edits'],
  ],
  positionals: [0, 0],
  async run(invocation) {
    const { flags: given, terminal } = invocation;
    const runtime = await openRuntime(invocation);
    if (given.deep === true) await runtime.searchSkills('', 1, { deep: true, signal: invocation.signal });
    if (given.json === true && given.watch !== true)
      terminal.out(jsonText({ indexHash: runtime.index.indexHash, report: runtime.index.report }));
    else if (given.json !== true) terminal.out(reportText(runtime.index));
    return given.watch === true ? watch(invocation, runtime) : EXIT.done;
  },
});

function reportText({ report, indexHash, shadowed }: SkillIndex): string {
  const { valid, leftOut, roots, durationMs, fromCache, bytesRead, cache } = report;
  const scanned = roots.filter(({ status }) => status === 'scanned').length;
  return [
    `${String(valid)} skills in ${String(scanned)} roots, ${String(leftOut.length)} left out, ${String(shadowed.length)} hidden by others of the same name`,
    `${durationMs.toFixed(0)} ms, ${String(fromCache)} unchanged, ${String(bytesRead)} bytes read, cache ${cache.status}${cache.reason === undefined ? '' : ` (${cache.reason})`}`,
    indexHash,
  ].join('\n');
}

/** Says one line a change, or one JSON value a line, until it is interrupted. */
function watch({ flags: given, terminal, signal }: Invocation<typeof flags>, runtime: Runtime): Promise<number> {
  terminal.remark('watching; stop with Ctrl-C');
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(EXIT.interrupted), { once: true });
    runtime.registry.watch(
      ({ added, changed, removed, index }) => {
        if (given.json === true) {
          const ids = (skills: readonly SkillEntry[]): readonly string[] => skills.map(({ id }) => id);
          terminal.out(
            JSON.stringify({
              schema: 1,
              indexHash: index.indexHash,
              added: ids(added),
              changed: ids(changed),
              removed: ids(removed),
            }),
          );
          return;
        }
        const lines = [
          ...added.map((skill) => ['added', skill] as const),
          ...changed.map((skill) => ['changed', skill] as const),
          ...removed.map((skill) => ['removed', skill] as const),
        ];
        for (const [what, { id }] of lines) terminal.out(`${what} ${printable(id)}`);
      },
      { signal, onError: (error) => terminal.err(`a look at the roots failed: ${String(error)}`) },
    );
  });
}
