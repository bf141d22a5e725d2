import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';

import { COMMANDS } from '../../../src/cli/commands.ts';
import { PROJECT } from '../../files-below.ts';

const read = (name: string): string => readFileSync(path.join(PROJECT, name), 'utf8');

test('docker-compose.yml starts a database, a server and workers with commands that exist', () => {
  const { services }: { services: Record<string, { image: string; command?: readonly string[] }> } = parse(
    read('docker-compose.yml'),
    { merge: true },
  );
  expect(Object.keys(services)).toEqual(['database', 'server', 'worker']);
  const words = Object.values(services).flatMap(
    ({ command }) => /exec skillwright (\w+)/.exec(command?.at(-1) ?? '')?.[1] ?? [],
  );
  expect(words).toEqual(['serve', 'worker']);
  expect(COMMANDS.map(({ name }) => name)).toEqual(expect.arrayContaining(words));
});

test('the Kubernetes manifest has a server with probes, workers with time to drain, and a service', () => {
  const documents = parseAllDocuments(read('examples/fleet.k8s.yml')).map((document): unknown => document.toJS());
  expect(documents).toMatchObject([
    {
      kind: 'Deployment',
      spec: {
        template: {
          spec: {
            containers: [
              {
                args: ['serve', '--host', '0.0.0.0', '--port', '8787'],
                livenessProbe: { httpGet: { path: '/healthz' } },
              },
            ],
          },
        },
      },
    },
    { kind: 'Deployment', spec: { template: { spec: { terminationGracePeriodSeconds: 60 } } } },
    { kind: 'Service', spec: { ports: [{ port: 80, targetPort: 8787 }] } },
  ]);
});
