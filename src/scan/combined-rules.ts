/** Rules that need several hits: in one section, in one script, or in a document and the script that it names. */
import type { ScanFile, ScanFinding } from './finding.ts';
import type { Hit } from './match.ts';
import { isOnlyNamed } from './credential-use.ts';
import { isDocument, proseOrCode } from './passages.ts';
import { rateFinding, type Topic } from './rate.ts';
import { SCAN_RULES, type RuleId } from './rules.ts';

export interface ScannedFile {
  readonly file: ScanFile;
  /** Safe to print. */
  readonly path: string;
  readonly hits: readonly Hit[];
  /** A document that explains attacks. */
  readonly isExplained: boolean;
}

const SENDS: ReadonlySet<string> = new Set(['send', 'exfiltration', 'copy-elsewhere', 'covert-channel']);
const GATHERS: ReadonlySet<string> = new Set(['collect', 'credential-path', 'environment-harvest', 'personal-data']);
const ACTS: ReadonlySet<string> = new Set([
  ...SENDS,
  'mass-deletion',
  'destructive-command',
  'download-and-run',
  'agent-memory',
  'approval-evasion',
]);
/** Effects that a script must not have if a document orders it for every task. */
const HARMFUL: ReadonlySet<string> = new Set([
  ...SENDS,
  'destructive-command',
  'locks-files',
  'excess-rights',
  'resource-abuse',
  'personal-data',
  'credential-path',
  'environment-harvest',
  'security-tampering',
  'persistence',
]);

interface Pair {
  readonly rule: RuleId;
  readonly first: ReadonlySet<string>;
  readonly second: ReadonlySet<string>;
  /** How close the two hits must be; a section contains passages. */
  readonly within: 'section' | 'passage';
  readonly says: string;
}

const PAIRS: readonly Pair[] = [
  {
    rule: 'collect-and-send',
    first: GATHERS,
    second: SENDS,
    within: 'section',
    says: 'gathers and sends in one place',
  },
  { rule: 'send-after-task', first: new Set(['standing']), second: SENDS, within: 'passage', says: 'an order to send' },
  {
    rule: 'hidden-action',
    first: new Set(['conceal-from-user']),
    second: ACTS,
    within: 'section',
    says: 'acts and hides it',
  },
  {
    rule: 'hidden-action',
    first: new Set(['unsaid']),
    second: new Set(['download-and-run', 'agent-memory', 'approvals-off', 'remote-instructions', 'forwards']),
    within: 'section',
    says: 'acts, unsaid',
  },
  {
    rule: 'agent-memory',
    first: new Set(['agent-file']),
    second: new Set(['copy-elsewhere', 'exfiltration', 'download-and-run', 'remote-instructions']),
    within: 'section',
    says: 'tells later sessions to reach out',
  },
  {
    rule: 'payment-redirect',
    first: new Set(['personal-data']),
    second: new Set(['wallet']),
    within: 'section',
    says: 'reads the clipboard and knows addresses of wallets',
  },
];

/** Applies the rules that need only one file. */
export function findInFile(scanned: ScannedFile, topic: Topic): readonly ScanFinding[] {
  const pairs = PAIRS.flatMap((pair) => findPair(pair, scanned, topic));
  if (!isDocument(scanned.file)) return pairs;
  return [
    ...pairs,
    ...findLeaks(scanned, topic),
    ...findAgainstUser(scanned, topic),
    ...findStandingOrders(scanned.hits, scanned.path),
  ];
}

/** Longer paragraphs are reference text, in which all words occur. */
const MAX_ORDER = 1_200;

/** Finds sections that take something private, give it away and do not want it said; an image that loads a URL says nothing either. */
function findLeaks({ file, path, hits, isExplained }: ScannedFile, topic: Topic): readonly ScanFinding[] {
  const found = new Map<number, ScanFinding>();
  if (!file.path.endsWith('.md')) return [];
  // The row of a table is no order.
  const isOrderly = ({ text }: Hit['passage']): boolean => text.length < MAX_ORDER && !text.startsWith('|');
  for (const hit of hits.filter(({ means, passage }) => means === 'gives-away' && isOrderly(passage))) {
    const { section } = hit.passage;
    const taken = hits.find(
      ({ means, passage }) => means === 'private' && passage.section === section && isOrderly(passage),
    );
    const isSecret =
      hit.excerpt.includes('![') ||
      hits.some(
        (one) => one.passage.section === section && (one.means === 'unsaid' || one.means === 'conceal-from-user'),
      );
    if (taken === undefined || !isSecret || found.has(section)) continue;
    const severity = rateFinding('collect-and-send', `${taken.passage.text} ${hit.passage.text}`, {
      file,
      topic,
      isExplained,
    });
    const message = `gives away what is private, unsaid: ${taken.excerpt} and ${hit.excerpt}`;
    found.set(section, { ...finding('hidden-action', path, hit, message), severity });
  }
  return [...found.values()];
}

