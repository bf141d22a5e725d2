import { setTimeout as delay } from 'node:timers/promises';

import type { Fixture } from './fixture.ts';

/** Delay before the workspace closes, because a test runner does not announce its last case. */
const IDLE_MS = 250;

/** One workspace for all cases that leave it intact: opened by the first case, closed shortly after the last. */
export class SharedFixture {
  readonly #open: () => Promise<Fixture>;
  #fixture: Promise<Fixture> | undefined;
  #users = 0;
  #uses = 0;

  constructor(open: () => Promise<Fixture>) {
    this.#open = open;
  }

  async use(act: (fixture: Fixture) => Promise<void>): Promise<void> {
    this.#users += 1;
    this.#uses += 1;
    this.#fixture ??= this.#open();
    const opening = this.#fixture;
    try {
      await act(await opening);
    } finally {
      this.#users -= 1;
      if (this.#users === 0) this.#closeUnlessUsed(opening, this.#uses).catch(() => undefined);
    }
  }

  async #closeUnlessUsed(opening: Promise<Fixture>, uses: number): Promise<void> {
    await delay(IDLE_MS);
    if (this.#users > 0 || this.#uses !== uses) return;
    this.#fixture = undefined;
    const [opened] = await Promise.allSettled([opening]);
    if (opened.status === 'fulfilled') await opened.value.close();
  }
}
