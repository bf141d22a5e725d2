/** Where credentials belong: sent there, they are used and not given away. */

/** A name of this machine, or one of documentation. */
export const LOCAL_HOST =
  /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|0\.0\.0\.0|\[?::1\]?|(?:[\w-]{1,40}\.)?example\.(?:com|org|net))$/;
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