function findPair(
  { rule, first, second, within, says }: Pair,
  { file, path, hits, isExplained }: ScannedFile,
  topic: Topic,
): readonly ScanFinding[] {
  const found = new Map<unknown, ScanFinding>();
  // "List all files" in the comment of a script is not an order.
  const isOrdered = (means: string): boolean =>
    isDocument(file) || !['collect', 'agent-file', 'unsaid'].includes(means);
  const isUsed = ({ means, passage: { kind, text } }: Hit): boolean =>
    means === 'credential-path' && proseOrCode(kind) === 'code' && isOnlyNamed(text, file.text);
  const firsts = hits.filter(
    (hit) =>
      first.has(hit.means) && isOrdered(hit.means) && !isUsed(hit) && !(rule === 'hidden-action' && isCited(hit)),
  );
  for (const hit of hits.filter(({ means }) => second.has(means))) {
    const key = within === 'section' ? hit.passage.section : hit.passage;
    const others = firsts.filter((one) => (within === 'section' ? one.passage.section : one.passage) === key);
    const other = others.find((one) => !isOwnCredential(one)) ?? others[0];
    if (other === undefined || found.has(key)) continue;
    const rated = rateFinding(rule, `${other.passage.text} ${hit.passage.text}`, { file, topic, isExplained });
    const severity = isOwnCredential(other) ? 'high' : rated;
    found.set(key, { ...finding(rule, path, hit, `${says}: ${other.excerpt} and ${hit.excerpt}`), severity });
  }
  return [...found.values()];
}

/** Words between quotation marks: they are spoken about. */
function isCited({ passage: { text }, excerpt }: Hit): boolean {
  const said = excerpt.slice(1, -1);
  const at = text.indexOf(said);
  return (
    at > 0 && /["'\x60]/.test(text.charAt(at - 1)) && /^[^"'\x60]{0,24}["'\x60]/.test(text.slice(at + said.length))
  );
}

/** The place where agents keep the credentials of skills: to send them to their service is what they are for. */
function isOwnCredential({ means, severity }: Hit): boolean {
  return means === 'credential-path' && severity === 'medium';
}

const AGAINST_USER: ReadonlySet<string> = new Set([
  'conceal-from-user',
  'deceive-user',
  'hidden-mode',
  'override-instructions',
  'approval-evasion',
  'remote-instructions',
  'persistence',
]);

/** Finds sections with two different rules that act against the user. */
function findAgainstUser({ file, path, hits, isExplained }: ScannedFile, topic: Topic): readonly ScanFinding[] {
  const against = hits.filter(
    ({ means, severity, passage }) => AGAINST_USER.has(means) && severity === 'high' && passage.kind === 'body',
  );
  const firsts = new Map<number, Hit>();
  const found = new Map<number, ScanFinding>();
  for (const hit of against) {
    const { section } = hit.passage;
    const first = firsts.get(section) ?? hit;
    firsts.set(section, first);
    if (first.means === hit.means || found.has(section)) continue;
    const severity = rateFinding('against-user', hit.passage.text, { file, topic, isExplained });
    const message = `${first.says}, and ${hit.says}: ${hit.excerpt}`;
    found.set(section, { ...finding('against-user', path, hit, message), severity });
  }
  return [...found.values()];
}

/** Finds passages that order a script or a deletion for every task. */
function findStandingOrders(hits: readonly Hit[], path: string): readonly ScanFinding[] {
  const found = new Map<unknown, ScanFinding>();
  for (const hit of hits.filter(isOrder)) {
    const act = hits.find(
      (one) => one.passage === hit.passage && (one.means === 'run-script' || one.means === 'remove'),
    );
    if (act !== undefined && !found.has(hit.passage))
      found.set(
        hit.passage,
        finding('standing-order', path, hit, `orders for every task: ${hit.excerpt} ${act.excerpt}`),
      );
  }
  return [...found.values()];
}

function isOrder({ means }: Hit): boolean {
  return means === 'standing' || means === 'urged';
}

