/** Images in prompts: named with `@`, typed, or given with --in, sent to a server, recorded, and sent again when a run is resumed. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { deflateSync } from 'node:zlib';
import { expect, test } from 'vitest';

import { PROJECT } from '../files-below.ts';
import { needs } from '../needs.ts';
import { chunk, serve, startStream, type LocalServer, type Respond } from '../model/local-server.ts';
import { atTerminal, type Step } from './pseudo-terminal.ts';
import { SHARED_CACHE, spawnCli, temporaryFolder } from './run-cli.ts';

const PROGRAM = path.join(PROJECT, 'dist/command/skillwright.js');
const home = temporaryFolder();

/** The start of a PNG file, and a comment; models of this test do not decode it. */
function png(comment = ''): Buffer {
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'), deflateSync(''), Buffer.from(comment)]);
}

const SHOT = png('shot');

function project(): string {
  const folder = temporaryFolder();
  mkdirSync(path.join(folder, 'docs'));
  writeFileSync(path.join(folder, 'docs/shot.png'), SHOT);
  return folder;
}

const says =
  (text: string): Respond =>
  (response) =>
    startStream(response).end(chunk({ content: text }) + chunk({}, 'stop') + 'data: [DONE]\n\n');

/** The images of each request, and the text beside them. */
function imagesOf({ requests }: LocalServer): readonly (readonly string[])[] {
  return requests.map(({ body }) =>
    [...JSON.stringify(body).matchAll(/data:(image\/\w+;base64,[\w+/=]+)/g)].map(([, data = '']) => data),
  );
}

const AS_SENT = `image/png;base64,${SHOT.toString('base64')}`;

/** The name says that the model takes images, as that of a vendor does. */
const environment = (server: LocalServer): Record<string, string> => ({
  HOME: home,
  ...SHARED_CACHE,
  OPENAI_BASE_URL: server.url,
});

const VISION = ['--model', 'openai-compatible/gpt-4o', '--executor', 'none'];

async function withServer(respond: Respond, act: (server: LocalServer) => Promise<void>): Promise<void> {
  const server = await serve(respond);
  try {
    await act(server);
  } finally {
    await server.close();
  }
}

const until = (text: string): Step => ({ until: text });
const keys = (text: string): Step => ({ keys: text });
const PROMPT = until('> ');

test(
  'in a chat, @FILE, a typed path and a dropped file are shown to the model, others after a yes',
  needs('python3 with pty'),
  async () => {
    await withServer(says('Seen.'), async (server) => {
      const folder = project();
      const outside = path.join(temporaryFolder(), 'other.png');
      writeFileSync(outside, png('other'));
      const { text } = await atTerminal(
        [process.execPath, PROGRAM, 'chat', ...VISION],
        [
          PROMPT,
          keys('what is in @docs/shot.png?\r'),
          until('shows the model docs/shot.png'),
          until('Seen.'),
          PROMPT,
          { paste: path.join(folder, 'docs/shot.png') },
          until('@docs/shot.png'),
          keys('\r'),
          until('Seen.'),
          PROMPT,
          keys(`and ${outside}\r`),
          until('Copy '),
          { seconds: 1 },
          keys('n'),
          until('Seen.'),
          PROMPT,
          keys('/quit\r'),
        ],
        { cwd: folder, env: environment(server) },
      );
      expect(text).not.toContain('shows the model /');
      // The conversation repeats earlier images; the last one was refused.
      expect(imagesOf(server)).toEqual([[AS_SENT], [AS_SENT, AS_SENT], [AS_SENT, AS_SENT]]);
      const continued = await spawnCli(
        folder,
        ['chat', '--resume', 'last', '--again', ...VISION, '--json'],
        environment(server),
        (argv) => ['sh', '-c', `echo 'and again' | "$@"`, 'sh', ...argv],
      );
      expect(continued.status, continued.err).toBe(0);
      expect(imagesOf(server).at(-1)).toEqual([AS_SENT, AS_SENT]);
    });
  },
);

test('a run shows images of its request and of --in, records them by digest, and shows them again when it is resumed', async () => {
  let answers: Respond = (response) => response.writeHead(400).end('{"error":{"message":"no such field: image_url"}}');
  await withServer(
    (...args) => answers(...args),
    async (server) => {
      const folder = project();
      writeFileSync(path.join(folder, 'note.png'), 'not an image');
      const run = ['run', 'compare docs/shot.png with note.png', '--in', 'docs/shot.png', ...VISION];
      const failed = await spawnCli(folder, run, environment(server));
      expect(failed.status).toBe(1);
      expect(failed.err).toContain('shows the model docs/shot.png');
      expect(failed.out).toContain('the request contains images, which this model may not take');
      const runs = path.join(folder, '.agent/runs');
      const id = readdirSync(runs).find((name) => /^\d/.test(name)) ?? '';
      const events = readFileSync(path.join(runs, id, 'events.jsonl'), 'utf8');
      expect(events).toContain(
        `"images":[{"name":"docs/shot.png","mediaType":"image/png","data":"${SHOT.toString('base64')}"}]`,
      );
      answers = says('The same.');
      writeFileSync(path.join(folder, 'docs/shot.png'), 'changed since');
      const resumed = await spawnCli(folder, ['runs', 'resume', id, ...VISION.slice(0, 2)], environment(server));
      expect(resumed.out, resumed.err).toContain('The same.');
      expect(imagesOf(server)).toEqual([[AS_SENT], [AS_SENT]]);
    },
  );
});

test('an image that a model cannot get is an error that says why; a path without @ stays a name', async () => {
  await withServer(says('Seen.'), async (server) => {
    const folder = project();
    const secret = 'gsk-canary-77aa01bc2d';
    writeFileSync(path.join(folder, 'secret.png'), png(`token ${secret}`));
    writeFileSync(path.join(folder, 'large.png'), Buffer.concat([SHOT, Buffer.alloc(4 * 1024 * 1024)]));
    writeFileSync(path.join(folder, 'text.png'), 'not an image');
    const env = { ...environment(server), GROQ_API_KEY: secret };
    const run = (request: string, words = VISION) => spawnCli(folder, ['run', request, ...words], env);
    expect(await run('see @large.png')).toMatchObject({
      status: 2,
      err: expect.stringMatching(/large\.png" is 4.*MB; the limit is/),
    });
    expect(await run('see @text.png')).toMatchObject({
      status: 2,
      err: expect.stringContaining('its bytes are text/plain'),
    });
    const refused = await run('see @secret.png');
    expect([refused.status, refused.out]).toEqual([1, expect.stringContaining('secret.png contains a known secret')]);
    const rules = await run('see @docs/shot.png', ['--model', 'rules', '--executor', 'none']);
    expect([rules.status, rules.out]).toEqual([1, expect.stringContaining('rules takes no images')]);
    expect(server.requests).toEqual([]);
    const unknown = ['--model', 'openai-compatible/some-model', '--executor', 'none'];
    expect(await run('rename docs/shot.png and large.png', unknown)).toMatchObject({ status: 0 });
    expect(await run('see @docs/shot.png', unknown)).toMatchObject({ status: 0 });
    expect(imagesOf(server)).toEqual([[], [AS_SENT]]);
  });
});
