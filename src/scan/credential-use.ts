/** Uses of credentials that give nothing away: to log in with a key, and to send a token to the service that it belongs to. */

import { TOOL_VARIABLE } from './flow/marks.ts';

/** A name of this machine. Names of documentation are hosts like others in a script, which does what it says. */
export const LOCAL_HOST = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|0\.0\.0\.0|\[?::1\]?)$/;
/** Where a cloud hands out the credentials of a machine to every program on it. */
export const METADATA_HOST =
  /(?<![\d.])169\.254\.(?:169\.254|170\.2)(?![\d.])|\bmetadata\.google\.internal\b|(?<![\d.])100\.100\.100\.200(?![\d.])|fd00:ec2::254/i;

interface Owner {
  readonly secret: RegExp;
  readonly hosts?: RegExp;
  /** The variable by which its tool is told the host. */
  readonly variable?: RegExp;
}

const OWNERS: readonly Owner[] = [
  { secret: /\.npmrc/i, hosts: /npmjs\.(?:org|com)$/, variable: /npm_config_registry/i },
  { secret: /\.pypirc/i, hosts: /pypi\.org$/, variable: /TWINE_REPOSITORY_URL/ },
  { secret: /gcloud|application_default/i, hosts: /(?:googleapis|google)\.com$/ },
  { secret: /gh\/hosts/i, hosts: /github\.com$/, variable: /GH_HOST|GITHUB_API_URL/ },
  { secret: /claude/i, hosts: /(?:anthropic|claude)\.(?:com|ai)$/ },
  { secret: /\.codex/i, hosts: /(?:openai|chatgpt)\.com$/ },
  { secret: /\.aws/i, hosts: /amazonaws\.com$/, variable: /AWS_ENDPOINT_URL/ },
  { secret: /\.docker/i, hosts: /docker\.(?:io|com)$/, variable: /DOCKER_HOST/ },
  { secret: /\.cargo/i, hosts: /crates\.io$/ },
  { secret: /\.vault-token/i, variable: /VAULT_ADDR/ },
  { secret: /\.kube|serviceaccount/i, variable: /KUBERNETES_SERVICE_HOST/ },
  { secret: /\.databrickscfg/i, hosts: /databricks\.(?:com|net)$/, variable: /DATABRICKS_HOST/ },
  { secret: /\.terraform\.d/i, hosts: /terraform\.io$/, variable: /TF_CLOUD_HOSTNAME|TFE_ADDRESS/ },
  { secret: /\.pgpass/i, variable: /PGHOST/ },
  { secret: /\.my\.cnf/i, variable: /MYSQL_HOST/ },
  { secret: /^the cloud/, hosts: METADATA_HOST },
];

