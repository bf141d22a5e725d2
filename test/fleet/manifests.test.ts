import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';

import { COMMANDS } from '../../src/cli/commands.ts';
import { PROJECT } from '../files-below.ts';

const read = (name: string): string => readFileSync(path.join(PROJECT, name), 'utf8');

/** Fails for a command or a flag that the program does not have. Returns the name of the command. */
async function parsed(words: readonly string[]): Promise<string> {
  const [name = '', ...rest] = words;
  const loaded = await COMMANDS.find((one) => one.name === name)?.load();
  if (loaded === undefined) throw new Error(`no command ${name}`);
  const { flags, positionals } = loaded.command;
  const options = Object.fromEntries(Object.entries(flags).map(([flag, { type }]) => [flag, { type }]));
  parseArgs({ args: [...rest], options, allowPositionals: positionals[1] > 0 });
  return name;
}

/** The command that creates the first key, in the comment of a manifest. Without it the server does not start. */
function firstKey(text: string): readonly string[] {
  return (/ (fleet keys create .+)$/m.exec(text)?.[1] ?? '').split(' ');
}

/** Variables that the source reads. */
function isRead(variable: string): boolean {
  return SOURCE.some((text) => text.includes(`'${variable}'`));
}

const SOURCE = ['src/cli/fleet/fleet-flags.ts', 'src/model/providers.ts'].map(read);
const ROUTES = read('src/fleet/fleet-server.ts');

interface Service {
  readonly command?: readonly string[];
  readonly environment: object;
  readonly ports?: readonly string[];
}

test('docker-compose.yml starts a database, a server and workers with commands, flags and variables that exist', async () => {
  const text = read('docker-compose.yml');
  const { services }: { services: Record<string, Service> } = parse(text, { merge: true });
  expect(Object.keys(services)).toEqual(['database', 'server', 'worker']);
  const commands = Object.values(services).flatMap(({ command }) => (command === undefined ? [] : [command]));
  expect(await Promise.all([...commands, firstKey(text)].map(parsed))).toEqual(['serve', 'worker', 'fleet']);
  // Published on the loopback of the host, so inside the container the server listens on all addresses.
  expect(services['server']).toMatchObject({
    command: ['serve', '--trust-project', '--host', '0.0.0.0', '--port', '8787'],
    ports: ['127.0.0.1:8787:8787'],
  });
  expect(services['worker']?.ports).toEqual([]);
  const names = ['server', 'worker'].flatMap((name) => Object.keys(services[name]?.environment ?? {}));
  expect(names.filter((name) => !isRead(name))).toEqual([]);
});

test('the Kubernetes manifest has a server with probes, workers with time to drain, and a service', async () => {
  const text = read('examples/fleet.k8s.yml');
  const documents = parseAllDocuments(text).map((document): unknown => document.toJS());
  const port = 8787;
  const probe = (path_: string): object => ({ httpGet: { path: path_, port } });
  const container = (more: object): object => ({ spec: { template: { spec: { containers: [more] } } } });
  const server = { args: ['serve', '--host', '0.0.0.0', '--port', String(port)], ports: [{ containerPort: port }] };
  const worker = { args: ['worker', '--slots', '8', '--executor', 'none'] };
  expect(documents).toMatchObject([
    container({
      ...server,
      startupProbe: probe('/healthz'),
      livenessProbe: probe('/healthz'),
      readinessProbe: probe('/readyz'),
    }),
    { spec: { template: { spec: { terminationGracePeriodSeconds: 60, containers: [worker] } } } },
    { kind: 'Service', spec: { ports: [{ port: 80, targetPort: port }] } },
  ]);
  const commands = [server.args, worker.args, firstKey(text)];
  expect(await Promise.all(commands.map(parsed))).toEqual(['serve', 'worker', 'fleet']);
  for (const place of ['/healthz', '/readyz']) expect(ROUTES).toContain(`'${place}'`);
});
