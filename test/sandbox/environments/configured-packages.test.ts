import { describe, expect, test } from 'vitest';

import { configuredPackages } from '../../../src/sandbox/environments/configured-packages.ts';

const USER = { environments: { own: ['numpy'], both: ['pandas'] }, skills: { report: 'own', 'team/pdf': 'both' } };
const PROJECT = {
  environments: { theirs: ['evil'], own: ['evil'], both: ['evil'] },
  isOwn: ({ dir }: { readonly dir: string }) => dir === '/project',
  skills: { victim: 'theirs', report: 'theirs', pdf: 'both', csv: 'theirs', 'project/json': 'theirs' },
};

/** The packages of a skill `source/name` under the user's configuration and that of a project. */
function packagesOf(id: string, options: object = {}, dir = '/project'): readonly string[] {
  const [source = '', name = ''] = id.split('/');
  return configuredPackages({ source, name, dir }, { ...USER, ofProject: PROJECT, ...options }).map(({ text }) => text);
}

describe('the environment of a skill', () => {
  test.each(['user', 'builtin', 'option', 'env', 'config', 'team', 'mcp:mail'])(
    'of %s is never chosen by a project',
    (source) => {
      expect(packagesOf(`${source}/victim`)).toEqual([]);
      expect(packagesOf(`${source}/csv`)).toEqual([]);
      expect(packagesOf(`${source}/report`)).toEqual(['numpy']);
    },
  );

  test('of the project is chosen by the user, otherwise by the project', () => {
    expect(packagesOf('project/report')).toEqual(['numpy']);
    expect(packagesOf('project/csv')).toEqual(['evil']);
    expect(packagesOf('project-tools/csv')).toEqual(['evil']);
    expect(packagesOf('project/json')).toEqual(['evil']);
    // A link in the project to a skill of the user.
    expect(packagesOf('project/csv', {}, '/home')).toEqual([]);
    // A list of the user hides one of the project with the same name.
    expect(packagesOf('project/pdf')).toEqual(['pandas']);
    expect(packagesOf('team/pdf')).toEqual(['pandas']);
  });

  test('that only the user’s file names has a list of the user’s file', () => {
    expect(() => packagesOf('user/x', { skills: { x: 'theirs' } })).toThrow('there is no environment "theirs"');
  });

  test('that a person names may be one of the project', () => {
    expect(packagesOf('user/x', { environment: 'theirs' })).toEqual(['evil']);
    expect(packagesOf('user/x', { environment: 'own' })).toEqual(['numpy']);
    expect(() => packagesOf('user/x', { environment: 'constructor' })).toThrow('there is no environment');
  });
});
