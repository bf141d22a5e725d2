import type { SandboxProfile } from '../../src/sandbox/executors/linux/profile.ts';

/** A profile with one of everything, for golden files. */
export const PROFILE: SandboxProfile = {
  system: [
    { type: 'bind', source: '/usr', target: '/usr' },
    { type: 'link', linkTarget: 'usr/bin', target: '/bin' },
    { type: 'bind', source: '/etc/ssl/certs', target: '/etc/ssl/certs' },
    { type: 'bind', source: '/home/u/.nvm/v20', target: '/home/u/.nvm/v20' },
  ],
  skills: [{ type: 'bind', source: '/base/snapshots/d/pdf', target: '/workspace/skills/pdf' }],
  writable: ['work', 'runs', 'out'].map((name) => ({ name, source: `/base/w/${name}` })),
  mounts: [{ source: '/base/layers/a', target: '/opt/layer', access: 'read' }],
  temporaryBytes: 67_108_864,
  sharedMemoryBytes: 16_777_216,
  bridgeSocket: '/base/net.sock',
};
