import { execFileSync, spawn } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { onTestFinished } from 'vitest';

import { plant, type Tree } from '../../platform/fs/tree-support.ts';
import { scratch } from '../../skills/registry/support.ts';

const IDENTITY = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@host.example',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@host.example',
};

export interface Repository {
  readonly folder: string;
  readonly url: string;
  git(...args: readonly string[]): string;
  /** Writes files and commits everything; gives the name of the commit. */
  commit(tree: Tree): string;
}

/** A repository with a first commit of these files, on the branch main. */
export function repository(tree: Tree): Repository {
  const folder = path.join(scratch(), 'repo');
  plant(folder, {});
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-C', folder, ...args], {
      env: { ...process.env, ...IDENTITY },
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim();
  const commit = (more: Tree): string => {
    plant(folder, more);
    git('add', '--all', '--force');
    git('commit', '--quiet', '--allow-empty', '--message', 'change');
    return git('rev-parse', 'HEAD');
  };
  git('init', '--quiet', '--initial-branch=main');
  commit(tree);
  return { folder, url: `file://${folder}/.git`, git, commit };
}

/** Serves the files of a repository as they lie, which is git's oldest way over HTTP. Gives its address. */
export async function serveFiles(repo: Repository): Promise<string> {
  const { folder } = repo;
  repo.git('update-server-info');
  return await serve(
    createServer((request, response) => {
      try {
        response.end(readFileSync(path.join(folder, '.git', (request.url ?? '').replace(/^\/repo|\?.*$/g, ''))));
      } catch {
        response.writeHead(404).end();
      }
    }),
  );
}

/** Serves a repository as the large hosts do, by git's own program for it. Gives its address. */
export async function serveSmartly({ folder }: Repository): Promise<string> {
  return await serve(
    createServer((request, response) => {
      const [route = '', query = ''] = (request.url ?? '').split('?');
      const backend = spawn('git', ['http-backend'], {
        env: {
          ...process.env,
          ...IDENTITY,
          GIT_PROJECT_ROOT: path.join(folder, '.git'),
          GIT_HTTP_EXPORT_ALL: '1',
          PATH_INFO: route.replace(/^\/repo/, ''),
          QUERY_STRING: query,
          REQUEST_METHOD: request.method ?? '',
          CONTENT_TYPE: request.headers['content-type'] ?? '',
          HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
          GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
        },
        stdio: ['pipe', 'pipe', 'ignore'],
      });
      const pieces: Buffer[] = [];
      backend.stdin.on('error', () => undefined);
      request.pipe(backend.stdin);
      backend.stdout.on('data', (piece: Buffer) => pieces.push(piece));
      backend.once('close', () => {
        const all = Buffer.concat(pieces);
        const end = all.indexOf('\r\n\r\n');
        const lines = all.toString('latin1', 0, end).split('\r\n');
        const headers = Object.fromEntries(lines.map((line) => line.split(': ', 2) as [string, string]));
        response.writeHead(Number.parseInt(headers['Status'] ?? '200', 10), headers).end(all.subarray(end + 4));
      });
    }),
  );
}

async function serve(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return `http://127.0.0.1:${String(typeof address === 'object' ? address?.port : 0)}/repo`;
}
