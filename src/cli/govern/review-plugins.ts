/** How MCP servers of Agent Plugins are shown to a person who decides whether to trust them: whole, because what is cut could run too. */
import path from 'node:path';

import { printable, shownText, type Surroundings } from '#core';
import { findProgram, isDirectory, isInside, realPath } from '#platform';
import { createRuntime, type Runtime } from '#runtime';
import { openPlugin } from '#skills';

type Plugin = Omit<ReturnType<Runtime['plugins']>[number], 'source'>;

interface ReviewedProgram {
  readonly name: string;
  readonly type: 'stdio';
  readonly command: string;
  /** The file that the command runs; absent if there is none. */
  readonly program?: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Variables that make other code run than the command names. */
  readonly changesCode: readonly string[];
  /** Paths in arguments and variables to files that do not belong to the plugin: they can change without a question. */
  readonly outside: readonly string[];
}

interface ReviewedAddress {
  readonly name: string;
  readonly type: 'streamable-http';
  readonly url: string;
  /** Names only: a value may be a key. */
  readonly headers: readonly string[];
}

export interface ReviewedPlugin {
  readonly dir: string;
  readonly name: string;
  /** What is trusted after the question; absent if the files cannot be read. */
  readonly trust?: { readonly dir: string; readonly digest: string };
  readonly problem?: string;
  readonly servers: readonly (ReviewedProgram | ReviewedAddress)[];
}

/** Agent Plugins with MCP servers at or below a folder. To trust one lets `run` and `chat` start its servers, outside of the sandbox. */
export async function reviewPlugins(surroundings: Surroundings, folder: string): Promise<readonly ReviewedPlugin[]> {
  const runtime = await createRuntime({ ...surroundings, cache: false });
  const real = realPath(folder);
  const itself = openPlugin(real);
  const found = new Map<string, Plugin>([
    ...runtime.plugins().map((plugin) => [plugin.dir, plugin] as const),
    ...(typeof itself === 'object' ? [[itself.dir, itself] as const] : []),
  ]);
  const reviewed: ReviewedPlugin[] = [];
  for (const plugin of found.values()) {
    const { dir, name } = plugin;
    if (plugin.servers.length === 0 || !isInside(dir, real)) continue;
    const read = await plugin.readServerTrust();
    const servers = plugin.servers.map((server) => reviewServer(plugin, server, surroundings));
    reviewed.push(
      read.type === 'digest'
        ? { dir, name, trust: { dir: read.dir, digest: read.digest }, servers }
        : { dir, name, problem: read.message, servers },
    );
  }
  return reviewed;
}

function reviewServer(
  plugin: Plugin,
  server: Plugin['servers'][number],
  { home, env: { PATH: own = '' } }: Surroundings,
): ReviewedProgram | ReviewedAddress {
  const { name } = server;
  if (server.type === 'streamable-http')
    return { name, type: server.type, url: server.url, headers: Object.keys(server.headers) };
  const { command, args, env: all, cwd } = plugin.launch(server, home);
  const env = Object.fromEntries(Object.keys(server.env).map((variable) => [variable, all[variable] ?? '']));
  const searched = env['PATH'] ?? [path.dirname(process.execPath), own].join(path.delimiter);
  const folders = searched.split(path.delimiter).map((folder) => path.resolve(cwd, folder));
  return {
    name,
    type: 'stdio',
    command,
    program: path.isAbsolute(command) ? command : findProgram(command, folders),
    args,
    cwd,
    env,
    changesCode: Object.keys(env).filter((variable) => CODE_VARIABLES.test(variable)),
    outside: [...args, ...Object.values(env)].filter((text) =>
      isOutside(text, cwd, [plugin.dir, plugin.dataFolder(home)]),
    ),
  };
}

/** A path, also as `--option=PATH`, to what is no folder: a folder is what many servers work on. */
function isOutside(text: string, cwd: string, own: readonly string[]): boolean {
  const written = text.replace(/^-[^=]*=/, '');
  if (!path.isAbsolute(written) && !/(?:^|[/\\])\.\.(?:[/\\]|$)/.test(written)) return false;
  const place = realPath(path.resolve(cwd, written));
  return !own.some((folder) => isInside(place, realPath(folder))) && !isDirectory(place);
}

/** Variables with which a loader, a shell or an interpreter finds other programs and libraries, or runs code before the program. */
const CODE_VARIABLES =
  /^(?:(?:LD|DYLD|GIT|NPM_CONFIG|UV|PIP|DENO|BUN|COREPACK|YARN|PNPM)_.*|(?:NODE|PYTHON|PERL5?|RUBY|GEM|BUNDLE|LUA|PHP|JAVA|_JAVA|JDK|CLR|CORECLR|DOTNET|DOCKER).*|GCONV_PATH|PATH|PATHEXT|COMSPEC|CLASSPATH|SHELL|BASH_ENV|BASH_FUNC_.*|ENV|ZDOTDIR|IFS|PS4|PROMPT_COMMAND|HOME|USERPROFILE|XDG_CONFIG_HOME|EDITOR|VISUAL|PAGER|BROWSER)$/i;

/** Untrusted text is escaped and never cut. Many spaces are counted: they would move what follows out of sight. */
const whole = (text: string): string =>
  shownText(text, Infinity).replaceAll(/[\p{Zs}\u2800]{4,}/gu, (spaces) => `\\x20{${String(spaces.length)}}`);

export function pluginLines({ name, trust, problem, servers }: ReviewedPlugin): readonly string[] {
  return [
    `  plugin ${name}  ${trust?.digest.slice(0, 24) ?? `its servers cannot be trusted: ${printable(problem ?? '')}`}`,
    ...servers.flatMap((server) => {
      const start = `    MCP server ${whole(server.name)}, used without a sandbox: `;
      if (server.type === 'streamable-http')
        return [
          `${start}address ${whole(server.url)}`,
          ...(server.headers.length === 0 ? [] : [`      sends the headers ${server.headers.map(whole).join(', ')}`]),
        ];
      const { command, args, program, cwd, env, changesCode, outside } = server;
      return [
        `${start}program ${[command, ...args].map(whole).join(' ')}`,
        `      ${program === undefined ? 'finds no such program; would run' : `runs ${whole(program)}`} in ${whole(cwd)}`,
        ...Object.entries(env).map(
          ([variable, value]) =>
            `      ${changesCode.includes(variable) ? 'WARNING: this variable changes which code runs: ' : 'with '}${whole(variable)}=${whole(value)}`,
        ),
        ...outside.map(
          (text) => `      WARNING: not part of the plugin, so it can change without a question: ${whole(text)}`,
        ),
      ];
    }),
  ];
}
