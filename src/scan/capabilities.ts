/**
 * Rules about what a script can do as a whole. Data that is followed precisely can be lost in any rewriting; that a script for CSV files has
 * both the path of a key and a way to another host cannot. Only what the instructions do not speak of counts.
 */
import { printable } from '#core';
import type { ScanFile, ScanFinding } from './finding.ts';
import type { ScannedFile } from './combined-rules.ts';
import type { Hit } from './match.ts';
import { hostsIn, isOnlyNamed, isOwnHost, isTokenOfHosts, LOCAL_HOST } from './credential-use.ts';
import { isDocument, isTestFile } from './passages.ts';
import { isCommandFile } from './flow/executed-text.ts';
import { hasOnlyLocalSockets } from './flow/marks.ts';
import { SUBJECTS } from './patterns/capabilities.ts';
import { CAPABILITY_PAIRS, type CapabilityPair } from './patterns/capability-pairs.ts';
import { FROM_WELL_KNOWN_INSTALLER } from './patterns/running.ts';
import { rateFinding, readName, withoutName, type Topic } from './rate.ts';
import type { RuleId } from './rules.ts';

/** The files of a skill, what its instructions say, and what it is about. */
interface Skill {
  readonly scripts: readonly Script[];
  /** SKILL.md in lower case. */
  readonly instructions: string;
  /** The same without the name of the skill: a name tells no reader what a script does. */
  readonly spoken: string;
  readonly topic: Topic;
}

interface Script {
  readonly file: ScanFile;
  readonly hits: readonly Hit[];
  readonly hosts: readonly string[];
}

const DATA =
  /(?<!(?:^|\/)package)\.(?:jsonl?|csv|tsv|ya?ml|xml|log|lock|toml|ini|cfg|css|map)$|(?:^|\/)\.(?:\w{1,20}ignore|gitattributes|editorconfig|env[\w.-]{0,20})$/i;