/** Finds documents that order a script for every task, where that script has harmful effects. */
export function findAcrossFiles(scanned: readonly ScannedFile[]): readonly ScanFinding[] {
  const scripts = scanned.filter(({ file }) => !isDocument(file));
  return scanned
    .filter(({ file }) => isDocument(file))
    .flatMap(({ path, hits }) =>
      hits
        .filter(
          ({ means, passage }) => means === 'run-script' && hits.some((one) => isOrder(one) && one.passage === passage),
        )
        .flatMap((hit) => {
          const named = scripts.find(({ file }) =>
            hit.excerpt.includes(file.path.slice(file.path.lastIndexOf('/') + 1)),
          );
          const harmful = named?.hits.find(({ means, severity }) => HARMFUL.has(means) && severity !== 'low');
          return harmful === undefined
            ? []
            : [finding('effect-of-script', path, hit, `${hit.excerpt} ${harmful.says}: ${harmful.excerpt}`)];
        }),
    );
}

const COLLECTS = /\b(?:collect|gather|copy|copies|pack|archive|bundle|read|add|include|take|fetch|save)\w{0,3}\b/i;
const NAMED_FILE = /(?<![\w.-])[\w.-]{1,80}\.(?:md|txt|csv|tsv|ya?ml|json|toml|ini)\b/gi;

/** Finds orders in pieces: one file lists secrets, another or SKILL.md sends, and SKILL.md has the agent do both. */
export function findSplitOrders(scanned: readonly ScannedFile[], topic: Topic): readonly ScanFinding[] {
  const main = scanned.find(({ file }) => file.path === 'SKILL.md');
  if (main === undefined) return [];
  if (!scanned.some((one) => one !== main && one.hits.some(namesSecret))) return [];
  const lines = main.file.text.split('\n');
  const others = new Map(
    scanned
      .filter(({ file }) => file !== main.file && isRead(file))
      .map((one) => [one.file.path.slice(one.file.path.lastIndexOf('/') + 1).toLowerCase(), one]),
  );
  const namedIn = (line: string): readonly ScannedFile[] =>
    [...line.matchAll(NAMED_FILE)].flatMap(([name]) => others.get(name.toLowerCase()) ?? []);
  const lists = (line: string): Hit | undefined =>
    namedIn(line)
      .flatMap(({ hits }) => hits)
      .find(namesSecret);
  return lines.flatMap((line, at) => {
    const listed = COLLECTS.test(line) ? lists(line) : undefined;
    if (listed === undefined) return [];
    // The steps that follow.
    const next = lines.slice(at, at + MAX_STEPS).flatMap(namedIn);
    const sent = [main, ...next]
      .flatMap((one) => one.hits.map((hit) => ({ one, hit })))
      .find(
        ({ one, hit }) =>
          hit.means === 'copy-elsewhere' &&
          hit.severity === 'high' &&
          (one !== main || (hit.line > at && hit.line <= at + MAX_STEPS)),
      );
    if (sent === undefined) return [];
    const { one, hit } = sent;
    const severity = rateFinding('collect-and-send', hit.passage.text, {
      file: one.file,
      topic,
      isExplained: one.isExplained,
    });
    const message = `has what another file lists gathered and sent: ${listed.excerpt} and ${hit.excerpt}`;
    return [{ ...finding('collect-and-send', one.path, hit, message), severity: one === main ? 'critical' : severity }];
  });
}

const namesSecret = ({ means, severity }: Hit): boolean => means === 'credential-path' && severity === 'high';
const MAX_STEPS = 8;

/** What an agent reads as it is. */
function isRead(file: ScanFile): boolean {
  return isDocument(file) || /\.(?:csv|tsv|ya?ml|json|toml|ini)$/i.test(file.path);
}

function finding(rule: RuleId, path: string, { line, column }: Hit, message: string): ScanFinding {
  return { rule, severity: SCAN_RULES[rule].severity, path, line, column, message };
}

const EXECUTES = /^(?:bash|shell|run_script|exec|execute|terminal|computer|\*)/i;
const NETWORK = /^(?:webfetch|websearch|web_fetch|fetch|http|browser|mcp__|\*)/i;
const USES_NETWORK: ReadonlySet<string> = new Set(['send', 'exfiltration', 'download-and-run', 'covert-channel']);

/** Finds network access of a skill that declares tools, none of which executes programs or uses the network. */
export function findUndeclaredAccess(
  scanned: readonly ScannedFile[],
  allowedTools: readonly string[] = [],
): readonly ScanFinding[] {
  if (allowedTools.length === 0 || allowedTools.some((tool) => EXECUTES.test(tool) || NETWORK.test(tool))) return [];
  return scanned.flatMap(({ path, hits }) => {
    const hit = hits.find(({ means }) => USES_NETWORK.has(means));
    if (hit === undefined) return [];
    return [
      finding('undeclared-access', path, hit, `reaches the network, which its allowed-tools do not: ${hit.excerpt}`),
    ];
  });
}