const URL_HOST = /(?:https?|wss?|ftp):\/\/([^\s/'"`:?#)<>\\]{1,253})/gi;

/** Services whose variables are named otherwise. */
const SERVICES: Readonly<Record<string, string>> = {
  gh: 'github',
  aws: 'amazonaws',
  gemini: 'googleapis',
  twine: 'pypi',
};

/** Where services are. Anyone can have the name of a service under other domains. */
const DOMAINS = /\.(?:com|org|io|dev|ai|net|app|co|cloud|so|sh)$/;

/** Whether a token of the environment goes only to the service in whose name it is. */
export function isTokenOfHosts(variable: string, hosts: readonly string[]): boolean {
  const [service = ''] = variable.toLowerCase().replaceAll(/\W/g, '').split('_');
  const label = SERVICES[service] ?? service;
  return (
    hosts.length > 0 &&
    hosts.every((host) => LOCAL_HOST.test(host) || (DOMAINS.test(host) && host.split('.').at(-2) === label))
  );
}

/** The hosts of the URLs in a text, in lower case. */
export function hostsIn(text: string): readonly string[] {
  return [...text.matchAll(URL_HOST)].map(([, host = '']) => host.toLowerCase());
}

/** Whether a secret goes only to this machine or its owner. `text` is the file, in which the tool may be told its own host. */
export function isOwnHost(secret: string, hosts: readonly string[], text: string): boolean {
  const owner = OWNERS.find((one) => one.secret.test(secret));
  const isOwn = (host: string): boolean => LOCAL_HOST.test(host) || owner?.hosts?.test(host) === true;
  if (hosts.length > 0) return hosts.every(isOwn);
  return owner?.variable?.test(text) === true && hostsIn(text).every((host) => isOwn(host) || /^[{$]/.test(host));
}

/** The question whether a file exists, the path of a key for a program that uses it, and a path on another machine. */
const NAMES_ONLY =
  /^(?!.*(?:\bopen\(|\bread|\bcat |\btar |\bcp |\bzip |\bbase64|\bglob|\bcopy|\bfor \w{1,40} in [([]|@|<)).*(?:\bexists(?:sync)?\(|\bis_?file\(|\baccess(?:sync)?\(|\[ -[defrs] |\btest -[defrs] |\btest-path )|--exclude[\w-]{0,10}[= ]|\bexclu(?:de|sions?)\b|(?:\b(?:ssh|scp|sftp|rsync|ansible\w{0,9}|mosh)\b[^|]{0,200} (?:-i|-e)| (?:--cert|--key|--private-key|--ssh-key|--identity(?:-file)?|--client-(?:cert|key)|--netrc-file|--kubeconfig|-o ?identityfile)) ?=?["']?\S{0,80}(?:\.ssh|id_|\.pem|netrc|\.kube)|\bssh (?![^|;]{0,200}(?:\$\(|<|`))[^|;]{1,200}\.ssh\/|\bssh-(?:keygen|add|copy-id)\b|\b(?:key_filename|identity_?file|private_?key_?(?:path|file)|ssh_key_path)["']? ?[:=(]/i;
const ASSIGNED = /^(?:(?:export|local|readonly|const|let|var|my|our) )*\$?([a-z_]\w{0,60}) ?=(?!=)/i;
/** Before the name of a variable: what uses a key and does not read it. */
const AS_IDENTITY =
  /(?:\s(?:-i|--key|--cert|--private-key|--ssh-key|--identity(?:-file)?)[ =]?|\bidentityfile[ =]|\b(?:key_filename|private_?key_?(?:path|file)|identity_?file)["']? ?[:=] ?|(?:\[|\btest) -[defrs] |\bssh-keygen [^|;\n]{0,80}-f |\bssh-add (?:-\S{1,20} )?|\bchmod [\w+]{1,5} |\b(?:exists(?:sync)?|is_?file)\( ?)["']?\$?\{?$/i;

/** A list by which files are left out. */
const LISTED =
  /^(?:(?:export|local|readonly|const|let|var|my|our) )*[$@]?([a-z_]\w{0,60})(?: ?: ?[\w<>[\]., ]{1,40})? ?= ?(?:[[({]|new set\(|(?:frozen)?set\(|array\(|qw)/i;
const LEAVES_OUT_BEFORE =
  /\bnot in $|\bnot any\([^\n]{0,80}\bin $|!$|\b(?:exclude|ignore|skip)\w{0,12}["']? ?[:=(] ?(?:\w{1,12}\()?\[?(?:\.\.\.|\*)?$/i;
const LEAVES_OUT_AFTER =
  /^(?:\.(?:has|includes|contains|test|some)\([^\n]{0,80}\)|[^\n{:]{0,80})? ?\)? ?[:{]?\s{0,60}(?:continue|return(?! true)|next)\b/i;
/** Without any of these a name stays a name. */
const MAY_READ =
  /\bopen\(|read(?!dir)\w{0,12}\(|contents\(|\bcat |\bload\w{0,6}\(|stream\(|\bfile\(|\b(?:spawn|exec)\w{0,10}\(|\bsubprocess\b|\bos\.(?:system|popen)|\bcopy|\btar\b|\bzip|\bcurl |\bbase64|@/i;

/** Whether the names in a list serve to pass over files: each use of the list skips what is in it. */
function isLeftOut(passage: string, text: string): boolean {
  const name = LISTED.exec(passage)?.[1];
  if (name === undefined) return false;
  if (!MAY_READ.test(text)) return true;
  const uses = [...text.matchAll(new RegExp(String.raw`(?<![\w.-])${name}\b(?! ?(?::[^=\n]{1,40})?=(?!=))`, 'g'))];
  return (
    uses.length > 0 &&
    uses.every(({ index }) => {
      const [before, after] = [
        text.slice(Math.max(0, index - 120), index),
        text.slice(index + name.length, index + 240),
      ];
      return LEAVES_OUT_BEFORE.test(before) || (/(?:\bin |[(!] ?)$/.test(before) && LEAVES_OUT_AFTER.test(after));
    })
  );
}

const TOLD = new RegExp(TOOL_VARIABLE, 'i');

/** Whether a passage names a key and does not read it. `text` is its file. */
export function isOnlyNamed(passage: string, text: string): boolean {
  return NAMES_ONLY.test(passage) || TOLD.test(passage) || isIdentity(passage, text) || isLeftOut(passage, text);
}

/** A variable with the path of a key, which is used only to log in. */
function isIdentity(assignment: string, text: string): boolean {
  const name = ASSIGNED.exec(assignment)?.[1];
  if (name === undefined) return false;
  const uses = [...text.matchAll(new RegExp(String.raw`(?<![\w.-])${name}\b(?! ?=(?!=))`, 'g'))].filter(
    ({ index }) => !/^ *(?:#|\/\/)/.test(text.slice(text.lastIndexOf('\n', index) + 1, index)),
  );
  return (
    uses.length > 0 &&
    uses.every(
      ({ index }) =>
        AS_IDENTITY.test(text.slice(Math.max(0, index - 120), index)) || text.startsWith('.pub', index + name.length),
    )
  );
}
