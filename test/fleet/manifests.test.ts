import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';

import { COMMANDS } from '../../src/cli/commands.ts';
import { PROJECT } from '../files-below.ts';
import { renderChart } from './render-chart.ts';

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

const CHART = path.join(PROJECT, 'examples/fleet/chart');

interface Rendered {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: Record<string, unknown>;
}

interface Pod {
  readonly spec: Record<string, unknown> & { readonly containers: readonly [Record<string, unknown>] };
}

function renderOf(values: Readonly<Record<string, unknown>>): ReadonlyMap<string, Rendered> {
  const documents = renderChart(CHART, { image: 'registry.example/skillwright:1', ...values }) as readonly Rendered[];
  return new Map(documents.map((document) => [`${document.kind} ${document.metadata.name}`, document]));
}

function podOf(documents: ReadonlyMap<string, Rendered>, name: string): Pod['spec'] {
  const deployment = documents.get(`Deployment ${name}`);
  if (deployment === undefined) throw new Error(`no deployment ${name}`);
  return (deployment.spec['template'] as Pod).spec;
}

describe('the Helm chart', () => {
  test('starts servers and workers with commands that exist, probes that they answer, and a budget for disruptions', async () => {
    const documents = renderOf({});
    expect([...documents.keys()]).toEqual([
      'Deployment team-server',
      'Service team-server',
      'PodDisruptionBudget team-server',
      'Deployment team-worker',
      'PodDisruptionBudget team-worker',
    ]);
    const server = podOf(documents, 'team-server').containers[0];
    const worker = podOf(documents, 'team-worker').containers[0];
    expect([server['args'], worker['args']]).toEqual([
      ['serve', '--host', '0.0.0.0', '--port', '8787'],
      ['worker', '--slots', '8', '--executor', 'landlock', '--grace', '30', '--health-port', '8788'],
    ]);
    const all = [server['args'], worker['args']] as (readonly string[])[];
    expect(await Promise.all([...all, firstKey(read('examples/fleet/chart/values.yaml'))].map(parsed))).toEqual([
      'serve',
      'worker',
      'fleet',
    ]);
    for (const [container, port, number, routes] of [
      [server, 'http', 8787, 'src/fleet/fleet-server.ts'],
      [worker, 'health', 8788, 'src/fleet/worker-health.ts'],
    ] as const) {
      const probe = (place: string): object => ({ httpGet: { path: place, port } });
      expect(container).toMatchObject({
        ports: [{ name: port, containerPort: number }],
        startupProbe: probe('/healthz'),
        livenessProbe: probe('/healthz'),
        readinessProbe: probe('/readyz'),
        envFrom: [{ secretRef: { name: 'skillwright' } }],
      });
      for (const place of ['/healthz', '/readyz']) expect(read(routes)).toContain(`'${place}'`);
    }
    expect(documents.get('Service team-server')?.spec).toMatchObject({ ports: [{ port: 80, targetPort: 'http' }] });
  });

  test('keeps the restricted profile of pods, and lifts exactly what namespaces need', () => {
    const restricted = {
      runAsNonRoot: true,
      runAsUser: 1000,
      fsGroup: 1000,
      seccompProfile: { type: 'RuntimeDefault' },
    };
    const closed = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } };
    const documents = renderOf({});
    for (const name of ['team-server', 'team-worker']) {
      const { securityContext, containers, hostUsers, automountServiceAccountToken } = podOf(documents, name);
      expect([securityContext, containers[0]['securityContext'], hostUsers, automountServiceAccountToken]).toEqual([
        restricted,
        closed,
        undefined,
        false,
      ]);
    }
    const opened = podOf(
      renderOf({ worker: { privileges: 'namespaces', executor: 'namespaces', grace: 5 } }),
      'team-worker',
    );
    expect(opened).toMatchObject({
      terminationGracePeriodSeconds: 35,
      hostUsers: false,
      securityContext: { ...restricted, seccompProfile: { type: 'Unconfined' } },
      containers: [{ securityContext: { ...closed, procMount: 'Unmasked' } }],
    });
  });

  test('scales workers by what the database says, in place of a fixed number', () => {
    const documents = renderOf({
      autoscaling: { enabled: true, max: 40 },
      worker: { slots: 16, args: ['--model', 'a: b'] },
    });
    expect(documents.get('Deployment team-worker')?.spec['replicas']).toBeUndefined();
    expect(documents.get('ScaledObject team-worker')?.spec).toMatchObject({
      scaleTargetRef: { name: 'team-worker' },
      minReplicaCount: 1,
      maxReplicaCount: 40,
      triggers: [{ metadata: { connectionFromEnv: 'SKILLWRIGHT_DATABASE_URL', targetQueryValue: '16' } }],
    });
    expect(podOf(documents, 'team-worker').containers[0]['args']).toEqual(expect.arrayContaining(['--model', 'a: b']));
  });

  test('is not rendered without an image, and with a value that it does not know', () => {
    expect(() => renderChart(CHART, {})).toThrow('set image to the address');
    expect(() => renderOf({ workers: {} })).toThrow('the chart has no value workers');
  });
});

test('the image is built of the package, with the optional ones that a fleet needs', () => {
  const text = read('examples/fleet/Dockerfile');
  const { peerDependenciesMeta } = JSON.parse(read('package.json')) as { peerDependenciesMeta: object };
  const installed = /npm install --global \$\{PACKAGE\} ([^&]+) &&/.exec(text)?.[1]?.split(' ') ?? [];
  expect(installed).toEqual(['pg', '@dbos-inc/dbos-sdk', 's3mini']);
  expect(installed.filter((name) => !Object.hasOwn(peerDependenciesMeta, name))).toEqual([]);
});
