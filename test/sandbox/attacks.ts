import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import type { AttackCase } from './attack-case.ts';
import { filesBelow } from './attack-host.ts';
import { limitAttacks } from './attacks-limits.ts';

const nothing = (): readonly string[] => [];
const word = (text: string): string => `'${text}'`;

export const reachAttacks: readonly AttackCase[] = [
  {
    number: 1,
    name: 'writes outside the workspace, to the system, to its own skill and to the metadata',
    language: 'sh',
    script: ({ host, root }) =>
      [
        [
          `${host.outside}/x`,
          '/etc/x',
          '/usr/x',
          '/x',
          '/dev/x',
          `${root}/x`,
          `${root}/skills/x`,
          `${root}/metadata.json`,
        ],
        [
          `${root}/skills/pdf/x`,
          `${root}/skills/pdf/SKILL.md`,
          `${root}/skills/pdf/scripts/hello.sh`,
          '/proc/self/root/etc/x',
        ],
      ]
        .flat()
        .map((file) => `(echo x > ${word(file)}) 2>/dev/null`)
        .join('\n'),
    judge: ({ root, skill }) => [
      ...['/etc/x', '/usr/x', '/x', '/dev/x', path.join(root, 'x'), path.join(root, 'skills/x')].filter((file) =>
        existsSync(file),
      ),
      ...(readFileSync(path.join(root, 'metadata.json'), 'utf8') === '{"secret":"metadata"}' ? [] : ['metadata.json']),
      ...(filesBelow(skill.snapshot)
        .map((file) => path.basename(file.path))
        .sort()
        .join() === 'SKILL.md,hello.sh,scripts'
        ? []
        : ['skill']),
      ...(readFileSync(path.join(skill.snapshot, 'scripts/hello.sh'), 'utf8').includes('hello') ? [] : ['script']),
    ],
  },
  {
    number: 2,
    name: 'reads keys, tokens, the environment of a project and the metadata',
    language: 'sh',
    script: ({ host, root }) =>
      [...host.decoys, `${root}/metadata.json`, '/etc/shadow', '/root/.ssh/id_rsa']
        .map((file, at) => `cat ${word(file)} > ${root}/out/read.${String(at)}`)
        .join('\n'),
    judge: ({ root }) =>
      filesBelow(path.join(root, 'out'))
        .filter(({ bytes }) => bytes > 0)
        .map((file) => file.path),
  },
  {
    number: 3,
    name: 'connects to this machine by TCP and UDP, by name too',
    language: 'python3',
    script: ({ host }) => `
import socket
for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"), (socket.AF_INET, "169.254.169.254")):
    for kind, port in ((socket.SOCK_STREAM, ${String(host.tcpPort)}), (socket.SOCK_DGRAM, ${String(host.udpPort)})):
        try:
            s = socket.socket(family, kind); s.settimeout(1); s.connect((address, port)); s.send(b"x")
        except OSError: pass
try: socket.create_connection(("localhost", ${String(host.tcpPort)}), 1)
except OSError: pass
try: socket.getaddrinfo("example.org", 80)
except OSError: pass
`,
    judge: nothing,
  },
  {
    number: 4,
    name: 'connects to a unix socket by its path',
    language: 'python3',
    script: ({ host }) => `
import socket, glob
for name in [${JSON.stringify(host.socketPath)}] + glob.glob("/proc/*/root" + ${JSON.stringify(host.socketPath)}) + ["/var/run/docker.sock", "/run/docker.sock"]:
    try:
        s = socket.socket(socket.AF_UNIX); s.settimeout(1); s.connect(name)
    except OSError: pass
`,
    judge: nothing,
  },
  {
    number: 5,
    name: 'connects to an abstract unix socket',
    language: 'python3',
    script: ({ host }) => `
import socket
# Node fills the name up with NULs in some versions and not in others.
for length in (0, 108):
    try:
        s = socket.socket(socket.AF_UNIX); s.settimeout(1); s.connect(("\\0" + ${JSON.stringify(host.abstractName)}).ljust(length, "\\0"))
    except OSError: pass
`,
    judge: nothing,
  },
  {
    number: 6,
    name: 'reads the environment of whoever started it',
    language: 'sh',
    script: ({ root }) => `env > ${root}/out/env; cat /proc/*/environ > ${root}/out/environ 2>/dev/null`,
    judge: ({ read }) =>
      read('env')
        .split('\n')
        .filter((line) => line !== '' && !/^(?:PATH|PWD|OLDPWD|SHLVL|_|HOME|HOSTNAME)=/.test(line)),
  },
  {
    number: 7,
    name: 'goes through /proc to the files, descriptors and memory of others',
    language: 'sh',
    script: ({ host, root }) =>
      `for p in /proc/[0-9]* /proc/${String(host.victim)}; do cat $p/root${host.decoys[0] ?? ''} $p/cwd/key $p/fd/* >> ${root}/out/taken 2>/dev/null < /dev/null; done & sleep 0.5; kill $!`,
    judge: nothing,
  },
  {
    number: 11,
    name: 'kills a process of the host, and everybody it can',
    language: 'sh',
    script: ({ host }) => `kill -9 ${String(host.victim)}; kill -9 -1`,
    judge: nothing,
  },
  {
    number: 12,
    name: 'traces a process of the host and reads its memory',
    language: 'python3',
    script: ({ host, root }) => `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
child = os.fork()
if child == 0:
    import time; time.sleep(5); os._exit(0)
buffer = ctypes.create_string_buffer(64)
class Vector(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
near = Vector(ctypes.addressof(buffer), 64); far = Vector(ctypes.addressof(buffer), 64)
won = []
for pid in (${String(host.victim)}, os.getppid(), 1, child):
    if libc.ptrace(16, pid, 0, 0) == 0: won.append("ptrace %d" % pid)
    if libc.process_vm_readv(pid, ctypes.byref(near), 1, ctypes.byref(far), 1, 0) > 0: won.append("read %d" % pid)
open("${root}/out/won", "w").write("\\n".join(won))
`,
    judge: ({ host, read }) => [
      ...read('won').split('\n').filter(Boolean),
      ...(readFileSync(`/proc/${String(host.victim)}/status`, 'utf8').includes('TracerPid:\t0') ? [] : ['traced']),
    ],
  },
  {
    number: 33,
    name: 'writes to the memory of process 1, which ends the sandbox',
    language: 'python3',
    script: ({ root }) => `
import glob, os
for file in ["/proc/1/mem", "/proc/1/task/1/mem", *glob.glob("/proc/*/root/proc/1/mem"), "/proc/self/../1/mem"]:
    try:
        fd = os.open(file, os.O_RDWR)
        open("${root}/out/opened", "a").write(file + "\\n")
        os.close(fd)
    except OSError: pass
`,
    judge: ({ read }) => read('opened').split('\n').filter(Boolean),
  },
  {
    number: 18,
    name: 'makes namespaces, mounts, and what is read-only writable',
    language: 'sh',
    script: ({ host, root }) => `
unshare -Urm sh -c 'mount -t tmpfs none /mnt && echo mounted' > ${root}/out/won 2>/dev/null
unshare -U true 2>/dev/null && echo user >> ${root}/out/won
unshare -m true 2>/dev/null && echo mount >> ${root}/out/won
mount -o remount,rw,bind / 2>/dev/null && echo root >> ${root}/out/won
mount -o remount,rw,bind /usr 2>/dev/null && echo usr >> ${root}/out/won
mount -o remount,rw,bind ${root}/skills/pdf 2>/dev/null && echo skill >> ${root}/out/won
mount --bind ${host.outside} ${root}/work 2>/dev/null && echo bind >> ${root}/out/won
umount -l /proc/sys 2>/dev/null && echo umount >> ${root}/out/won
chroot / true 2>/dev/null && echo chroot >> ${root}/out/won
true`,
    judge: ({ read }) => read('won').split('\n').filter(Boolean),
  },
  {
    number: 19,
    name: 'writes to the settings of the kernel',
    language: 'sh',
    script: ({ root }) =>
      [
        '/proc/sys/kernel/core_pattern',
        '/proc/sys/kernel/hostname',
        '/proc/sys/vm/overcommit_memory',
        '/proc/sysrq-trigger',
        '/sys/kernel/uevent_helper',
      ]
        .map((file) => `(cat ${file} > ${file}) 2>/dev/null && echo ${file} >> ${root}/out/won`)
        .concat('true')
        .join('\n'),
    judge: ({ read }) => read('won').split('\n').filter(Boolean),
  },
  {
    number: 20,
    name: 'leaves set-user-id files and devices',
    language: 'python3',
    script: ({ root }) => `
import os, shutil, stat
os.chdir("${root}/out")
def attempt(act):
    try: act()
    except OSError: pass
shutil.copy("/bin/sh", "shell")
attempt(lambda: os.chmod("shell", 0o4755)); attempt(lambda: os.chmod("shell", 0o2755))
attempt(lambda: os.open("created", os.O_CREAT | os.O_WRONLY, 0o6755))
attempt(lambda: os.mknod("node", 0o4755 | stat.S_IFREG))
attempt(lambda: os.mknod("disk", 0o600 | stat.S_IFBLK, os.makedev(254, 0)))
attempt(lambda: os.mknod("null", 0o600 | stat.S_IFCHR, os.makedev(1, 3)))
attempt(lambda: os.chown("shell", 0, 0))
attempt(lambda: os.mkfifo("pipe"))
`,
    judge: ({ root }) =>
      filesBelow(path.join(root, 'out'))
        .filter(({ mode, kind, uid }) => (mode & 0o6000) !== 0 || kind === 'device' || uid === 0)
        .map((file) => `${file.path} ${file.mode.toString(8)} ${String(file.uid)}`),
  },
  {
    number: 22,
    name: 'types into a terminal of the host',
    language: 'python3',
    script: ({ root }) => `
import fcntl, glob, os
won = []
for name in ["/dev/tty", "/dev/console"] + glob.glob("/dev/pts/[0-9]*") + ["/dev/fd/0", "/dev/fd/1", "/dev/fd/2"]:
    try:
        tty = os.open(name, os.O_RDWR)
        fcntl.ioctl(tty, 0x5412, b"x"); won.append(name)
    except OSError: pass
open("${root}/out/won", "w").write("\\n".join(won))
`,
    judge: ({ read }) => read('won').split('\n').filter(Boolean),
  },
  {
    number: 23,
    name: 'uses descriptors that were left open',
    language: 'sh',
    script: ({ root }) =>
      `ls -l /proc/self/fd > ${root}/out/list; for fd in $(seq 3 63); do (eval "cat <&$fd") >> ${root}/out/taken 2>/dev/null; done; true`,
    judge: ({ read }) =>
      read('list')
        .split('\n')
        .filter(
          (line) => / -> /.test(line) && !/ [012] -> | -> \/dev\/null| -> \/proc\/\d+\/fd$|\/out\/list$/.test(line),
        ),
  },
  {
    number: 24,
    name: 'is nobody, whoever started it',
    language: 'sh',
    script: ({ root }) =>
      `id -u > ${root}/out/uid; grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status > ${root}/out/status; setpriv --reuid 0 id -u > ${root}/out/became 2>/dev/null; true`,
    judge: ({ root, read }) => [
      ...filesBelow(path.join(root, 'out'))
        .filter(({ uid }) => uid === 0)
        .map((file) => file.path),
      ...(read('uid').trim() === '0' || read('became').trim() === '0' ? ['uid 0'] : []),
      ...read('status')
        .split('\n')
        .filter((line) => /^Cap(?!Inh)\w+:\s*0*[1-9a-f]/.test(line)),
      ...(/NoNewPrivs:\s*1/.test(read('status')) ? [] : ['new privileges']),
    ],
  },
  {
    number: 26,
    name: 'leaves something that runs later, in a project',
    language: 'sh',
    script: ({ host }) =>
      ['.git/hooks/pre-commit', '.bashrc', '.vscode/tasks.json', '.claude/settings.json', '.mcp.json', 'package.json']
        .map((file) => `(echo x > ${word(`${host.project}/${file}`)}) 2>/dev/null`)
        .concat('true')
        .join('\n'),
    judge: nothing,
  },
  {
    number: 30,
    name: 'removes the folder it stands in',
    language: 'sh',
    script: ({ root }) => `mkdir ${root}/work/gone; cd ${root}/work/gone; rmdir ${root}/work/gone; echo alive`,
    reasons: ['exited'],
    judge: ({ stdout }) => (stdout === 'alive\n' ? [] : [`it said ${stdout}`]),
  },
  {
    number: 32,
    name: 'sees other runs',
    language: 'sh',
    script: ({ root }) =>
      `ls /proc | grep -c '^[0-9]' > ${root}/out/count; ls -A /tmp /dev/shm > ${root}/out/list; touch /tmp/mine /dev/shm/mine`,
    judge: ({ read }) => [
      ...(Number(read('count')) < 10 ? [] : [`${read('count')} processes`]),
      ...read('list')
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('/')),
    ],
  },
];

/** Cases 1 to 32, for any executor that isolates. */
export const attackCases: readonly AttackCase[] = [...reachAttacks, ...limitAttacks];
