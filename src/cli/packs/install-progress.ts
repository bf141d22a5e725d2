import type { InstallProgress } from '../../packs/install.ts';

const STEPS: Readonly<Record<InstallProgress['step'], string>> = {
  fetch: 'fetching',
  unpack: 'unpacking',
  copy: 'copying',
  inspect: 'inspecting',
  check: 'checking',
  write: 'writing to the disk',
  apply: 'moving in',
};

/** What an install or an update is at. */
export function progressText({ step, done, total }: InstallProgress): string {
  const count = done === undefined ? '' : ` ${String(done)}${total === undefined ? '' : ` of ${String(total)}`}`;
  return `${STEPS[step]}${count}`;
}
