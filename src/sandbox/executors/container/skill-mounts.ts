import { chmodSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { StagedSkill, WorkspaceFolder } from '#core';
import { skillMounts } from '../linux/mounts.ts';

/** A file or folder of the host that is mounted read-only below the workspace. */
export interface ReadOnlyMount {
  readonly source: string;
  /** Relative to the workspace. */
  readonly target: string;
}

interface View {
  readonly skills: readonly StagedSkill[];
  created?: { readonly folder: string; readonly mounts: readonly ReadOnlyMount[] };
}

/**
 * The skills as programs see them. An engine mounts files but creates no links, so the links from a skill into the workspace are in a
 * folder created here, with an empty mount point for each entry of the skill. Skills may be staged between two programs: each set of
 * skills has its own key and folder, because containers with an earlier set may still run.
 */
export class SkillMounts {
  readonly #place: WorkspaceFolder;
  readonly #views = new Map<string, View>();

  constructor(place: WorkspaceFolder) {
    this.#place = place;
  }

  /** The key of the skills that are staged now. */
  currentKey(): string {
    const skills = [...this.#place.skills];
    const key = JSON.stringify(skills.map(({ name, digest, snapshot }) => [name, digest, snapshot]));
    if (!this.#views.has(key)) this.#views.set(key, { skills });
    return key;
  }

  mounts(key: string): readonly ReadOnlyMount[] {
    const view = this.#views.get(key);
    if (view === undefined) throw new RangeError(`unknown skill set ${key}`);
    view.created ??= createView(view.skills, this.#place.root);
    return view.created.mounts;
  }

  remove(): void {
    for (const { created } of this.#views.values())
      if (created !== undefined) rmSync(created.folder, { recursive: true, force: true });
    this.#views.clear();
  }
}

function createView(skills: readonly StagedSkill[], root: string): NonNullable<View['created']> {
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
