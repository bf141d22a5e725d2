import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';

import { isSkillError } from '#core';
import { engineFailure, type EngineClient } from './client.ts';
import { findCounters, type ContainerCounters } from './counters.ts';
import { field, listField, numberField, textField, textsField } from './json-answer.ts';
import { createBody, holderBody, type ContainerNeeds, type ContainerSettings } from './settings.ts';

const REMOVE_MS = 30_000;
/** The engine's init and the lifeline process. */
const IDLE_PROCESSES = 2;
const IDLE_ATTEMPTS = 40;
/** A child that is already dead may still be counted for a moment. */
const LEFTOVER_ATTEMPTS = 5;
const RETRY_MS = 20;

/**
 * A container that runs only a lifeline process, which exits when our connection closes. It runs one program at a time, because
 * removing the container is the one sure way to end everything that a program started.
 */
export class WarmContainer {
  readonly id: string;
  readonly needs: ContainerNeeds;
  /** Names of the variables that the image sets. */
  readonly imageEnv: readonly string[];
  /** Process id of the first process on the engine's machine; 0 where the engine does not report it. */
  readonly hostPid: number;
  readonly counters: ContainerCounters | undefined;
  readonly #client: EngineClient;
  readonly #lifeline: Duplex;
  readonly #settings: ContainerSettings;
  #removal: Promise<void> | undefined;
  #isOpen = true;
  #idleProcesses: number | undefined;

  private constructor(client: EngineClient, lifeline: Duplex, created: CreatedContainer) {
    this.#client = client;
    this.#lifeline = lifeline;
    this.id = created.id;
    this.#settings = created.settings;
    this.needs = created.settings.needs;
    this.imageEnv = created.imageEnv;
    this.hostPid = created.hostPid;
    this.counters = findCounters(created.hostPid, created.id);
    lifeline.on('close', () => {
      this.#isOpen = false;
    });
    // The data is irrelevant, but an unread stream never reports its end.
    lifeline.resume();
  }

  static async start(client: EngineClient, settings: ContainerSettings, signal?: AbortSignal): Promise<WarmContainer> {
    const id = await createContainer(client, createBody(settings), signal);
    let lifeline: Duplex | undefined;
    try {
      const { socket } = await client.converse(`/containers/${id}/attach?stream=1&stdin=1`, { signal });
      lifeline = socket;
      socket.on('error', () => socket.destroy());
      // A process that does not detach may still exit; its container ends with the connection.
      if (socket instanceof Socket) socket.unref();
      await client.post(`/containers/${id}/start`, { signal });
      const { body } = await client.get(`/containers/${id}/json`, { signal });
      if (field(body, 'State', 'Running') !== true)
        throw engineFailure('the container exited right after its start', endText(body));
      if (!isIsolated(body))
        throw engineFailure('the engine ignored isolation settings of the container', 'isolation settings');
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

  /** Whether it can run a program. */
  get isOpen(): boolean {
    return this.#isOpen && this.#removal === undefined;
  }

  /** Counts the processes while no program runs. Helpers of the engine are still running for a moment after the start. */
  async #countIdle(): Promise<number | undefined> {
    let least: number | undefined;
    for (let attempt = 0; attempt < IDLE_ATTEMPTS; attempt += 1) {
      const count = await this.#countProcesses();
      if (count === undefined) return undefined;
      least = Math.min(count, least ?? count);
      if (least <= IDLE_PROCESSES) break;
      await delay(RETRY_MS);
    }
    return least;
  }

  /** Whether a program left processes behind; true where that cannot be determined. */
  async hasLeftovers(): Promise<boolean> {
    if (this.#idleProcesses === undefined) return true;
    for (let attempt = 0; attempt < LEFTOVER_ATTEMPTS; attempt += 1) {
      const count = await this.#countProcesses();
      if (count !== undefined && count <= this.#idleProcesses) {
        // On a busy machine a helper of the engine may have been counted as idle.
        this.#idleProcesses = count;
        return false;
      }
      await delay(RETRY_MS);
    }
    return true;
  }

  /** Whether the kernel killed one of its processes for lack of memory. */
  async wasOutOfMemory(): Promise<boolean> {
    const { body } = await this.#client.get(`/containers/${this.id}/json`, { also: [404] });
    return field(body, 'State', 'OOMKilled') === true;
  }

  /** Ends all of its processes and resolves when they are gone. May be called more than once. */
  remove(): Promise<void> {
    this.#removal ??= (async () => {
      await removeContainer(this.#client, this.id);
      this.#lifeline.destroy();
    })();
    return this.#removal;
  }

  /** Removes the container and its volume. */
  async dispose(): Promise<void> {
    await this.remove();
    await removeVolume(this.#client, this.#settings);
  }

  /** A container whose volume can be copied, even after this one was removed. */
  async openVolume(): Promise<OpenVolume> {
    if (this.isOpen) return { id: this.id, close: () => Promise.resolve() };
    const id = await createContainer(this.#client, holderBody(this.#settings));
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

interface CreatedContainer {
  readonly id: string;
  readonly settings: ContainerSettings;
  readonly imageEnv: readonly string[];
  readonly hostPid: number;
}

/** Creates a container, which does not run yet, and returns its id. */
export async function createContainer(client: EngineClient, json: unknown, signal?: AbortSignal): Promise<string> {
  const { body } = await client.post('/containers/create', { json, signal });
  const id = textField(field(body, 'Id'));
  if (id === undefined) throw engineFailure('the container engine returned no container id', 'no id');
  return id;
}

/** Kills and removes a container. The engine answers once its first process, and with it the PID namespace, is gone. */
export async function removeContainer(client: EngineClient, id: string): Promise<void> {
  // 404: already gone; 409: its automatic removal is in progress.
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

/** An engine that ignores unknown settings must not pass as isolating. */
function isIsolated(body: unknown): boolean {
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
