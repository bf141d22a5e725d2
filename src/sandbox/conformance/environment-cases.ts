import assert from 'node:assert/strict';

import { isSkillError } from '#core';
import { RUN_MARK } from '../process/process-tree.ts';
import { assertExit, type CaseDefinition, conform, type Fixture, prints } from './fixture.ts';
import { SKILL } from './skill.ts';

/** Shells and sandboxes set these on their own; none reveals anything about the host. */
const OWN_OF_SHELLS: ReadonlySet<string> = new Set(['PWD', 'OLDPWD', 'SHLVL', '_', RUN_MARK]);

type Expected = (fixture: Fixture, runFolder: string) => string;

const VARIABLES: readonly (readonly [name: string, expected: Expected])[] = [
  ['WORKSPACE_DIR', ({ root }) => root],
  ['SKILLS_DIR', ({ root }) => `${root}/skills`],
  ['WORK_DIR', ({ root }) => `${root}/work`],
  ['OUTPUT_DIR', ({ root }) => `${root}/out`],
  ['RUN_DIR', ({ root }, runFolder) => `${root}/${runFolder}`],
  ['SKILL_DIR', ({ root }) => `${root}/skills/${SKILL}`],
];

function variableCase([name, expected]: (typeof VARIABLES)[number]): CaseDefinition {
  return conform('EXEC-2', `${name} names a folder that is there`, async (fixture) => {
    const { stdout, runFolder } = await fixture.mustSucceed(
      `printf '%s' "$${name}" && cd "$${name}" && printf '|%s' "$PWD"`,
    );
    const folder = expected(fixture, runFolder);
    assert.equal(stdout.toString('utf8'), `${folder}|${folder}`);
  });
}

function cwdCase(asked: string, about: string): CaseDefinition {
  return conform('EXEC-2', `a program starts in ${about}`, async (fixture) => {
    assert.equal(
      await fixture.print('pwd -P', { cwd: asked }),
      `${asked === '.' ? fixture.root : `${fixture.root}/${asked}`}\n`,
    );
  });
}

function refusedCwdCase(asked: string): CaseDefinition {
  return conform(
    'EXEC-2',
    `a program does not start in ${JSON.stringify(asked)}, which is outside`,
    async (fixture) => {
      await fixture.mustRefuse(['sh', '-c', 'echo x > "$RUN_DIR/ran"'], { cwd: asked });
    },
  );
}

const ODD_VALUE = ` a=b "c" 'd' $(e) \\n\n größe 大小 `;

export const ENVIRONMENT_CASES: readonly CaseDefinition[] = [
  conform('EXEC-2', 'the environment is the given one and nothing of the host', async (fixture) => {
    const prepared = fixture.prepare(['env', '-0'], { env: { GIVEN: 'value' } });
    const ran = await fixture.runPrepared(prepared);
    assertExit(ran, 0);
    const seen = ran.stdout
      .toString('utf8')
      .split('\0')
      .filter((line) => line !== '')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const)
      .filter(([name]) => Object.hasOwn(prepared.spec.env, name) || !OWN_OF_SHELLS.has(name));
    assert.deepEqual(Object.fromEntries(seen), prepared.spec.env);
  }),
  prints(
    'EXEC-2',
    'a value with quotes, a newline, an equals sign and Unicode arrives as it is',
    'printf %s "$ODD"; printf "|%s|" "$EMPTY"',
    `${ODD_VALUE}||`,
    { env: { ODD: ODD_VALUE, EMPTY: '' } },
  ),
  ...VARIABLES.map(variableCase),
  prints('EXEC-2', 'SKILL_NAME is the name of the skill', 'printf %s "$SKILL_NAME"', SKILL),
  prints(
    'EXEC-2',
    'HOME and TMPDIR are inside the workspace and can be written',
    'for d in "$HOME" "$TMPDIR"; do case $d/ in "$WORKSPACE_DIR"/*) : > "$d/.probe" && printf y ;; esac; done',
    'yy',
  ),
  cwdCase(`skills/${SKILL}`, "the skill's folder"),
  cwdCase('.', 'the workspace itself'),
  cwdCase('work', 'the folder for work'),
  cwdCase('out', 'the folder for output'),
  cwdCase(`skills/${SKILL}/scripts`, 'a folder inside the skill'),
  ...['..', '/', '/etc', 'work/../..', '../../../../etc'].map(refusedCwdCase),
  conform('EXEC-2', 'a folder that is not there is no place to start in', async (fixture) => {
    await assert.rejects(fixture.run(['true'], { cwd: 'work/missing' }), isSkillError);
  }),
  conform('EXEC-2', 'a program inherits no descriptor but its three streams', async (fixture) => {
    // Ignores closed descriptors and that of the folder which the shell just listed.
    const text = await fixture.print(
      '[ ! -d /proc/self/fd ] || for f in /proc/$$/fd/*; do [ "${f##*/}" -gt 2 ] && readlink "$f"; done; true',
    );
    const leadsTo = text.split('\n');
    assert.deepEqual(
      leadsTo.filter((place) => place !== '' && place !== '/dev/null' && !/^\/proc\/\d+\/fd$/.test(place)),
      [],
    );
  }),
];
