import type { SkillIndex } from '#skills';
import { printable, type SkillEntry } from '#core';
import type { Runtime } from '#runtime';
import { defineCommand, toggle, type Invocation } from '../command.ts';
import { EXIT } from '../exit.ts';
import { lineJson } from '../json.ts';
import { openRuntime } from '../open-runtime.ts';

const flags = {
  deep: toggle('also index the instructions for search --deep'),
  watch: toggle('keep running and print changes', { short: 'w' }),
} as const;

export const command = defineCommand({
  usage: 'refresh [--deep] [--watch]',
  details: 'Scans every root again and updates the cache. Optional: every command scans by itself.',
  flags,
  examples: [
    ['skillwright refresh', 'scan now and print a report'],
    ['skillwright refresh --deep', 'speed up the next search --deep'],
    ['skillwright refresh --watch', 'print changes while you edit skills'],
  ],
  positionals: [0, 0],
  async run(invocation) {
    const { flags: options, terminal } = invocation;
    const runtime = await openRuntime(invocation);
    if (options.deep === true) await runtime.searchSkills('', 1, { deep: true, signal: invocation.signal });
    const { index } = runtime;
    if (!terminal.isJson) terminal.out(reportText(index));
    else if (options.watch !== true) terminal.printJson({ indexHash: index.indexHash, report: index.report });
    return options.watch === true ? watch(invocation, runtime) : EXIT.done;
  },
});

function reportText({ report, indexHash, shadowed }: SkillIndex): string {
  const { valid, leftOut, roots, durationMs, fromCache, bytesRead, cache } = report;
  const scanned = roots.filter(({ status }) => status === 'scanned').length;
  return [
    `${String(valid)} skills in ${String(scanned)} roots, ${String(leftOut.length)} left out, ${String(shadowed.length)} hidden by skills of the same name`,
    `${durationMs.toFixed(0)} ms, ${String(fromCache)} unchanged, ${String(bytesRead)} bytes read, cache ${cache.status}${cache.reason === undefined ? '' : ` (${cache.reason})`}`,
    indexHash,
  ].join('\n');
}

/** Prints each change as a line, with --json as a line of JSON, until the user interrupts. */
function watch({ terminal, signal }: Invocation<typeof flags>, runtime: Runtime): Promise<number> {
  terminal.remark('watching; stop with Ctrl-C');
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(EXIT.interrupted), { once: true });
    runtime.registry.watch(
      ({ added, changed, removed, index }) => {
        const ids = (skills: readonly SkillEntry[]): readonly string[] => skills.map(({ id }) => id);
        const changes = { added: ids(added), changed: ids(changed), removed: ids(removed) };
        if (terminal.isJson) terminal.out(lineJson({ indexHash: index.indexHash, ...changes }));
        else
          for (const [what, all] of Object.entries(changes))
            for (const id of all) terminal.out(`${what} ${printable(id)}`);
      },
      { signal, onError: (error) => terminal.err(`scanning the roots failed: ${String(error)}`) },
    );
  });
}
