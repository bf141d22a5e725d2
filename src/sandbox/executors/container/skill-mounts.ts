import { chmodSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { StagedSkill, WorkspacePlace } from '../../../core/execution.ts';
import { skillView } from '../bubblewrap/host-view.ts';

/** Something of the host that is shown below the workspace, read-only. */
export interface ReadOnlyMount {
  readonly source: string;
  /** Below the workspace. */
  readonly target: string;
}

interface View {
  readonly skills: readonly StagedSkill[];
  made?: { readonly folder: string; readonly mounts: readonly ReadOnlyMount[] };
}

/**
 * The skills as programs see them. An engine mounts, but makes no links; those that lead from a skill into the workspace stand in a
 * folder of ours, with an empty place for each entry of the skill that is then mounted on it. Skills may be staged between two
 * programs: each state of them has a key and a folder of its own, because containers of an earlier state may still run.
 */
export class SkillMounts {
  readonly #place: WorkspacePlace;
  readonly #views = new Map<string, View>();

  constructor(place: WorkspacePlace) {
    this.#place = place;
  }

  /** The key of the skills as they are now. */
  now(): string {
    const skills = [...this.#place.skills];
    const key = JSON.stringify(skills.map(({ name, digest, snapshot }) => [name, digest, snapshot]));
    if (!this.#views.has(key)) this.#views.set(key, { skills });
    return key;
  }

  mounts(key: string): readonly ReadOnlyMount[] {
    const view = this.#views.get(key);
    if (view === undefined) throw new RangeError(`no skills were seen as ${key}`);
    view.made ??= makeView(view.skills, this.#place.root);
    return view.made.mounts;
  }

  remove(): void {
    for (const { made } of this.#views.values())
      if (made !== undefined) rmSync(made.folder, { recursive: true, force: true });
    this.#views.clear();
  }
}

function makeView(skills: readonly StagedSkill[], root: string): NonNullable<View['made']> {
  const folder = mkdtempSync(path.join(root, '.container-'));
  chmodSync(folder, 0o755);
  return {
    folder,
    mounts: [{ source: folder, target: 'skills' }, ...skills.flatMap((skill) => placeSkill(skill, folder))],
  };
}

function placeSkill({ name, snapshot }: StagedSkill, folder: string): readonly ReadOnlyMount[] {
  const mounts: ReadOnlyMount[] = [];
  mkdirSync(path.join(folder, name));
  chmodSync(path.join(folder, name), 0o755);
  for (const shown of skillView(snapshot, name)) {
    const at = path.join(folder, shown.target);
    if (shown.type === 'link') {
      symlinkSync(shown.leadsTo, at);
      continue;
    }
    if (shown.target !== name) {
      if (lstatSync(shown.source).isDirectory()) mkdirSync(at, { mode: 0o755 });
      else writeFileSync(at, '', { flag: 'wx', mode: 0o444 });
    }
    mounts.push({ source: shown.source, target: `skills/${shown.target}` });
  }
  return mounts;
}
