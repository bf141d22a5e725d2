import type { AttachedWorkspace, OutputSink, ProgramSpec } from '../../core/execution.ts';
import { quoted } from '../../core/text/text.ts';

/** What programs print when they have no network; the first group, if any, is the host. */
const NO_NETWORK = new RegExp(
  [
    String.raw`could not resolve (?:host|proxy)(?: name)?:? ['"‘]?([\w.-]+)`,
    String.raw`getaddrinfo (?:EAI_AGAIN|ENOTFOUND) ([\w.-]+)`,
    String.raw`unable to resolve host(?: address)? ['"‘]?([\w.-]+)`,
    String.raw`host='([\w.-]+)', port=\d+`,
    String.raw`temporary failure in name resolution`,
    String.raw`name or service not known`,
    String.raw`network is unreachable`,
    String.raw`ENETUNREACH`,
    String.raw`EAI_AGAIN`,
    String.raw`failed to (?:resolve|lookup) (?:address|host)`,
  ].join('|'),
  'i',
);
/** Code that uses the network, for programs that wait without printing anything. */
const USES_NETWORK =
  /https?:\/\/(?!(?:localhost|127\.|www\.w3\.org|schemas\.))|\b(?:requests|urllib|httpx|aiohttp|http\.client|axios|node-fetch|undici|fetch\(|curl|wget|pip3? install|npm (?:install|ci)|git (?:clone|pull|fetch|push))/;
/** A program that works without the network has usually printed something by then, or ended. */
const WAIT_MS = 5_000;
/** Characters kept between two chunks, because a message may be split. */
const OVERLAP = 200;

export interface NetworkHint {
  readonly stdout: OutputSink;
  readonly stderr: OutputSink;
  /** Call when the program has ended. */
  stop(): void;
}

export interface NetworkHintOptions {
  readonly spec: Pick<ProgramSpec, 'network'>;
  readonly capabilities: AttachedWorkspace['capabilities'];
  /** The script or the command line. */
  readonly code: string;
  readonly waitMs?: number;
}

/**
 * Tells a program's readers that it has no network as soon as it complains about that, or when it seems to wait for it: many programs
 * retry for minutes, and their messages do not say that the sandbox is the reason.
 */
export function withNetworkHint(
  streams: { readonly stdout: OutputSink; readonly stderr: OutputSink },
  { spec, capabilities, code, waitMs = WAIT_MS }: NetworkHintOptions,
): NetworkHint {
  if (spec.network.length > 0 || capabilities.isolation === 'none') return { ...streams, stop: () => undefined };
  let isDone = false;
  let hasOutput = false;
  const say = (host: string | undefined): void => {
    if (isDone) return;
    isDone = true;
    const how = capabilities.hasNetworkGrants
      ? `allow it with --allow ${host === undefined ? 'HOST' : host}`
      : 'this executor cannot allow hosts';
    const what = host === undefined ? '' : ` (${quoted(host)})`;
    streams.stderr.write(Buffer.from(`skillwright: this program has no network${what}; ${how}\n`));
  };
  const timer = USES_NETWORK.test(code)
    ? setTimeout(() => (hasOutput ? undefined : say(undefined)), waitMs)
    : undefined;
  timer?.unref();
  const watched = (sink: OutputSink): OutputSink => {
    let tail = '';
    return {
      write(chunk) {
        hasOutput = true;
        const isOpen = sink.write(chunk);
        if (isDone) return isOpen;
        const text = tail + Buffer.from(chunk).toString('latin1');
        const found = NO_NETWORK.exec(text);
        tail = text.slice(-OVERLAP);
        if (found !== null) say(found.slice(1).find((host) => host !== undefined));
        return isOpen;
      },
    };
  };
  return {
    stdout: watched(streams.stdout),
    stderr: watched(streams.stderr),
    stop: () => {
      isDone = true;
      clearTimeout(timer);
    },
  };
}
