import { quoted, type AttachedWorkspace, type OutputSink, type ProgramSpec, type ProgramEnd } from '#core';

/** What programs print when they have no network; the first group, if any, is the host. */
const NO_NETWORK = new RegExp(
  [
    String.raw`could not resolve (?:host|proxy)(?: name)?:? ['"‘]?([\w.-]+)`,
    String.raw`getaddrinfo (?:EAI_AGAIN|ENOTFOUND) ([\w.-]+)`,
    String.raw`https?://([\w.-]+)\S* (?:error|failed).{0,20}EAI_AGAIN`,
    String.raw`unable to resolve host(?: address)? ['"‘]?([\w.-]+)`,
    String.raw`host='([\w.-]+)', port=\d+`,
    String.raw`temporary failure in name resolution`,
    String.raw`name or service not known`,
    String.raw`network is unreachable`,
    String.raw`ENETUNREACH`,
    String.raw`EAI_AGAIN`,
    // The whole message of fetch in Node.
    String.raw`\bfetch failed\b`,
    String.raw`failed to (?:resolve|lookup) (?:address|host)`,
  ].join('|'),
  'gi',
);
/**
 * What scripts say that catch the error themselves. The text is read byte by byte. Help texts mention the network too, so this counts only
 * where a program that uses the network failed.
 */
const MENTIONS = new RegExp(
  ['network', 'connection', 'connect to', '网络', '连接'].map((word) => Buffer.from(word).toString('latin1')).join('|'),
  'i',
);
const URL_HOST = /https?:\/\/([a-z0-9.-]{1,253})/gi;
const LONGEST_HOST = 253;
const MAX_HOSTS = 10;
/** Code that uses the network, for programs that wait in silence. */
const USES_NETWORK =
  /https?:\/\/(?!(?:localhost|127\.|www\.w3\.org|schemas\.))|\b(?:requests|urllib|httpx|aiohttp|http\.client|axios|node-fetch|undici|fetch\(|curl|wget|npx|(?:pip3?|uv|npm|pnpm|yarn|bun|gem|cargo|go|apt|apt-get|brew) (?:i|ci|install|add|create|sync|get|update|pip)\b|git (?:clone|pull|fetch|push)|gh (?:api|pr|issue|repo|run))/;
/** A program that works without the network has usually printed something more by then, or ended. */
const WAIT_MS = 5_000;
/** A program that serves waits for others. */
const SERVES = /\blisten\(|serve_forever|HTTPServer|http\.server|uvicorn|\.run\([^)\n]*port/;
/** Characters kept between two chunks, because a message may be split. */
const OVERLAP = 200;

export interface NetworkHint {
  readonly stdout: OutputSink;
  readonly stderr: OutputSink;
  /** Call when the program has ended. */
  stop(): void;
  /** The hosts that the program missed, if a flag can allow them: those it complained about, else those in its code. */
  refused(isFailed: boolean): readonly NonNullable<ProgramEnd['refused']>[number][];
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
  if (spec.network.length > 0 || capabilities.isolation === 'none')
    return { ...streams, stop: () => undefined, refused: () => [] };
  const hosts = new Set<string>();
  let isDone = false;
  let hasComplained = false;
  let isMentioned = false;
  const say = (host: string | undefined): void => {
    if (isDone) return;
    isDone = true;
    const how = capabilities.hasNetworkGrants
      ? `allow it with --allow ${host === undefined ? 'HOST' : host}`
      : 'this executor cannot allow hosts';
    const what = host === undefined ? '' : ` (${quoted(host)})`;
    streams.stderr.write(Buffer.from(`skillwright: this program has no network${what}; ${how}\n`));
  };
  const timer = USES_NETWORK.test(code) ? setTimeout(() => say(undefined), waitMs) : undefined;
  timer?.unref();
  const serves = SERVES.test(code);
  /** A host at the end of a chunk may continue in the next one. */
  const examine = (text: string, isEnd: boolean): void => {
    isMentioned ||= MENTIONS.test(text);
    for (const complaint of text.matchAll(NO_NETWORK)) {
      const host = complaint.slice(1).find((group) => group !== undefined);
      if (host !== undefined && !isEnd && text.endsWith(complaint[0])) continue;
      if (host !== undefined && host.length <= LONGEST_HOST && hosts.size < MAX_HOSTS)
        hosts.add(host.replace(/\.+$/, ''));
      hasComplained = true;
      say(host);
    }
  };
  const tails: string[] = [];
  const watched = (sink: OutputSink): OutputSink => {
    const place = tails.push('') - 1;
    return {
      write(chunk) {
        // From here on the silence counts again.
        if (serves) clearTimeout(timer);
        else if (!isDone) timer?.refresh();
        const isOpen = sink.write(chunk);
        const text = `${tails[place] ?? ''}${Buffer.from(chunk).toString('latin1')}`;
        examine(text, false);
        tails[place] = text.slice(-OVERLAP);
        return isOpen;
      },
    };
  };
  return {
    stdout: watched(streams.stdout),
    stderr: watched(streams.stderr),
    stop: () => {
      for (const tail of tails) examine(tail, true);
      isDone = true;
      clearTimeout(timer);
    },
    refused: (isFailed) => {
      const isLikely = isFailed && isMentioned && USES_NETWORK.test(code);
      if (!(hasComplained || isLikely) || !capabilities.hasNetworkGrants) return [];
      const named = hosts.size > 0 ? [...hosts] : [...code.matchAll(URL_HOST)].flatMap(([, host = '']) => host);
      return [...new Set(named)].slice(0, MAX_HOSTS).map((host) => ({ host, port: 0, reason: 'not-granted' }));
    },
  };
}
