/** The findings of the data-flow rules. */
import { printable, quoted } from '#core';
import type { ScanFile, ScanFinding } from '../finding.ts';
import { matchText, type Hit } from '../match.ts';
import { rateFinding, type Topic } from '../rate.ts';
import { isRuleId } from '../rules.ts';
import { findFlows, type DecodedText, type Flow } from './flow.ts';

/** `ends` are the files with a `flow` signal. */
export function findFlowFindings(
  files: readonly ScanFile[],
  { ends, topic }: { readonly ends: readonly ScanFile[]; readonly topic: Topic },
): FlowFindings {
  if (ends.length === 0) return { findings: [], folded: new Map() };
  const { flows, decoded, persisted, computed } = findFlows(findLinked(files, ends));
  const findings = [
    ...flows.map((flow) => toFinding(flow, topic)),
    ...decoded.flatMap((one) => readDecoded(one, topic)),
    ...persisted.flatMap((one) => readPersisted(one, topic, files)),
  ];
  const folded = new Map<ScanFile, readonly Hit[]>();
  for (const { file, line, text, isFence } of computed) {
    if (isFence) continue;
    const name = [...text.matchAll(CONCEALED)]
      .map(([one]) => one)
      .find((one) => !file.text.includes(one) && !(one.startsWith('http') && MAKES_URL.test(file.text)));
    if (name !== undefined)
      findings.push({
        rule: 'encoded-payload',
        severity: rateFinding('encoded-payload', text, { file, topic }),
        path: printable(file.path),
        line,
        column: 1,
        message: `computes the name ${quoted(name)}, which is written nowhere: ${quoted(text, 80)}`,
      });
    const { hits } = matchText({ path: 'computed.sh', text, isExecutable: false });
    const found = hits.filter(({ passage }) => passage.kind === 'script').map((hit) => ({ ...hit, line }));
    if (found.length > 0) folded.set(file, [...(folded.get(file) ?? []), ...found]);
  }
  return { findings, folded };
}

/** Names that no code has a reason to hide. */
const CONCEALED =
  /\b(?:curl|wget|netcat|ncat|socat|bash|powershell|eval|exec|execSync|system|popen|subprocess|child_process|urlopen|urllib|requests|socket|id_rsa|id_ed25519|authorized_keys|crontab|base64|https?:\/\/[\w.-]{4,80})\b|\.ssh\b|\.aws\b|\.netrc\b|\.gnupg\b|\/dev\/tcp\b/g;

