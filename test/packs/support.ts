import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { Config } from '../../src/core/config/config.ts';
import { isRefusal, type PackRefusal } from '../../src/packs/problems.ts';
import { installSkills } from '../../src/packs/install.ts';
import type { InstallOptions, Installed } from '../../src/packs/install/options.ts';
import { packSettings, type PackSettings } from '../../src/packs/pack-settings.ts';
import { scratch } from '../skills/registry/support.ts';

export const AT = new Date('2026-01-02T03:04:05Z');

export interface PackWorld {
  readonly root: string;
  readonly project: string;
  readonly home: string;
  readonly settings: PackSettings;
  readonly install: (source: string, more?: Partial<InstallOptions>) => Promise<Installed | PackRefusal>;
  /** Writes a skill below a folder of the world; gives its folder. */
  readonly skill: (below: string, files?: Readonly<Record<string, string>>, head?: readonly string[]) => string;
}

/** A project and a home of their own; installs say yes. */
export function packWorld(config: Config = {}): PackWorld {
  const world = scratch();
  const [project, home] = [path.join(world, 'project'), path.join(world, 'home')];
  for (const folder of [path.join(project, '.git'), home]) mkdirSync(folder, { recursive: true });
  const settings = packSettings({ cwd: project, home, env: { PATH: process.env['PATH'] } }, config);
  if (isRefusal(settings)) throw new Error(settings.message);
  return {
    root: settings.root,
    project,
    home,
    settings,
    install: (source, more = {}) => installSkills({ settings, source, confirm: async () => true, at: AT, ...more }),
    skill(below, files = {}, head = []) {
      const dir = path.join(project, below);
      const name = path.basename(dir);
      const text = `---\nname: ${name}\ndescription: Works on ${name}. Use it for ${name}.\n${head.map((line) => `${line}\n`).join('')}---\n\n# ${name}\n\nDo it.\n`;
      for (const [file, content] of Object.entries({ 'SKILL.md': text, ...files })) {
        mkdirSync(path.dirname(path.join(dir, file)), { recursive: true });
        writeFileSync(path.join(dir, file), content, { mode: content.startsWith('#!') ? 0o755 : 0o644 });
      }
      return dir;
    },
  };
}
