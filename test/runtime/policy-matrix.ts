import { EventEmitter } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { SETTLE_MS, openTerminalAsker } from '../../src/cli/terminal/ask.ts';
import type { Action } from '../../src/core/action.ts';
import type { Observation } from '../../src/core/observation.ts';
import type { Asker, ApprovalsOptions } from '../../src/policy/approval/approver.ts';
import { groupExecutor } from '../sandbox/own-executor.ts';
import { openSite, type Site } from '../project/network/network-world.ts';
import {
  outcomeOf,
  policyWorld,
  sessionIn,
  trustProject,
  userPolicy,
  walledExecutor,
  watchedApprovals,
  type PolicyWorld,
} from './policy-world.ts';

/** Who answers a question, one a column. */
const MODES = [
  'terminal: yes',
  'terminal: no',
  'callback: yes',
  'callback: no',
  'callback fails',
  'nobody',
  '`--yes`',
  'a rule allows',
] as const;
type Mode = (typeof MODES)[number];

const DEEDS = [
  'load a skill',
  'read a file of a skill',
  'read a file of the project',
  'run a script in a sandbox',
  'run a command in a sandbox',
  'run a script without isolation',
  'write a file',
  'delete a file',
  'ask a server',
] as const;
type Deed = (typeof DEEDS)[number];

const FOLDERS = ['trusted', 'untrusted'] as const;
type Folder = (typeof FOLDERS)[number];

/** `done` without a question, `asked, done` after one, or the code of the failure. */
type Cell = string;
type Row = Readonly<Record<Mode, Cell>>;
export type Matrix = Readonly<Record<Folder, Readonly<Record<Deed, Row>>>>;

function row(...cells: readonly Cell[]): Row {
  return Object.fromEntries(MODES.map((mode, at) => [mode, cells[at] ?? ''])) as Row;
}

const OPEN = row(...MODES.map(() => 'done'));
const CLOSED = row(...MODES.map(() => 'skill/untrusted'));
const [YES, NO, NOBODY] = ['asked, done', 'approval/refused', 'approval/needed'];
const MEDIUM = row(YES, NO, YES, NO, NO, NOBODY, YES, 'done');
const HIGH = row(YES, NO, YES, NO, NO, NOBODY, NOBODY, 'done');

/** What must come of each deed. Trust is about the skills of a folder: what is no skill's goes by the rules alone. */
export const EXPECTED: Matrix = {
  trusted: {
    'load a skill': OPEN,
    'read a file of a skill': OPEN,
    'read a file of the project': OPEN,
    'run a script in a sandbox': MEDIUM,
    'run a command in a sandbox': MEDIUM,
    // The rule of the last column allows scripts; that nothing isolates them would need one of its own.
    'run a script without isolation': { ...HIGH, 'a rule allows': NOBODY },
    'write a file': HIGH,
    'delete a file': HIGH,
    'ask a server': HIGH,
  },
  untrusted: {
    'load a skill': CLOSED,
    'read a file of a skill': CLOSED,
    'read a file of the project': OPEN,
    'run a script in a sandbox': CLOSED,
    'run a command in a sandbox': MEDIUM,
    'run a script without isolation': CLOSED,
    'write a file': HIGH,
    'delete a file': HIGH,
    'ask a server': HIGH,
  },
};

export async function measureMatrix(): Promise<Matrix> {
  const site = await openSite((_, response) => response.end('served'));
  const folder = async (name: Folder): Promise<Matrix[Folder]> => {
    const columns = await Promise.all(
      MODES.map(async (mode) => [mode, await measureColumn(mode, name, site)] as const),
    );
    const rowOf = (deed: Deed): Row =>
      Object.fromEntries(columns.map(([mode, cells]) => [mode, cells.get(deed) ?? ''])) as Row;
    return Object.fromEntries(DEEDS.map((deed) => [deed, rowOf(deed)])) as Matrix[Folder];
  };
  const [trusted, untrusted] = await Promise.all([folder('trusted'), folder('untrusted')]);
  return { trusted, untrusted };
}

/** All deeds for one who answers, in a project of their own. */
async function measureColumn(mode: Mode, folder: Folder, site: Site): Promise<ReadonlyMap<Deed, Cell>> {
  const world = policyWorld();
  if (folder === 'trusted') await trustProject(world);
  const allow = [
    'run_script',
    'run_command',
    'write_file',
    'delete_file',
    `network_request(private://127.0.0.1:${String(site.port)})`,
  ];
  const rules = userPolicy(mode === 'a rule allows' ? { allow } : {});
  const watched = watchedApprovals({ home: world.home, ...approverFor(mode) });
  const open = (executor: ReturnType<typeof groupExecutor>): ReturnType<typeof sessionIn> => {
    const execution = { executor, opens: false, artifacts: false } as const;
    return sessionIn(world, { approve: watched.approve, execution }, rules);
  };
  const [walled, bare] = [await open(walledExecutor()), await open(groupExecutor())];
  const cells = new Map<Deed, Cell>();
  for (const deed of DEEDS) {
    const { action, isDone } = deedIn(deed, world, site, mode + folder);
    const questions = watched.asked.length;
    const session = deed === 'run a script without isolation' ? bare : walled;
    const observation = await session.perform(action);
    const result = outcomeOf(observation);
    if (isDone(observation) !== (result === 'done'))
      throw new Error(`${deed} says ${result}, and the world says otherwise`);
    cells.set(deed, result === 'done' && watched.asked.length > questions ? 'asked, done' : result);
  }
  return cells;
}

