import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';

import { isSkillError } from '../../../core/errors.ts';
import { engineFailure } from './client.ts';
import type { EngineClient } from './client.ts';
import { findCounters } from './counters.ts';
import type { ContainerCounters } from './counters.ts';
import { field, listField, numberField, textField, textsField } from './json-answer.ts';
import { createBody, holderBody } from './settings.ts';
import type { ContainerNeeds, ContainerSettings } from './settings.ts';

const REMOVE_MS = 30_000;
/** Looks at what a program left behind: a child that is already dead may be counted for a moment. */
/** The engine's init and the lifeline. */
const IDLE_PROCESSES = 2;
const IDLE_LOOKS = 40;
const LEFTOVER_LOOKS = 5;
const LEFTOVER_MS = 20;

/**
 * A container with nothing in it but a process that waits for our connection to close: for one program at a time, because its end is
 * the one sure way to end all that a program started.
 */
export class WarmContainer {
  readonly id: string;
  readonly needs: ContainerNeeds;
  /** Names in the environment that the image brings along. */
  readonly imageEnv: readonly string[];
  /** The first process, as the engine's machine counts; 0 where that is not told. */
  readonly hostPid: number;
  readonly counters: ContainerCounters | undefined;
  readonly #client: EngineClient;
  readonly #lifeline: Duplex;
  readonly #settings: ContainerSettings;
  #removal: Promise<void> | undefined;
  #isOpen = true;
  #idleProcesses: number | undefined;

  private constructor(client: EngineClient, lifeline: Duplex, made: Made) {
    this.#client = client;
    this.#lifeline = lifeline;
    this.id = made.id;
    this.#settings = made.settings;
    this.needs = made.settings.needs;
    this.imageEnv = made.imageEnv;
    this.hostPid = made.hostPid;
    this.counters = findCounters(made.hostPid, made.id);
    lifeline.on('close', () => {
      this.#isOpen = false;
    });
    // What the engine says there does not matter; that it can be read shows when the connection ends.
    lifeline.resume();
  }

  static async start(client: EngineClient, settings: ContainerSettings, signal?: AbortSignal): Promise<WarmContainer> {
    const created = await client.post('/containers/create', { json: createBody(settings), signal });
    const id = textField(field(created.body, 'Id'));
    if (id === undefined) throw engineFailure('the container engine gave no id for a container', 'no id');
    let lifeline: Duplex | undefined;
    try {
      const { socket } = await client.converse(`/containers/${id}/attach?stream=1&stdin=1`, { signal });
      lifeline = socket;
      socket.on('error', () => socket.destroy());
      // A process that forgets to detach may end; the container follows it.
      if (socket instanceof Socket) socket.unref();
      await client.post(`/containers/${id}/start`, { signal });
      const { body } = await client.get(`/containers/${id}/json`, { signal });
      if (field(body, 'State', 'Running') !== true)
        throw engineFailure('the container ended as soon as it was started', endText(body));
      if (!hasWalls(body)) throw engineFailure('the engine made a container with other walls than asked', 'walls');
      const container = new WarmContainer(client, socket, {
        id,
        settings,
        imageEnv: textsField(field(body, 'Config', 'Env')).map((line) => line.replace(/=.*$/s, '')),
        hostPid: numberField(field(body, 'State', 'Pid')) ?? 0,
      });
      container.#idleProcesses = await container.#countIdle();
      return container;
    } catch (error) {
      lifeline?.destroy();
      await removeContainer(client, id);
      await removeVolume(client, settings);
      throw error;
    }
  }

  /** It can take a program. */
  get isOpen(): boolean {
    return this.#isOpen && this.#removal === undefined;
  }