/** A host that is computed in plain sight. */
const MAKES_URL = /https?:\/\/(?:\$\{|\$\w|\{|%s|["'`] ?[+,.])/;

interface FlowFindings {
  readonly findings: readonly ScanFinding[];
  /** Hits in texts that are computed from constants. */
  readonly folded: ReadonlyMap<ScanFile, readonly Hit[]>;
}

const MAX_LINKS = 4;

/** The files between which data can pass: by an import, a start or a shared file. */
function findLinked(files: readonly ScanFile[], ends: readonly ScanFile[]): readonly ScanFile[] {
  let linked = ends.filter((file) => !isTest(file, files));
  for (let round = 0; round < MAX_LINKS; round += 1) {
    const names = [...new Set(linked.flatMap(({ path, text }) => [...linkNames(path), ...sharedFiles(text)]))];
    const isLinked = (file: ScanFile): boolean =>
      linked.includes(file) ||
      names.some((name) => file.text.includes(name)) ||
      linked.some(({ text }) => linkNames(file.path).some((name) => text.includes(name)));
    const next = files.filter((file) => isLinked(file) && !isTest(file, files));
    if (next.length === linked.length) break;
    linked = next;
  }
  return linked;
}

/** Tests call functions with any text. One that SKILL.md names is a script like others. */
function isTest({ path }: ScanFile, files: readonly ScanFile[]): boolean {
  if (!/(?:^|\/)(?:tests?|__tests__)\/|[._-](?:test|spec)\.\w{1,5}$|(?:^|\/)test_\w{1,80}\.py$/.test(path))
    return false;
  const name = path.slice(path.lastIndexOf('/') + 1);
  return files.every((file) => file.path !== 'SKILL.md' || !file.text.includes(name));
}

/** By this name another file imports or starts it. A short one counts only with its extension or as the end of a path. */
function linkNames(path: string): readonly string[] {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const stem = name.replace(/\.\w{1,10}$/, '');
  return stem.length >= 4 ? [stem] : [name, `/${stem}'`, `/${stem}"`, `import ${stem}`, `from ${stem} `];
}

/** Files outside the skill through which scripts can pass data. */
function sharedFiles(text: string): readonly string[] {
  return [...text.matchAll(/(?:tmp|shm|cache|gettempdir\(\)|tmpdir\(\))["'{}/+, ]{1,8}([\w.-]{4,80})/gi)].map(
    ([, name = '']) => name,
  );
}

function toFinding({ rule, file, line, says, hosts }: Flow, topic: Topic): ScanFinding {
  const rated = rateFinding(rule, hosts.map((host) => `https://${host}`).join(' '), { file, topic });
  const isExpected = rule === 'download-and-run' && INSTALLS.test(topic.text) && isVerified(file.text);
  const severity = isExpected ? 'high' : rated;
  return { rule, severity, path: printable(file.path), line, column: 1, message: says };
}

const INSTALLS = /\b(?:install|download|set(?:s|ting)? ?up|bootstrap|fetch)/;
const DIGEST_CHECK =
  /\bsha(?:256|512)(?:sum)?\b[^\n]{0,160}(?:!=|==|-ne\b|-c\b|--check\b|--status\b)|\bshasum\b[^\n]{0,60} -\w{0,3}c|\bcompare_digest\(|\bget-filehash\b[^\n]{0,160}-(?:ne|eq)\b|\b(?:minisign|cosign) (?:-v|verify)|\b(?:digest|checksum|actual|computed|sha256|hash)\w{0,10} ?(?:!==?|===?|-ne) ?["'\w$]/i;
/** A digest in the file, or the published list of one release. */
const EXPECTED_DIGEST = /(?<![\da-f])(?:[\da-f]{64}|[\da-f]{128})(?![\da-f])/i;
const RELEASE_LIST = /\/releases\/download\/[^\s"'\x60]{0,80}[\d{$][\s\S]{0,4000}\b(?:checksums?|sha256sums?)\b/i;

/** Whether a program is started only if it is the one that the author saw. */
function isVerified(text: string): boolean {
  return DIGEST_CHECK.test(text) && (EXPECTED_DIGEST.test(text) || RELEASE_LIST.test(text));
}

/** Reads text that only a decoder shows as code. What is dangerous in it was hidden on purpose. */
function readDecoded({ file, line, text }: DecodedText, topic: Topic): readonly ScanFinding[] {
  const { hits } = matchText({ path: 'decoded.sh', text, isExecutable: false });
  const hit = hits.find(({ means, severity }) => isRuleId(means) && (severity === 'high' || severity === 'critical'));
  if (hit === undefined) return [];
  const severity = rateFinding('encoded-payload', text, { file, topic });
  const message = `hides in encoded text what ${hit.says}: ${quoted(text, 80)}`;
  return [{ rule: 'encoded-payload', severity, path: printable(file.path), line, column: 1, message }];
}

const REACHES_OUT: ReadonlySet<string> = new Set([
  'download-and-run',
  'encoded-payload',
  'reverse-shell',
  'exfiltration',
  'covert-channel',
  'send',
]);
/** A command that asks for a password in place of the real one. */
const SHADOWS = /\b(?:sudo|su|ssh|passwd|gpg|doas)(?: ?\( ?\) ?\{|=)[^\n]{0,200}\bread -\w{0,4}s/;

/** A command, not a setting. */
const RUNS =
  /(?:^|[;&|'"\s(!=])(?:python[\d.]{0,4}|node|(?:ba|z)?sh|perl|ruby|curl|wget|nohup|source|exec|eval|setsid|osascript|\.) ["'$~/\w.-]|&\s*(?:['"]|$)|(?:^|[;&|('"] ?|\b(?:then|do|exec|nohup) )(?:~|\$HOME|\.)\/[\w./-]{2,80} ?(?:[>&;|]|--?\w)|\bimport \w|["'](?:command|hooks|mcpservers)["']|\b(?:proxycommand|localcommand|run-shell|insteadof|sshcommand|prompt_command|ld_preload|bash_env|node_options|pythonstartup|index-url)\b/i;
const OF_AGENT = /\.(?:claude|codex|gemini|cursor|qwen|copilot)\b[^\n]{0,60}\.(?:json|toml)\b/i;
const ADDS_COMMAND = /\bhooks\b|\bmcp_?servers\b/i;
const GIVES_ACCESS = /\bauthorized_keys\b.*\b(?:ssh-|ecdsa-|echo|cat|write)|\/etc\/sudoers\b.*\ball\b/is;
/** What tools have written there when they are installed. */
const SETS_UP =
  /\bPATH\b|\bfpath\b|\bcompletion|\bcompinit|\binit (?:-\s)?(?:bash|zsh|fish)?|\bhook (?:bash|zsh)|\balias \w/;

/** The instructions name the file, or what such files are for. */
function isAnnounced(text: string, files: readonly ScanFile[]): boolean {
  const instructions = files.find(({ path }) => path === 'SKILL.md')?.text.toLowerCase();
  if (instructions === undefined) return true;
  const names = [...text.toLowerCase().matchAll(/([\w-]{4,40})(?=["'\s)]|$)/g)].map(([, name = '']) => name);
  return (
    ANNOUNCES.test(instructions) || names.some((name) => START_FILE_NAME.test(name) && instructions.includes(name))
  );
}

const START_FILE_NAME = /rc$|profile|login|conf|hook|commit|push|settings|mcp|crontab|autostart/;
const ANNOUNCES =
  /\b(?:bash|zsh)rc|shell (?:profile|config\w{0,8}|start-?up|rc)|start-?up file|\bgit hooks?|\bpre-commit|\bpost-commit|\bcron|systemd|launchd|launch ?agent|autostart|direnv|\bdotfiles?|\bdaemon|at (?:boot|login)|\bsettings\.json|\bmcp(?:\.json| servers?)|\bhooks\b|\.gitconfig|git config|pip\.conf|\.npmrc|tmux|\bvim|\.local\/bin|on your path|ssh[ _](?:config|key|access)|authorized|copy-id|sudoers|\bschedul/;

/** What runs by itself from now on, and loads code or sends data. */
function readPersisted(
  { file, line, text, isFence }: DecodedText,
  topic: Topic,
  files: readonly ScanFile[],
): readonly ScanFinding[] {
  const { hits } = matchText({ path: 'startup.sh', text, isExecutable: false });
  const hit = hits.find(({ means, severity }) => REACHES_OUT.has(means) && severity !== 'medium');
  const content = text.replaceAll(/>>? ?\S{1,200}/g, ' ');
  const isUnsaid =
    !isFence &&
    (RUNS.test(content) || GIVES_ACCESS.test(text) || (OF_AGENT.test(text) && ADDS_COMMAND.test(file.text))) &&
    !SETS_UP.test(text) &&
    !isAnnounced(text, files);
  if (hit === undefined && !SHADOWS.test(text) && !isUnsaid) return [];
  const severity = rateFinding('persistence', text, { file, topic });
  const message = `arranges to run by itself what ${hit === undefined ? 'the instructions do not speak of' : hit.says === '' ? 'reaches out' : hit.says}: ${quoted(text, 80)}`;
  return [{ rule: 'persistence', severity, path: printable(file.path), line, column: 1, message }];
}
