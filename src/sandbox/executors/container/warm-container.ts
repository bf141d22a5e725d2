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
export interface WarmContainer {
  readonly id: string;
  readonly needs: ContainerNeeds;
  /** Names of the variables that the image sets. */
  readonly imageEnv: readonly string[];
  /** Process id of the first process on the engine's machine; 0 where the engine does not report it. */
  readonly hostPid: number;
  readonly counters: ContainerCounters | undefined;
  /** Whether it can run a program. */
  readonly isOpen: boolean;
  /** Whether a program left processes behind; true where that cannot be determined. */
  hasLeftovers(): Promise<boolean>;
  /** Whether the kernel killed one of its processes for lack of memory. */
  wasOutOfMemory(): Promise<boolean>;
  /** Ends all of its processes and resolves when they are gone. May be called more than once. */
  remove(): Promise<void>;
  /** Removes the container and its volume. */
  dispose(): Promise<void>;
  /** A container whose volume can be copied, even after this one was removed. */
  openVolume(): Promise<{ readonly id: string; close(): Promise<void> }>;
}

export async function startContainer(
  client: EngineClient,
  settings: ContainerSettings,
  signal?: AbortSignal,
): Promise<WarmContainer> {
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
    return await followContainer(client, settings, { id, socket, body });
  } catch (error) {
    lifeline?.destroy();
    await removeContainer(client, id);
    await removeVolume(client, settings);
    throw error;
  }
}

async function followContainer(
  client: EngineClient,
  settings: ContainerSettings,
  { id, socket, body: about }: { readonly id: string; readonly socket: Duplex; readonly body: unknown },
): Promise<WarmContainer> {
  const hostPid = numberField(field(about, 'State', 'Pid')) ?? 0;
  const counters = findCounters(hostPid, id);
  let isConnected = true;
  let removal: Promise<void> | undefined;
  socket.on('close', () => {
    isConnected = false;
  });
  // The data is irrelevant, but an unread stream never reports its end.
  socket.resume();
  const countProcesses = async (): Promise<number | undefined> => {
    if (counters !== undefined) return counters.processes();
    const { body } = await client.get(`/containers/${id}/top?ps_args=-eo%20pid`, { also: [404] });
    return listField(field(body, 'Processes')).length || undefined;
  };
  /** The least number of processes that was seen, at most `enough` where it got there in time. */
  const countDownTo = async (enough: number, attempts: number): Promise<number | undefined> => {
    let least = Infinity;
    for (let attempt = 0; attempt < attempts && least > enough; attempt += 1) {
      if (attempt > 0) await delay(RETRY_MS);
      const count = await countProcesses();
      if (count === undefined) return undefined;
      least = Math.min(count, least);
    }
    return least;
  };
  // Helpers of the engine are still running for a moment after the start.
  let idleProcesses = await countDownTo(IDLE_PROCESSES, IDLE_ATTEMPTS);
  const container: WarmContainer = {
    id,
    needs: settings.needs,
    imageEnv: textsField(field(about, 'Config', 'Env')).map((line) => line.replace(/=.*$/s, '')),
    hostPid,
    counters,
    get isOpen() {
      return isConnected && removal === undefined;
    },
    async hasLeftovers() {
      if (idleProcesses === undefined) return true;
      const count = await countDownTo(idleProcesses, LEFTOVER_ATTEMPTS);
      if (count === undefined || count > idleProcesses) return true;
      // On a busy machine a helper of the engine may have been counted as idle.
      idleProcesses = count;
      return false;
    },
    async wasOutOfMemory() {
      const { body } = await client.get(`/containers/${id}/json`, { also: [404] });
      return field(body, 'State', 'OOMKilled') === true;
    },
    remove() {
      removal ??= removeContainer(client, id).then(() => void socket.destroy());
      return removal;
    },
    async dispose() {
      await container.remove();
      await removeVolume(client, settings);
    },
    async openVolume() {
      if (container.isOpen) return { id, close: () => Promise.resolve() };
      const holder = await createContainer(client, holderBody(settings));
      return { id: holder, close: () => removeContainer(client, holder) };
    },
  };
  return container;
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