  /** What runs in it while no program does. The engine's own helpers are still there for a moment after its start. */
  async #countIdle(): Promise<number | undefined> {
    let least: number | undefined;
    for (let look = 0; look < IDLE_LOOKS; look += 1) {
      const count = await this.#countProcesses();
      if (count === undefined) return undefined;
      least = Math.min(count, least ?? count);
      if (least <= IDLE_PROCESSES) break;
      await delay(LEFTOVER_MS);
    }
    return least;
  }

  /** A program that ended left processes behind, or nobody can say. */
  async hasLeftovers(): Promise<boolean> {
    if (this.#idleProcesses === undefined) return true;
    for (let look = 0; look < LEFTOVER_LOOKS; look += 1) {
      const count = await this.#countProcesses();
      if (count !== undefined && count <= this.#idleProcesses) return false;
      await delay(LEFTOVER_MS);
    }
    return true;
  }

  /** The engine killed a process of it for want of memory. */
  async wasOutOfMemory(): Promise<boolean> {
    const { body } = await this.#client.get(`/containers/${this.id}/json`, { also: [404] });
    return field(body, 'State', 'OOMKilled') === true;
  }

  /** Ends every process of it; resolves when they are gone. May be called more than once. */
  remove(): Promise<void> {
    this.#removal ??= (async () => {
      await removeContainer(this.#client, this.id);
      this.#lifeline.destroy();
    })();
    return this.#removal;
  }

  /** The same, and what it stored. */
  async dispose(): Promise<void> {
    await this.remove();
    await removeVolume(this.#client, this.#settings);
  }

  /** A container whose folders can be copied, also after this one has ended. */
  async openVolume(): Promise<OpenVolume> {
    if (this.isOpen) return { id: this.id, close: () => Promise.resolve() };
    const { body } = await this.#client.post('/containers/create', { json: holderBody(this.#settings) });
    const id = textField(field(body, 'Id'));
    if (id === undefined) throw engineFailure('the container engine gave no id for a container', 'no id');
    return { id, close: () => removeContainer(this.#client, id) };
  }

  async #countProcesses(): Promise<number | undefined> {
    if (this.counters !== undefined) return this.counters.processes();
    const { body } = await this.#client.get(`/containers/${this.id}/top?ps_args=-eo%20pid`, { also: [404] });
    const rows = listField(field(body, 'Processes'));
    return rows.length === 0 ? undefined : rows.length;
  }
}

export interface OpenVolume {
  readonly id: string;
  close(): Promise<void>;
}

interface Made {
  readonly id: string;
  readonly settings: ContainerSettings;
  readonly imageEnv: readonly string[];
  readonly hostPid: number;
}

/** Kills and removes. The engine answers when the first process is gone, and a namespace of processes ends with its first. */
export async function removeContainer(client: EngineClient, id: string): Promise<void> {
  // 404: gone already; 409: its own removal is under way.
  const { status } = await client.delete(`/containers/${id}?force=true&v=true`, {
    also: [404, 409],
    deadlineMs: REMOVE_MS,
  });
  if (status !== 409) return;
  try {
    await client.post(`/containers/${id}/wait?condition=removed`, { also: [404], deadlineMs: REMOVE_MS });
  } catch (error) {
    if (!isSkillError(error)) throw error;
    throw engineFailure(`container ${id.slice(0, 12)} could not be removed: ${error.message}`, error.message);
  }
}

async function removeVolume(client: EngineClient, { shared, volume }: ContainerSettings): Promise<void> {
  if (shared === undefined) await client.delete(`/volumes/${volume}?force=true`, { also: [404] });
}

/** An engine that overlooks what it does not know must not pass for one that isolates. */
function hasWalls(body: unknown): boolean {
  const host = field(body, 'HostConfig');
  return (
    field(host, 'NetworkMode') === 'none' &&
    field(host, 'ReadonlyRootfs') === true &&
    field(host, 'Privileged') === false
  );
}

function endText(body: unknown): string {
  const error = textField(field(body, 'State', 'Error'));
  return error === undefined || error === ''
    ? `status ${String(numberField(field(body, 'State', 'ExitCode')) ?? '?')}`
    : error;
}
