import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';

import { COMMANDS } from '../../../src/cli/commands.ts';
import { PROJECT } from '../../files-below.ts';

const read = (name: string): string => readFileSync(path.join(PROJECT, name), 'utf8');

/** Fails for a command or a flag that the program does not have. Returns the name of the command. */
async function parsed(words: readonly string[]): Promise<string> {
  const [name = '', ...rest] = words;
  const loaded = await COMMANDS.find((one) => one.name === name)?.load();
  if (loaded === undefined) throw new Error(`no command ${name}`);
  const options = Object.fromEntries(Object.entries(loaded.command.flags).map(([flag, { type }]) => [flag, { type }]));
  parseArgs({ args: [...rest], options, allowPositionals: false });
  return name;
}

/** Variables that the source reads. */
function isRead(variable: string): boolean {
  return SOURCE.some((text) => text.includes(`'${variable}'`));
}

const SOURCE = ['src/cli/fleet/fleet-flags.ts', 'src/model/providers.ts'].map(read);
const ROUTES = read('src/server/fleet/fleet-server.ts');

test('docker-compose.yml starts a database, a server and workers with commands, flags and variables that exist', async () => {
  const { services }: { services: Record<string, { command?: readonly string[]; environment: object }> } = parse(
    read('docker-compose.yml'),
    { merge: true },
  );
  expect(Object.keys(services)).toEqual(['database', 'server', 'worker']);
  const lines = Object.values(services).flatMap(
    ({ command }) => /exec skillwright (.+)$/.exec(command?.at(-1) ?? '')?.[1] ?? [],
  );
  expect(await Promise.all(lines.map((line) => parsed(line.split(' '))))).toEqual(['serve', 'worker']);
  const names = ['server', 'worker'].flatMap((name) => Object.keys(services[name]?.environment ?? {}));
  expect(names.filter((name) => !isRead(name))).toEqual([]);
});

test('the Kubernetes manifest has a server with probes, workers with time to drain, and a service', async () => {
  const documents = parseAllDocuments(read('examples/fleet.k8s.yml')).map((document): unknown => document.toJS());
  const port = 8787;
  const probe = (path_: string): object => ({ httpGet: { path: path_, port } });
  const container = (more: object): object => ({ spec: { template: { spec: { containers: [more] } } } });
  const server = { args: ['serve', '--host', '0.0.0.0', '--port', String(port)], ports: [{ containerPort: port }] };
  const worker = { args: ['worker', '--slots', '8'] };
  expect(documents).toMatchObject([
    container({ ...server, livenessProbe: probe('/healthz'), readinessProbe: probe('/readyz') }),
    { spec: { template: { spec: { terminationGracePeriodSeconds: 60, containers: [worker] } } } },
    { kind: 'Service', spec: { ports: [{ port: 80, targetPort: port }] } },
  ]);
  expect(await Promise.all([server, worker].map(({ args }) => parsed(args)))).toEqual(['serve', 'worker']);
  for (const place of ['/healthz', '/readyz']) expect(ROUTES).toContain(`'${place}'`);
});
