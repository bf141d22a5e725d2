import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

import { compileExamples } from '../compile-examples.ts';
import { openPostgres } from '../fleet/postgres.ts';
import { needs } from '../needs.ts';

// The sources of examples/ as a developer would copy them: compiled, with the built package, against real servers.
const folder = compileExamples();

const SKILL_MD = '---\nname: tone\ndescription: How we write.\n---\n\nShort sentences.\n';
const SCRIPT = "console.log('from the store')\n";

/**
 * Runs the suite against `source`, then runs a script of it, changes it by `change` and reads it again. `source`, `change` and `close` are
 * code.
 */
const program = (parts: Readonly<Record<'imports' | 'source' | 'change' | 'close', string>>): string => `
import { openSkills } from 'skillwright';
import { sourceConformance } from 'skillwright/testing';
${parts.imports}
const source = ${parts.source};
const failed = [];
for (const { name, run } of sourceConformance(() => source)) await run().catch((error) => failed.push(name + ': ' + error));
const library = await openSkills({ from: source, execute: { executor: 'local' } });
const say = async () => {
  const chat = await library.conversation();
  const { value } = await chat.call('run_script', { skill: 'tone', script: 'say.mjs' });
  await chat.close();
  return value.stdout;
};
const said = [await say()];
${parts.change}
await library.refresh();
said.push(await say());
console.log(JSON.stringify({ failed, said, skills: library.skills }));
await library.close();
${parts.close}
`;

const EXPECTED = (source: string): unknown => ({
  failed: [],
  said: ['from the store\n', 'changed\n'],
  skills: [{ name: 'tone', description: 'How we write.', source }],
});

async function runProgram(name: string, text: string, env: Readonly<Record<string, string>>): Promise<unknown> {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  const options = { cwd: folder, env: { PATH: process.env['PATH'] ?? '', HOME: folder, ...env }, timeout: 100_000 };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [file], options);
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

test(
  'skills in PostgreSQL pass the suite of sources, run, and are read again when they changed',
  needs('postgresql'),
  async () => {
    const postgres = await openPostgres();
    onTestFinished(() => postgres.close());
    const text = program({
      imports: `import pg from 'pg';
import { postgresSkills, TABLES } from './skills-in-postgresql.js';
const pool = new pg.Pool({ connectionString: process.env.DATABASE });
await pool.query(TABLES);
await pool.query('insert into skills values ($1, $2)', ['tone', ${JSON.stringify(SKILL_MD)}]);
await pool.query('insert into skill_files values ($1, $2, $3)', ['tone', 'scripts/say.mjs', Buffer.from(${JSON.stringify(SCRIPT)})]);
await pool.query('insert into skill_files values ($1, $2, $3)', ['tone', 'assets/all.bin', Buffer.from([0, 255, 10])]);`,
      source: 'postgresSkills(pool)',
      change: `await pool.query('update skill_files set content = $1 where path = $2', [Buffer.from("console.log('changed')"), 'scripts/say.mjs']);`,
      close: 'await pool.end();',
    });
    expect(await runProgram('postgresql.mjs', text, { DATABASE: postgres.url })).toEqual(EXPECTED('database'));
  },
);

test('skills in S3 pass the suite of sources, run, and are read again when they changed', async () => {
  const { url, objects } = await openBucket();
  objects.set('shop/skills/tone/SKILL.md', SKILL_MD);
  objects.set('shop/skills/tone/scripts/say.mjs', SCRIPT);
  objects.set('shop/skills/tone/references/q&a <1>.md', 'x');
  objects.set('shop/other/SKILL.md', 'not of this prefix');
  const text = program({
    imports: `import { S3mini } from 's3mini';
import { s3Skills } from './skills-in-s3.js';
const s3 = new S3mini({ accessKeyId: 'id', secretAccessKey: 'secret', endpoint: process.env.BUCKET });`,
    source: `s3Skills(s3, { prefix: 'skills/' })`,
    change: `await s3.putObject('skills/tone/scripts/say.mjs', "console.log('changed')");`,
    close: '',
  });
  expect(await runProgram('s3.mjs', text, { BUCKET: `${url}/shop` })).toEqual(EXPECTED('s3'));
});

/** A store that lists two keys at a time, as S3 lists a thousand. */
async function openBucket(): Promise<{ readonly url: string; readonly objects: Map<string, string> }> {
  const objects = new Map<string, string>();
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://store');
    const key = decodeURIComponent(pathname).slice(1);
    if (request.headers.authorization?.startsWith('AWS4-HMAC-SHA256 ') !== true) return response.writeHead(403).end();
    if (request.method === 'PUT') {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString('utf8')));
      return request.on('end', () => (objects.set(key, body), response.writeHead(200, { etag: '"x"' }).end()));
    }
    if (searchParams.get('list-type') === '2') {
      response.writeHead(200, { 'content-type': 'application/xml' });
      return response.end(listing(objects, key.replace(/\/?$/, '/'), searchParams));
    }
    const found = objects.get(key);
    return found === undefined ? response.writeHead(404).end() : response.writeHead(200).end(found);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  return { url: `http://127.0.0.1:${String(typeof address === 'object' ? address?.port : '')}`, objects };
}

function listing(objects: ReadonlyMap<string, string>, bucket: string, query: URLSearchParams): string {
  const escaped = (text: string): string =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const start = Number(query.get('continuation-token') ?? 0);
  const found = [...objects]
    .filter(([key]) => key.startsWith(`${bucket}${query.get('prefix') ?? ''}`))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  const contents = found.slice(start, start + 2).map(([key, text]) => {
    const tag = createHash('md5').update(text).digest('hex');
    return `<Contents><Key>${escaped(key.slice(bucket.length))}</Key><ETag>"${tag}"</ETag><Size>${String(text.length)}</Size></Contents>`;
  });
  const next =
    start + 2 < found.length
      ? `<IsTruncated>true</IsTruncated><NextContinuationToken>${String(start + 2)}</NextContinuationToken>`
      : '';
  return `<?xml version="1.0"?><ListBucketResult>${contents.join('')}${next}</ListBucketResult>`;
}
