import { setTimeout as delay } from 'node:timers/promises';

import type { Bench } from './bench.ts';

/** How long a workspace waits for the next case: a runner says neither which cases it runs nor which is the last. */
const IDLE_MS = 250;

/** One workspace for all cases that leave it as it was: opened by the first, closed a moment after the last. */
export class SharedBench {
  readonly #open: () => Promise<Bench>;
  #bench: Promise<Bench> | undefined;
  #users = 0;
  #uses = 0;

  constructor(open: () => Promise<Bench>) {
    this.#open = open;
  }

  async use(act: (bench: Bench) => Promise<void>): Promise<void> {
    this.#users += 1;
    this.#uses += 1;
    this.#bench ??= this.#open();
    const opening = this.#bench;
    try {
      await act(await opening);
    } finally {
      this.#users -= 1;
      if (this.#users === 0) void this.#closeUnlessUsed(opening, this.#uses);
    }
  }

  async #closeUnlessUsed(opening: Promise<Bench>, uses: number): Promise<void> {
    await delay(IDLE_MS);
    if (this.#users > 0 || this.#uses !== uses) return;
    this.#bench = undefined;
    const [opened] = await Promise.allSettled([opening]);
    if (opened.status === 'fulfilled') await opened.value.close();
  }
}
