/**
 * An executor that runs programs on another machine over HTTP. The workspace stays here: what changed goes to the server before a program
 * starts, and what the program changed comes back when it has ended. `server.ts` is the other side.
 */
import { randomUUID } from 'node:crypto';
import path from 'node:path';

import { isSkillError, SkillError, type AttachedWorkspace, type Executor } from 'skillwright';
import { ALL, openMirror, WRITABLE, type Changes } from './mirror.ts';

type Run = AttachedWorkspace['run'];
export type ProgramSpec = Parameters<Run>[0];
export type ProgramEnd = Awaited<ReturnType<Run>>;

/** The answer to `POST /workspaces`. */
export type Opened = Pick<AttachedWorkspace, 'root' | 'capabilities'> & { readonly id: string };

/** A line of the answer to a run: output in base64, and the end as the last one. Empty lines keep the connection open. */
export interface Frame {
  readonly stdout?: string;
  readonly stderr?: string;
  readonly end?: ProgramEnd;
  readonly error?: string;
}

const ANSWER_MS = 60_000;

export function remoteExecutor({ url, token }: { readonly url: string; readonly token: string }): Executor {
  const request = async (method: string, where: string, body?: unknown, ms = ANSWER_MS): Promise<Response> => {
    const answer = await fetch(new URL(where, url), {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      signal: AbortSignal.timeout(ms),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }).catch((error: unknown) => {
      throw failed(`${url} does not answer`, error);
    });
    if (answer.ok) return answer;
    throw failed(`${method} ${where} is answered with ${String(answer.status)}: ${await answer.text()}`);
  };
  const ask = async (...how: Parameters<typeof request>) => JSON.parse(await (await request(...how)).text());

  return {
    name: 'remote',
    async attach(place) {
      const opened: Opened = await ask('POST', '/workspaces').catch((error: unknown) => {
        throw unavailable(error);
      });
      const at = `/workspaces/${opened.id}`;
      const mirror = openMirror(place.root, { sends: ALL, takes: WRITABLE });
      const running = new Set<Promise<unknown>>();
      let isDetached = false;

      const run: Run = async (spec, { stdout, stderr, signal }) => {
        if (isAborted(signal)) return { reason: 'cancelled', durationMs: 0, warnings: [] };
        const { entries } = await mirror.changes();
        await ask('PUT', `${at}/files`, entries);
        const program = `${at}/runs/${randomUUID()}`;
        const stop = (reason: string): void => void ask('DELETE', `${program}?reason=${reason}`).catch(() => undefined);
        const cancel = (): void => stop('cancelled');
        const body = { ...spec, stdin: Buffer.from(spec.stdin).toString('base64') };
        if (isDetached) throw failed('the workspace is detached');
        const answer = await request('POST', program, body, spec.limits.wallMs + ANSWER_MS);
        signal?.addEventListener('abort', cancel);
        // Its event may have been sent while the request was on its way.
        if (isAborted(signal)) cancel();
        try {
          let isWanted = true;
          for await (const frame of readFrames(answer)) {
            if (frame.error !== undefined) throw failed(frame.error);
            if (frame.end !== undefined)
              return { ...frame.end, warnings: [...frame.end.warnings, ...(await bringBack())] };
            const sink = frame.stdout === undefined ? stderr : stdout;
            if (!isWanted || sink.write(Buffer.from(frame.stdout ?? frame.stderr ?? '', 'base64'))) continue;
            isWanted = false;
            stop('output');
          }
          throw failed('the connection ended before the program');
        } catch (error) {
          throw isSkillError(error) ? error : failed('the connection was lost', error);
        } finally {
          signal?.removeEventListener('abort', cancel);
        }
      };

      const bringBack = async (): Promise<readonly string[]> => {
        const changes: Changes = await ask('GET', `${at}/files`);
        await mirror.apply(changes.entries);
        return changes.skipped.map((one) => `not brought back: ${one}`);
      };

      return {
        capabilities: opened.capabilities,
        root: opened.root,
        async run(spec, streams) {
          if (isDetached) throw failed('the workspace is detached');
          const isInside = !path.posix.isAbsolute(spec.cwd) && !path.posix.normalize(`${spec.cwd}/`).startsWith('../');
          if ((spec.argv[0] ?? '') === '' || spec.argv.some((word) => word.includes('\0')) || !isInside)
            throw invalid();
          const going = run(spec, streams);
          running.add(going);
          return await going.finally(() => running.delete(going));
        },
        async detach() {
          if (isDetached) return;
          isDetached = true;
          // Ends its programs, so that what they left comes back before the copy on the server is removed.
          await ask('DELETE', `${at}/runs`).catch(() => undefined);
          await Promise.allSettled(running);
          await ask('DELETE', at).catch(() => undefined);
        },
      };
    },
  };
}

async function* readFrames(answer: Response): AsyncGenerator<Frame> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of answer.body ?? []) {
    const lines = `${rest}${decoder.decode(chunk, { stream: true })}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') yield JSON.parse(line);
  }
}

const isAborted = (signal: AbortSignal | undefined): boolean => signal?.aborted === true;

const failed = (message: string, cause: unknown = message): SkillError =>
  new SkillError({
    code: 'executor/failed',
    message,
    hint: 'look at the log of the server',
    data: { executor: 'remote', cause: String(cause) },
  });

const unavailable = (error: unknown): SkillError =>
  new SkillError({
    code: 'executor/unavailable',
    message: `programs cannot be run: ${String(error)}`,
    hint: 'check the address and the token of the server',
    data: { executor: 'remote', reasons: [String(error)], install: '' },
  });

const invalid = (): SkillError =>
  new SkillError({
    code: 'input/invalid',
    message: 'the program or its folder cannot be used',
    hint: 'pass a program and a folder of the workspace',
    data: { expected: 'a program and a folder of the workspace' },
  });