const COMMENT = /^(?:#(?!!)|\/\/|\/?\*|--|<#|rem |"""|''')/i;
const PRINTS =
  /^(?:[\w.]{0,20}(?:echo|print|printf|puts|say|write-(?:host|output|error|warning)|log|info|warn|warning|error|fail|die|raise|throw|help|append|push|usage)\w{0,10}\b|["'`f]["'`]|["'`]|[-*|] )/i;
/** The expression that a command searches for. */
const SEARCHED = /\b(?:[efz]?grep|rg|ag|ack)(?: -[\w-]{1,30})* (?:'[^'\n]{0,400}'|"[^"$`\n]{0,400}")/g;
const REDIRECTS = />>? ?["']?[~$/\w.]/;
/** Languages that `flow/` reads. In the others more is guessed. */
const FOLLOWED = /\.(?:pyw?|[mc]?[jt]sx?|sh|bash|zsh|ksh|fish)$|(?:^|\/)(?:makefile|package\.json)$/i;
const FOLLOWED_PROGRAM = /^#![^\n]{0,80}\b(?:python|node|bun|deno|(?:ba|z|k|da)?sh)/;
/** Bundles have everything in them. */
const MAX_SCRIPT = 200_000;

/** Finds combinations of capabilities in scripts that the instructions do not speak of. `folded` are hits in computed texts. */
export function findCapabilities(
  scanned: readonly ScannedFile[],
  folded: ReadonlyMap<ScanFile, readonly Hit[]>,
  topic: Topic,
): readonly ScanFinding[] {
  if (!scanned.some(({ hits }) => hits.some(({ means }) => STARTS.has(means))) && folded.size === 0) return [];
  const instructions = scanned.find(({ file }) => file.path === 'SKILL.md')?.file.text.toLowerCase();
  if (instructions === undefined) return [];
  const scripts = scanned
    .filter(
      ({ file }) =>
        isScript(file, instructions) &&
        (!DATA.test(file.path) || isCommandFile(file) || isUsed(file, scanned, instructions)),
    )
    .map(({ file, hits }) => ({
      file,
      hits: [
        ...hits.filter(
          (hit) =>
            isRun(hit, file) && !(DATA.test(file.path) && isCommandFile(file) && !OF_COMMAND_FILES.has(hit.means)),
        ),
        ...(folded.get(file) ?? []),
      ],
      hosts: hostsIn(file.text),
    }));
  const skill = { scripts, instructions, spoken: withoutName(instructions), topic };
  return scripts.flatMap((script) => [
    ...findTheft(script, skill),
    ...findChanges(script, skill),
    ...findDeletions(script, skill),
    ...findForeignCode(script, skill),
    ...CAPABILITY_PAIRS.flatMap((pair) => findPair(pair, script, skill)),
  ]);
}

/** Settings name tokens and tools of all kinds; what counts is which code they bring. */
const OF_COMMAND_FILES: ReadonlySet<string> = new Set([
  'download-and-run',
  'editor-start',
  'reaches',
  'all-secrets',
  'stays',
]);

const STARTS: ReadonlySet<string> = new Set([
  'all-secrets',
  'takes',
  'stays',
  'evaluates',
  'connects',
  'looks-up',
  'download-and-run',
  'destructive-command',
  'erases',
  'skills-folder',
  'loosens',
  'python-start',
  'editor-start',
]);

function isScript({ path, text, binary }: ScanFile, instructions: string): boolean {
  return (
    binary === undefined &&
    text.length <= MAX_SCRIPT &&
    !isDocument({ path, text }) &&
    // What runs in a container is not the machine of the user.
    !/(?:^|\/)(?:dockerfile|containerfile)[^/]{0,40}$/i.test(path) &&
    (!isTestFile(path) || isNamedTest(path, instructions))
  );
}

/** Data with commands, of a script that starts programs. */
function isUsed(data: ScanFile, scanned: readonly ScannedFile[], instructions: string): boolean {
  const { path, text } = data;
  const name = path.slice(path.lastIndexOf('/') + 1);
  return (
    name !== 'package-lock.json' &&
    scanned.some(
      ({ file, hits }) =>
        file.path !== path &&
        !isDocument(file) &&
        !DATA.test(file.path) &&
        (file.text.includes(name) || isArgument(data, file, instructions)) &&
        (COMMANDS.test(text) || hits.some(({ means }) => STARTS_OR_SENDS.has(means))),
    )
  );
}

/** The instructions have the script read the data. */
function isArgument(data: ScanFile, { path }: ScanFile, instructions: string): boolean {
  const [name = '', script = ''] = [data.path, path].map((one) => one.slice(one.lastIndexOf('/') + 1).toLowerCase());
  if (!instructions.includes(name)) return false;
  return instructions
    .split('\n')
    .some((line) => line.includes(script) && line.slice(line.indexOf(script)).includes(name));
}

/** Entries of settings that are commands. */
const COMMANDS = /["'](?:\(\)|cmd|command|args|exec|run|script|shell)["']\s{0,4}:/i;
const STARTS_OR_SENDS: ReadonlySet<string> = new Set(['starts', 'evaluates', 'reaches', 'takes']);

/** The instructions have it run: by its name, or with all tests of Go, which has no other entry to them. */
function isNamedTest(path: string, instructions: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  return instructions.includes(name) || (name.endsWith('_test.go') && /\bgo test\b/.test(instructions));
}

/** Comments, texts that are printed and those that are searched for do nothing. */
function isRun({ passage: { kind, text }, excerpt }: Hit, { path }: ScanFile): boolean {
  // Nothing in data prints.
  if (DATA.test(path)) return kind === 'script' && !text.startsWith('#');
  if (kind !== 'script' || COMMENT.test(text) || (PRINTS.test(text) && !REDIRECTS.test(text))) return false;
  const rest = text.replaceAll(SEARCHED, ' ');
  return rest === text || rest.includes(excerpt.slice(1, -1));
}

/** A script takes what is the user's, and it or one that it works with reaches another host. */
function findTheft(script: Script, skill: Skill): readonly ScanFinding[] {
  const taken = script.hits.filter(
    ({ means, says, passage }) =>
      means === 'takes' &&
      !isOnlyNamed(passage.text, script.file.text) &&
      !(SUBJECTS.get(says)?.named.test(skill.spoken) ?? false),
  );
  if (taken.length === 0) return [];
  for (const other of linkedTo(script, skill)) {
    const reach = other.hits.find(({ means }) => means === 'reaches');
    const isCloudOnly =
      other.hosts.length === 0 &&
      other.hits.every(({ means, excerpt }) => means !== 'reaches' || CLOUD_LIBRARY.test(excerpt));
    const hit = taken.find(
      ({ says, excerpt }) =>
        !isAtHome(other.hosts, SUBJECTS.get(says)?.owner) &&
        !(says === 'cloud credentials' && isCloudOnly) &&
        !(says === 'tokens in the environment' && isTokenOfHosts(excerpt, other.hosts)) &&
        !isOwnHost(excerpt, other.hosts, other.file.text),
    );
    if (reach === undefined || hit === undefined) continue;
    const message = `takes ${hit.says} and reaches another host, of which the instructions say nothing: ${hit.excerpt} and ${reach.excerpt}`;
    return [toFinding('collect-and-send', hit, { script, skill, message })];
  }
  return [];
}

/** Logs in with the credentials of its cloud, and sends nothing elsewhere. */
const CLOUD_LIBRARY = /boto3|google\.cloud|azure\.storage/;

/** Whether all hosts are this machine or belong to the owner of a credential. */
function isAtHome(hosts: readonly string[], owner: RegExp | undefined): boolean {
  return hosts.length > 0 && hosts.every((host) => LOCAL_HOST.test(host) || owner?.test(host) === true);
}

/** The script, those that it imports or starts, and those that do so with it. */
function linkedTo(script: Script, { scripts, instructions }: Skill): readonly Script[] {
  const found = [script];
  const isLinked = (a: ScanFile, b: ScanFile): boolean =>
    names(a, b) || (DATA.test(b.path) && isArgument(b, a, instructions));
  for (const one of found)
    for (const other of scripts)
      if (!found.includes(other) && (isLinked(one.file, other.file) || isLinked(other.file, one.file)))
        found.push(other);
  return found;
}

function names({ text }: ScanFile, { path }: ScanFile): boolean {
  const parts = path.split('/');
  const name = parts.at(-1) ?? '';
  const stem = name.replace(/\.\w{1,10}$/, '');
  const module = /^(?:__init__|index|mod)$/.test(stem) ? (parts.at(-2) ?? stem) : stem;
  if (!text.includes(module)) return false;
  const quoted = module.replaceAll(/[^\w-]/g, String.raw`\$&`);
  return new RegExp(
    String.raw`\b(?:import|from|require\w{0,9}|use|load|source|include\w{0,5}|\.)[ ("'.\w/]{1,80}\b${quoted}\b|[/"' ]${quoted}\.(?:\w{1,4})\b`,
  ).test(text);
}

/** A script changes what runs by itself, who has access, or what protects the machine. */
function findChanges(script: Script, skill: Skill): readonly ScanFinding[] {
  return script.hits
    .filter(
      ({ means, says, passage }) =>
        means === 'stays' && !isMaintenance(passage.text) && !(SUBJECTS.get(says)?.named.test(skill.spoken) ?? false),
    )
    .slice(0, 1)
    .map((hit) => {
      const message = `makes ${hit.says}, of which the instructions say nothing: ${hit.excerpt}`;
      const rule = hit.says === 'weaker protection' ? 'security-tampering' : 'persistence';
      return toFinding(rule, hit, { script, skill, message });
    });
}

/** Jobs for which system tools are documented, and nothing that brings other code. */
const MAINTAINS =
  /\b(?:certbot(?:-auto)? (?:-q )?renew|acme\.sh [^\n]{0,60}--cron|logrotate|fstrim|freshclam|unattended-upgrade|apt(?:-get)? (?:-\w{1,3} )?(?:update|upgrade)|docker (?:system|image|builder) prune|journalctl --vacuum)/i;
const BRINGS_CODE = /https?:|\b(?:curl|wget|nc|base64|eval|python[\d.]{0,4}|perl|node|ruby)\b|sh -c|\/tmp\//i;
const isMaintenance = (command: string): boolean => MAINTAINS.test(command) && !BRINGS_CODE.test(command);

const PERSONAL =
  /(?:documents|desktop|downloads|pictures|music|movies|videos|projects)\b|(?:~|\$home|\$\{home\})["'\s/*]{0,4}$/i;

const SEARCHES_HOME = /\bfind ["']?(?:~|\$home|\$\{home\})\/?["']? [^\n]{0,200}-delete\b(?!d)/i;

/** A script deletes the documents of the user. */
function findDeletions(script: Script, skill: Skill): readonly ScanFinding[] {
  return script.hits
    .filter(({ means, severity, passage: { text } }) => {
      if (means !== 'destructive-command' || (severity === 'medium' && !SEARCHES_HOME.test(text))) return false;
      if (SEARCHES_HOME.test(text)) return !/delet|remov|clean/.test(skill.spoken);
      const folder = PERSONAL.exec(text)?.[0].toLowerCase();
      return folder !== undefined && !(/\w/.test(folder) && skill.spoken.includes(folder));
    })
    .slice(0, 1)
    .map((hit) => {
      const message = `${hit.says} of the user, of which the instructions say nothing: ${hit.excerpt}`;
      return toFinding('mass-deletion', hit, { script, skill, message });
    });
}

/** A script executes what a host sends that the instructions do not name. */
function findForeignCode(script: Script, skill: Skill): readonly ScanFinding[] {
  return script.hits
    .filter(({ means, severity, passage }) => {
      if (means !== 'download-and-run' || severity !== 'high') return false;
      const hosts = hostsIn(passage.text).filter((host) => !LOCAL_HOST.test(host));
      return (
        hosts.length > 0 &&
        // The program is written here, and what is downloaded is its input.
        !/<<-?\s?["']?\w/.test(passage.text) &&
        !FROM_WELL_KNOWN_INSTALLER.test(passage.text.toLowerCase()) &&
        hosts.every((host) => !isNamed(host, skill))
      );
    })
    .slice(0, 1)
    .map((hit) => {
      const message = `${hit.says}, of which the instructions say nothing: ${hit.excerpt}`;
      return toFinding('download-and-run', hit, { script, skill, message });
    });
}

/** The instructions name the host or its product; the name of the skill itself is no product. */
function isNamed(host: string, { instructions }: Skill): boolean {
  if (instructions.includes(host)) return true;
  const label = host.split('.').at(-2) ?? '';
  const own = readName(instructions);
  return label.length >= MIN_LABEL && label !== own && instructions.replaceAll(own, '').includes(label);
}

const MIN_LABEL = 5;

function findPair(
  { rule, first, second, isGuess, named, says }: CapabilityPair,
  script: Script,
  skill: Skill,
): readonly ScanFinding[] {
  const { path, text } = script.file;
  if (named?.test(skill.spoken) === true) return [];
  if (isGuess === true && (FOLLOWED.test(path) || FOLLOWED_PROGRAM.test(text))) return [];
  if (rule === 'reverse-shell' && hasOnlyLocalSockets(text)) return [];
  const hit = script.hits.find(({ means }) => means === first);
  const other = script.hits.find(({ means }) => means === second);
  if (hit === undefined || other === undefined) return [];
  return [toFinding(rule, hit, { script, skill, message: `${says}: ${hit.excerpt} and ${other.excerpt}` })];
}

function toFinding(
  rule: RuleId,
  { passage, line, column }: Hit,
  {
    script: { file },
    skill: { topic },
    message,
  }: { readonly script: Script; readonly skill: Skill; readonly message: string },
): ScanFinding {
  // Data is here only if a script uses it.
  const rated = DATA.test(file.path) ? 'critical' : rateFinding(rule, passage.text, { file, topic });
  const severity = topic.isAboutAttacks ? 'high' : rated;
  return { rule, severity, path: printable(file.path), line, column, message };
}
