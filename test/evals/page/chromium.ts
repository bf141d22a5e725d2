/** Controls Chromium over a pipe: JSON messages with a trailing zero byte on descriptors 3 and 4, without a port or a library. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';

const PROGRAMS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The path of an installed Chromium. */
export const CHROMIUM = PROGRAMS.find((program) => existsSync(program));

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
  readonly sessionId?: string;
}

export interface Page {
  readonly send: (method: string, params?: object) => Promise<Readonly<Record<string, unknown>>>;
  /** Evaluates an expression in the page. */
  readonly evaluate: (expression: string) => Promise<unknown>;
  readonly open: (file: string) => Promise<void>;
  readonly size: (width: number, height: number) => Promise<void>;
  readonly scheme: (name: 'light' | 'dark') => Promise<void>;
  /** Sends real key events. */
  readonly press: (key: string) => Promise<void>;
  readonly type: (text: string) => Promise<void>;
  readonly screenshot: () => Promise<Buffer>;
  /** Errors, warnings, exceptions and requested addresses so far. */
  readonly seen: { readonly problems: string[]; readonly requests: string[] };
}

export interface Browser {
  readonly page: () => Promise<Page>;
  readonly close: () => Promise<void>;
}

const ANSWER_MS = 120_000;

export async function openChromium(program: string): Promise<Browser> {
  const profile = mkdtempSync(path.join(tmpdir(), 'skillwright-chromium-'));
  const flags = [
    '--headless=new',
    '--no-sandbox',
    '--disable-gpu',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-dev-shm-usage',
    '--hide-scrollbars',
    `--user-data-dir=${profile}`,
    '--remote-debugging-pipe',
    'about:blank',
  ];
  const child = spawn(program, flags, { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => {
      resolve();
    });
  });
  const [, , , input, output] = child.stdio as unknown as [null, null, null, Writable, Readable];
  const waiting = new Map<number, (message: Message) => void>();
  const listeners: ((message: Message) => void)[] = [];
  let [last, rest] = [0, ''];
  output.setEncoding('utf8').on('data', (piece: string) => {
    const parts = (rest + piece).split('\0');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      const message = JSON.parse(part) as Message;
      if (message.id === undefined) for (const listener of listeners) listener(message);
      else waiting.get(message.id)?.(message);
    }
  });
  const send = (method: string, params: object = {}, sessionId?: string): Promise<Readonly<Record<string, unknown>>> =>
    new Promise((resolve, reject) => {
      const id = (last += 1);
      const timer = setTimeout(() => {
        reject(new Error(`${method} was not answered`));
      }, ANSWER_MS);
      waiting.set(id, ({ result, error }) => {
        clearTimeout(timer);
        waiting.delete(id);
        if (error === undefined) resolve(result ?? {});
        else reject(new Error(`${method}: ${error.message}`));
      });
      input.write(`${JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) })}\0`);
    });
  return {
    page: async () => {
      const { targetId } = await send('Target.createTarget', { url: 'about:blank' });
      const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
      return openPage(String(sessionId), send, (listener) => void listeners.push(listener));
    },
    close: async () => {
      await send('Browser.close').catch(() => child.kill('SIGKILL'));
      await ended;
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

type Send = (method: string, params?: object, sessionId?: string) => Promise<Readonly<Record<string, unknown>>>;

async function openPage(
  session: string,
  sendAll: Send,
  listen: (listener: (message: Message) => void) => void,
): Promise<Page> {
  const send = (method: string, params: object = {}): Promise<Readonly<Record<string, unknown>>> =>
    sendAll(method, params, session);
  const seen: Page['seen'] = { problems: [], requests: [] };
  let loaded = (): void => undefined;
  listen(({ method, params, sessionId }) => {
    if (sessionId !== session) return;
    if (method === 'Page.loadEventFired') loaded();
    if (method === 'Network.requestWillBeSent')
      seen.requests.push((params as { request: { url: string } }).request.url);
    if (method === 'Runtime.exceptionThrown' || method === 'Log.entryAdded' || method === 'Runtime.consoleAPICalled')
      seen.problems.push(JSON.stringify(params));
  });
  for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await send(`${domain}.enable`);
  const evaluate = async (expression: string): Promise<unknown> => {
    const answer = (await send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true })) as {
      result: { value?: unknown };
      exceptionDetails?: { text: string; exception?: { description?: string } };
    };
    if (answer.exceptionDetails !== undefined)
      throw new Error(answer.exceptionDetails.exception?.description ?? answer.exceptionDetails.text);
    return answer.result.value;
  };
  /** Waits two frames, until changes are drawn. */
  const settled = (): Promise<unknown> =>
    evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))');
  return {
    send,
    evaluate,
    seen,
    open: async (file) => {
      const done = new Promise<void>((resolve) => {
        loaded = resolve;
      });
      await send('Page.navigate', { url: `file://${file}` });
      await done;
      await settled();
    },
    size: async (width, height) => {
      await send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
      await settled();
    },
    scheme: async (name) => {
      await send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: name }] });
    },
    press: async (key) => {
      const text = key.length === 1 ? { text: key } : key === 'Enter' ? { text: '\r' } : {};
      await send('Input.dispatchKeyEvent', { type: 'keyDown', key, ...text, ...CODES[key] });
      await send('Input.dispatchKeyEvent', { type: 'keyUp', key, ...CODES[key] });
      await settled();
    },
    type: async (text) => {
      await send('Input.insertText', { text });
      await settled();
    },
    screenshot: async () => {
      const { data } = await send('Page.captureScreenshot', { format: 'png' });
      return Buffer.from(String(data), 'base64');
    },
  };
}

const CODES: Readonly<Record<string, object>> = {
  Enter: { code: 'Enter', windowsVirtualKeyCode: 13 },
  Escape: { code: 'Escape', windowsVirtualKeyCode: 27 },
  Tab: { code: 'Tab', windowsVirtualKeyCode: 9 },
  ArrowDown: { code: 'ArrowDown', windowsVirtualKeyCode: 40 },
  ArrowUp: { code: 'ArrowUp', windowsVirtualKeyCode: 38 },
};
