import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, linkSync, mkdirSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { PYTHON } from '../../needs.ts';
import { scratch } from '../../skills/registry/support.ts';
import { describeHiding, openWorld, output } from './hidden-names-world.ts';

describeHiding('files with secret names', (executor) => {
  test('are not read by another name in another mounted folder, or in a mounted folder that is part of the name', async () => {
    const base = scratch();
    chmodSync(base, 0o755);
    const put = (name: string): string => {
      const file = path.join(base, name);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, 'SECRET\n');
      return file;
    };
    const names =
      '.m2/settings.xml .cargo/credentials .cargo/credentials.toml .gem/credentials .config/gh/hosts.yml .config/hub a/.env'.split(
        ' ',
      );
    for (const name of names) put(name);
    writeFileSync(path.join(base, '.m2/notes.xml'), 'plain\n');
    mkdirSync(path.join(base, 'b'));
    linkSync(path.join(base, 'a/.env'), path.join(base, 'b/x.txt'));
    const others = ['.m2', '.cargo', '.gem', '.config', 'a', 'b'].map((name) => path.join(base, name));
    const { run } = await openWorld(executor, { others });
    const files = JSON.stringify([...names, 'b/x.txt', '.m2/notes.xml'].map((name) => path.join(base, name)));
    const read = await output(run(`show([read(name) for name in ${files}])`));
    // Files are empty or cannot be opened, and folders are empty.
    expect([read].flat().map((text) => (text === 'EACCES' || text === 'ENOENT' ? '' : text))).toEqual([
      ...names.map(() => ''),
      '',
      'plain',
    ]);
  });

  test('are not read by a hard link that is made meanwhile, nor when an editor replaces the secret file', async () => {
    const [other, home] = [scratch(), scratch()];
    chmodSync(other, 0o755);
    mkdirSync(path.join(home, '.ssh'));
    writeFileSync(path.join(home, '.ssh/id'), 'SECRET\n');
    const { run, write } = await openWorld(executor, { others: [other], home });
    for (const name of ['.env', '.aws/more/file', 'saved.env', 'linked.env']) write(name);
    write('apart/plain.txt', 'plain\n');
    const sub = path.dirname(write('sub/plain.txt', 'plain\n'));
    linkSync(write('early.env'), path.join(sub, 'early.txt'));
    const names = ['late', 'sub/late', 'folder', 'saved', 'key', 'sub/early', 'apart/new', 'sub/plain'];
    const files = [...names.map((name) => `${name}.txt`), path.join(other, 'late.txt')];
    const code = `wait()
show([read(name) for name in ${JSON.stringify(files)}])`;
    const read = await output(
      run(code, () => {
        const at = (name: string): string => path.join(path.dirname(sub), name);
        linkSync(at('.env'), at('late.txt'));
        linkSync(at('.env'), at('sub/late.txt'));
        linkSync(at('.env'), path.join(other, 'late.txt'));
        linkSync(at('.aws/more/file'), at('folder.txt'));
        linkSync(at('saved.env'), at('saved.txt'));
        linkSync(path.join(home, '.ssh/id'), at('key.txt'));
        for (const name of ['saved.env', 'early.env']) {
          write('temporary', 'SECRET 2\n');
          renameSync(at('temporary'), at(name));
        }
        // An inode that becomes free is that of an ordinary file then.
        unlinkSync(at('linked.env'));
        write('apart/new.txt', 'new\n');
      }),
    );
    expect(read).toEqual(['', '', '', '', '', '', 'new', 'plain', '']);
  });

  test('are not read below a path that is too long to be judged, and not moved from there', async () => {
    const { project, run } = await openWorld(executor, { access: 'write' });
    const folder = 'n'.repeat(90);
    const makeDeep = (): unknown =>
      execFileSync('sh', [
        '-c',
        `cd "$1"; for i in $(seq 60); do mkdir ${folder}; chmod 777 ${folder}; cd -P ${folder}; done; echo SECRET > .env; echo plain > notes.txt`,
        'sh',
        project,
      ]);
    const read = await output(
      run(
        `top = os.open('.', os.O_RDONLY)
wait()
for _ in range(60): os.chdir('${folder}')
moved = [attempt(os.rename, '.env', 'x'), attempt(lambda: os.rename('.env', 'x', dst_dir_fd=top)), attempt(lambda: os.link('.env', 'y', dst_dir_fd=top))]
os.chdir(top)
show(['done' in moved, read('x'), read('y')])`,
        makeDeep,
      ),
    );
    expect(read).toEqual([false, 'ENOENT', 'ENOENT']);
    execFileSync('rm', ['-rf', path.join(project, folder)]);
  });

  test('are not read by a name that exists for a moment', async () => {
    const { project, run } = await openWorld(executor);
    const host = `import os, sys
os.chdir(sys.argv[1])
while not os.path.exists('over'):
    with open('r.key', 'w') as file: file.write('SECRET')
    os.link('r.key', 'r.txt'); os.unlink('r.txt'); os.unlink('r.key')
    with open('new', 'w') as file: file.write('plain')
    os.rename('new', 'plain.txt')
`;
    let writing: ChildProcess | undefined;
    const seen = await output(
      run(
        `wait()
show(sorted({read(name) for _ in range(3000) for name in ('r.txt', 'plain.txt')}))`,
        () => {
          writeFileSync(path.join(project, 'plain.txt'), 'plain');
          writing = spawn(PYTHON, ['-c', host, project], { stdio: 'ignore' });
        },
      ),
    );
    writeFileSync(path.join(project, 'over'), '');
    if (writing !== undefined && writing.exitCode === null) await once(writing, 'exit');
    expect([seen].flat().filter((text) => text !== 'ENOENT' && text !== '')).toEqual(['plain']);
  });
});
