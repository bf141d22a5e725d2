import { isSameNeed, type ContainerNeeds } from './settings.ts';
import type { WarmContainer } from './warm-container.ts';

export interface PoolOptions {
  /** Further programs wait until a container is free. */
  readonly maxContainers: number;
  readonly start: (needs: ContainerNeeds, signal?: AbortSignal) => Promise<WarmContainer>;
}

interface Waiting {
  readonly wake: () => void;
}

/**
 * The containers of one workspace. Each runs one program at a time: removing it ends that program alone, and the limits of the
 * container are the limits of the program. A container is reused if the program left nothing behind.
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

  /** Returns `undefined` where the pool is closed or the caller cancelled. */
  async take(needs: ContainerNeeds, signal?: AbortSignal): Promise<WarmContainer | undefined> {
    for (;;) {
      if (this.#isClosed || signal?.aborted === true) return undefined;
      const kept = this.#takeIdle(needs);
      if (kept !== undefined) {
        this.#busy.add(kept);
        return kept;
      }
      // An earlier set of skills is never requested again.
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
    // Busy containers keep their volume until the results of their program were copied.
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
      // The engine may have been restarted meanwhile.
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
