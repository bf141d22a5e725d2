import { isSameNeed, type ContainerNeeds } from './settings.ts';
import type { WarmContainer } from './warm-container.ts';

/**
 * The containers of one workspace. Each runs one program at a time: removing it ends that program alone, and the limits of the
 * container are the limits of the program. A container is reused if the program left nothing behind.
 */
export interface ContainerPool {
  /** Waits until a container is free. Returns `undefined` where the pool is closed or the caller cancelled. */
  take(needs: ContainerNeeds, signal?: AbortSignal): Promise<WarmContainer | undefined>;
  giveBack(container: WarmContainer, isClean: boolean): Promise<void>;
  /** Ends every program. */
  close(): Promise<void>;
}

export function openPool(
  maxContainers: number,
  start: (needs: ContainerNeeds, signal?: AbortSignal) => Promise<WarmContainer>,
): ContainerPool {
  const idle: WarmContainer[] = [];
  const busy = new Set<WarmContainer>();
  const waiting: (() => void)[] = [];
  let starting = 0;
  let isClosed = false;

  const takeIdle = (needs: ContainerNeeds): WarmContainer | undefined => {
    for (;;) {
      const at = idle.findIndex((container) => isSameNeed(container.needs, needs));
      if (at === -1) return undefined;
      const [container] = idle.splice(at, 1);
      // The engine may have been restarted meanwhile.
      if (container?.isOpen === true) return container;
    }
  };
  const startNew = async (needs: ContainerNeeds, signal?: AbortSignal): Promise<WarmContainer | undefined> => {
    starting += 1;
    let container: WarmContainer;
    try {
      container = await start(needs, signal);
    } catch (error) {
      waiting[0]?.();
      throw error;
    } finally {
      starting -= 1;
    }
    if (isClosed) {
      await container.dispose();
      return undefined;
    }
    busy.add(container);
    return container;
  };
  const wait = (signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const wake = (): void => {
        signal?.removeEventListener('abort', wake);
        waiting.splice(waiting.indexOf(wake), 1);
        resolve();
      };
      signal?.addEventListener('abort', wake, { once: true });
      waiting.push(wake);
    });

  return {
    async take(needs, signal) {
      for (;;) {
        if (isClosed || signal?.aborted === true) return undefined;
        const kept = takeIdle(needs);
        if (kept !== undefined) {
          busy.add(kept);
          return kept;
        }
        // An earlier set of skills is never requested again.
        const stale = idle.findIndex((container) => container.needs.skills !== needs.skills);
        if (stale === -1 && idle.length + busy.size + starting < maxContainers) return await startNew(needs, signal);
        const [other] = idle.splice(Math.max(0, stale), 1);
        if (other === undefined) await wait(signal);
        else await other.dispose();
      }
    },
    async giveBack(container, isClean) {
      try {
        if (!isClean || !container.isOpen || isClosed) await container.dispose();
        else idle.push(container);
      } finally {
        busy.delete(container);
        waiting[0]?.();
      }
    },
    async close() {
      isClosed = true;
      for (let wake = waiting[0]; wake !== undefined; wake = waiting[0]) wake();
      // Busy containers keep their volume until the results of their program were copied.
      const ending = [...busy].map((container) => container.remove());
      await Promise.all([...ending, ...idle.splice(0).map((container) => container.dispose())]);
    },
  };
}
