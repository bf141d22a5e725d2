import type { ContainerNeeds } from './settings.ts';
import { isSameNeed } from './settings.ts';
import type { WarmContainer } from './warm-container.ts';

export interface PoolOptions {
  /** More than these at once wait for one another. */
  readonly maxContainers: number;
  readonly start: (needs: ContainerNeeds, signal?: AbortSignal) => Promise<WarmContainer>;
}

interface Waiting {
  readonly wake: () => void;
}

/**
 * The containers of one workspace. Each holds one program at a time, so that ending it ends that program and nothing else, and a limit
 * of the container is a limit of the program; one in which nothing was left behind is used again.
 */
export class ContainerPool {
  readonly #options: PoolOptions;
  readonly #idle: WarmContainer[] = [];
  readonly #busy = new Set<WarmContainer>();
  readonly #waiting: Waiting[] = [];
  #starting = 0;
  #isClosed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** A container for these needs; nothing where the pool was closed or the caller gave up. */
  async take(needs: ContainerNeeds, signal?: AbortSignal): Promise<WarmContainer | undefined> {
    for (;;) {
      if (this.#isClosed || signal?.aborted === true) return undefined;
      const kept = this.#takeIdle(needs);
      if (kept !== undefined) {
        this.#busy.add(kept);
        return kept;
      }
      // Skills are not taken back to what they were: nobody will ask for these again.
      const stale = this.#idle.findIndex((container) => container.needs.skills !== needs.skills);
      if (stale !== -1) {
        await Promise.all(this.#idle.splice(stale, 1).map((container) => container.dispose()));
        continue;
      }
      if (this.#count < this.#options.maxContainers) return await this.#startNew(needs, signal);
      const other = this.#idle.shift();
      if (other === undefined) await this.#wait(signal);
      else await other.dispose();
    }
  }

  /** Puts a container that was just started by `attach` to the others. */
  add(container: WarmContainer): void {
    this.#idle.push(container);
  }

  async giveBack(container: WarmContainer, isClean: boolean): Promise<void> {
    try {
      if (!isClean || !container.isOpen || this.#isClosed) await container.dispose();
      else this.#idle.push(container);
    } finally {
      this.#busy.delete(container);
      this.#waiting.shift()?.wake();
    }
  }

  /** Ends every program. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { wake } of this.#waiting.splice(0)) wake();
    // What a program stored is still wanted by whoever waits for its end.
    const ending = [...this.#busy].map((container) => container.remove());
    await Promise.all([...ending, ...this.#idle.splice(0).map((container) => container.dispose())]);
  }

  get #count(): number {
    return this.#idle.length + this.#busy.size + this.#starting;
  }

  #takeIdle(needs: ContainerNeeds): WarmContainer | undefined {
    for (;;) {
      const at = this.#idle.findIndex((container) => isSameNeed(container.needs, needs));
      if (at === -1) return undefined;
      const [container] = this.#idle.splice(at, 1);
      // The engine may have been started anew since.
      if (container?.isOpen === true) return container;
    }
  }

  async #startNew(needs: ContainerNeeds, signal: AbortSignal | undefined): Promise<WarmContainer | undefined> {
    this.#starting += 1;
    let container: WarmContainer;
    try {
      container = await this.#options.start(needs, signal);
    } catch (error) {
      this.#waiting.shift()?.wake();
      throw error;
    } finally {
      this.#starting -= 1;
    }
    if (this.#isClosed) {
      await container.dispose();
      return undefined;
    }
    this.#busy.add(container);
    return container;
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const waiting = { wake };
      const leave = (): void => {
        const at = this.#waiting.indexOf(waiting);
        if (at !== -1) this.#waiting.splice(at, 1);
        resolve();
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#waiting.push(waiting);
    });
  }
}
