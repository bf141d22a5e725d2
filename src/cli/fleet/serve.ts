import { packageFile, readGrant } from '#platform';
import { defineCommand, list, option } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import { makeTemporaryFolder } from '#sandbox';
import { portInUse, untilStopped } from '../serving.ts';
import { priceAnswers } from '../agent/price-answers.ts';
import { openRuntime } from '../open-runtime.ts';
import { reportWarning } from '../terminal/terminal.ts';
import { FLEET_FLAGS, fleetOptions, openFleetFor } from './fleet-flags.ts';
import { TRUST_FLAGS, askForTrust } from '../agent/consent.ts';

const flags = {
  ...FLEET_FLAGS,
  ...TRUST_FLAGS,
  port: option('N', 'listen on this port (default: 8787)'),
  host: option('ADDRESS', 'listen on this address; anything but the loopback needs a key first (default: 127.0.0.1)'),
  'webhooks-to': list(
    'private://HOST[:PORT]',
    'a host in your own network that may get webhooks, also by http (default: the internet only)',
  ),
} as const;

/** How long pinned skills are used before their files are read again. */
const PINNED_MS = 5_000;

export const command = defineCommand({
  usage: 'serve --database URL [--artifacts URL] [--port N] [--host ADDRESS]',
  details: [
    'Serves the HTTP API of a fleet: accepts runs, shows them, and takes answers to approvals. Workers do the work: skillwright worker. Each request needs a key: skillwright fleet keys create.',
    'A run gets the skills that this folder has when it is submitted, pinned by digest. Workers fetch them and check the digests. Skills of a project that you have not trusted are left out and named; see --trust-project.',
    'The description of the API is at /api/v1/openapi.json. /healthz and /readyz need no key; /metrics needs one with the right to read. TLS is the work of a reverse proxy.',
    'Ends with Ctrl-C. Nothing is lost when it ends: runs are in the database.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright serve --database postgres://skillwright@db/skillwright', 'serve the skills of this folder'],
    ['skillwright serve --artifacts s3://skillwright', 'keep contents in S3; the database comes from the environment'],
  ],
  positionals: [0, 0],
  async run(invocation) {
    const { flags: options, terminal, signal, surroundings } = invocation;
    const port = Number(options.port ?? '8787');
    if (!Number.isInteger(port) || port < 0 || port > 65_535)
      throw usageError(`--port ${JSON.stringify(options.port)} is not a port`, 'pass a number from 0 to 65535');
    const webhooksTo = (options['webhooks-to'] ?? []).map(readGrant);
    const { openFleetServer, pinSkills, watchDatabase } = await import('#fleet');
    const fleet = await openFleetFor(fleetOptions(invocation));
    let watch: Awaited<ReturnType<typeof watchDatabase>> | undefined;
    try {
      watch = await watchDatabase(fleet.url, fleet.pool);
      const runtime = await openRuntime(invocation);
      await askForTrust(invocation, runtime);
      let pinned: { readonly id: Promise<string>; readonly at: number } | undefined;
      const skillSet = async (): Promise<string> => {
        if (pinned !== undefined && performance.now() - pinned.at < PINNED_MS) return pinned.id;
        const id = runtime.refresh().then(() => pinSkills(fleet, runtime));
        pinned = { id, at: performance.now() };
        id.catch(() => (pinned = undefined));
        return id;
      };
      await skillSet();
      const server = await openFleetServer({
        ...fleet,
        base: makeTemporaryFolder(runtime.executionPlaces.base),
        skillSet,
        page: { runtime, surroundings, price: priceAnswers(runtime), pages: packageFile('dist/console') },
        port,
        webhooksTo,
        host: options.host,
        onNote: (note) => reportWarning(terminal, note),
      }).catch(portInUse(port, 'end what listens there, or choose another --port'));
      terminal.out(server.url);
      terminal.remark('open it in a browser with a key, or submit: POST /api/v1/runs; end with Ctrl-C');
      await untilStopped(signal);
      await server.close();
    } finally {
      await watch?.close();
      await fleet.close();
    }
    return EXIT.done;
  },
});