interface DeedInWorld {
  readonly action: Action;
  /** Whether it really happened, seen from outside. */
  readonly isDone: (observation: Observation) => boolean;
}

function deedIn(deed: Deed, { project }: PolicyWorld, site: Site, mark: string): DeedInWorld {
  const [written, old] = [path.join(project, 'written.md'), path.join(project, 'old.md')];
  const holds = (text: string) => (observation: Observation) => JSON.stringify(observation).includes(text);
  switch (deed) {
    case 'load a skill':
      return { action: { type: 'load_skill', skill: 'demo' }, isDone: holds('# Body') };
    case 'read a file of a skill':
      return {
        action: { type: 'read_resource', skill: 'demo', path: 'references/guide.md' },
        isDone: holds('The guide of demo.'),
      };
    case 'read a file of the project':
      return { action: { type: 'read_file', path: 'notes.md' }, isDone: holds('a note') };
    case 'run a script in a sandbox':
    case 'run a script without isolation':
      return {
        action: { type: 'run_script', skill: 'demo', script: 'go.sh', args: ['it'] },
        isDone: holds('demo ran it'),
      };
    case 'run a command in a sandbox':
      return { action: { type: 'run_command', command: 'expr 20 + 22' }, isDone: holds('42\\n') };
    case 'write a file':
      return { action: { type: 'write_file', path: 'written.md', content: 'x' }, isDone: () => existsSync(written) };
    case 'delete a file':
      writeFileSync(old, 'old\n');
      return { action: { type: 'delete_file', path: 'old.md' }, isDone: () => !existsSync(old) };
    case 'ask a server': {
      const line = `/${encodeURIComponent(mark)}`;
      return {
        action: { type: 'network_request', url: `${site.origin}${line}` },
        isDone: () => site.requests.some((request) => request.line === `GET ${line}`),
      };
    }
  }
}

function approverFor(mode: Mode): Pick<ApprovalsOptions, 'asker' | 'yes'> {
  const says = (verdict: 'yes' | 'no'): Asker => ({ by: 'callback', ask: async () => ({ verdict, scope: 'once' }) });
  switch (mode) {
    case 'terminal: yes':
      return { asker: personAtTerminal('yes') };
    case 'terminal: no':
      return { asker: personAtTerminal('no') };
    case 'callback: yes':
      return { asker: says('yes') };
    case 'callback: no':
      return { asker: says('no') };
    case 'callback fails':
      return { asker: { by: 'callback', ask: () => Promise.reject(new Error('the callback broke')) } };
    case '`--yes`':
      return { yes: true };
    case 'nobody':
    case 'a rule allows':
      return {};
  }
}

/** The questions of the command on a screen, and a person who reads them before they hit a key. */
function personAtTerminal(verdict: 'yes' | 'no'): Asker {
  const input = Object.assign(new EventEmitter(), {
    isTTY: true,
    setRawMode: () => undefined,
    resume: () => undefined,
    pause: () => undefined,
  });
  let typing: NodeJS.Timeout | undefined;
  const type = (text: string): void => {
    for (const key of text) input.emit('data', Buffer.from(key));
  };
  const write = (text: string): void => {
    if (text.endsWith('\n')) clearInterval(typing);
    if (!text.endsWith('> ')) return;
    // Keys that are hit too early count for nothing, so that they are hit again.
    const keys = text.includes('type yes') ? `${verdict}\r` : verdict.slice(0, 1);
    typing = setInterval(type, SETTLE_MS + 50, keys);
  };
  const asker = openTerminalAsker({ input, output: { isTTY: true, columns: 80, write }, interrupt: () => undefined });
  if (asker === undefined) throw new Error('that is no terminal');
  return asker;
}

/** The page's table: a row for each deed, two where trust makes a difference. */
export function matrixTable({ trusted, untrusted }: Matrix): string {
  const shown = (cell: Cell): string => (cell.includes('/') ? `\`${cell}\`` : cell);
  const line = (name: string, cells: Row): string =>
    `| ${[name, ...MODES.map((mode) => shown(cells[mode]))].join(' | ')} |`;
  const rows = DEEDS.flatMap((deed) => {
    const [one, other] = [trusted[deed], untrusted[deed]];
    if (MODES.every((mode) => one[mode] === other[mode])) return [line(deed, one)];
    return [line(`${deed}, trusted`, one), line(`${deed}, untrusted`, other)];
  });
  return [`| | ${MODES.join(' | ')} |`, `|---${'|---'.repeat(MODES.length)}|`, ...rows].join('\n');
}
