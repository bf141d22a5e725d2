import { chmodSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { skillMounts } from '../linux/mounts.ts';
import type { StagedSkill, WorkspaceFolder } from '../../program-types.ts';

/** A file or folder of the host that is mounted read-only below the workspace. */
export interface ReadOnlyMount {
  readonly source: string;
  /** Relative to the workspace. */
  readonly target: string;
}

/**
 * The skills as programs see them. An engine mounts files but creates no links, so the links from a skill into the workspace are in a
 * folder created here, with an empty mount point for each entry of the skill. Skills may be staged between two programs: each set of
 * skills has its own key and folder, because containers with an earlier set may still run.
 */
export interface SkillMounts {
  /** The key of the skills that are staged now. */
  currentKey(): string;
  mounts(key: string): readonly ReadOnlyMount[];
  remove(): void;
}

interface View {
  readonly folder: string;
  readonly mounts: readonly ReadOnlyMount[];
}

export function openSkillMounts(place: WorkspaceFolder): SkillMounts {
  const sets = new Map<string, readonly StagedSkill[]>();
  const views = new Map<string, View>();
  return {
    currentKey() {
      const skills = [...place.skills];
      const key = JSON.stringify(skills.map(({ name, digest, snapshot }) => [name, digest, snapshot]));
      sets.set(key, skills);
      return key;
    },
    mounts(key) {
      const view = views.get(key) ?? createView(sets.get(key) ?? [], place.root);
      views.set(key, view);
      return view.mounts;
    },
    remove() {
      for (const { folder } of views.values()) rmSync(folder, { recursive: true, force: true });
      views.clear();
    },
  };
}

function createView(skills: readonly StagedSkill[], root: string): View {
  const folder = mkdtempSync(path.join(root, '.container-'));
  chmodSync(folder, 0o755);
  return {
    folder,
    mounts: [{ source: folder, target: 'skills' }, ...skills.flatMap((skill) => createMountPoints(skill, folder))],
  };
}

function createMountPoints({ name, snapshot }: StagedSkill, folder: string): readonly ReadOnlyMount[] {
  const mounts: ReadOnlyMount[] = [];
  mkdirSync(path.join(folder, name));
  chmodSync(path.join(folder, name), 0o755);
  for (const mount of skillMounts(snapshot, name)) {
    const at = path.join(folder, mount.target);
    if (mount.type === 'link') {
      symlinkSync(mount.linkTarget, at);
      continue;
    }
    if (mount.target !== name) {
      if (lstatSync(mount.source).isDirectory()) mkdirSync(at, { mode: 0o755 });
      else writeFileSync(at, '', { flag: 'wx', mode: 0o444 });
    }
    mounts.push({ source: mount.source, target: `skills/${mount.target}` });
  }
  return mounts;
}
