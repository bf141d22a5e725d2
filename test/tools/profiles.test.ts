import { expect, test } from 'vitest';

import { checkConfig } from '../../src/core/config/config-check.ts';
import type { Profile } from '../../src/core/profile.ts';
import { VOCABULARY_NAMES } from '../../src/core/vocabulary-names.ts';
import { PROFILES, findProfile } from '../../src/tools/profiles.ts';
import { VOCABULARIES } from '../../src/tools/vocabularies.ts';

test('every vocabulary carries its profile, and the profile is found by name', () => {
  const carried = VOCABULARY_NAMES.map((name) => (VOCABULARIES[name] as { readonly profile?: Profile }).profile ?? {});
  expect(carried).toEqual(Object.values(PROFILES));
  expect(VOCABULARY_NAMES.map((name) => findProfile(name))).toEqual(Object.values(PROFILES));
  expect([findProfile(undefined), findProfile('__proto__'), findProfile('trcp')]).toEqual([{}, {}, {}]);
});

test('settings of a profile are valid, and its folders stay below the project', () => {
  const profiles = Object.values<Profile>(PROFILES);
  expect(profiles.flatMap(({ settings = {} }) => checkConfig(settings))).toEqual([]);
  const folders = profiles.flatMap(({ projectFolders = [], installFolder }) => [
    ...projectFolders,
    ...Object.values(installFolder ?? {}),
  ]);
  expect(folders.filter((folder) => /^[/\\~]|(?:^|\/)\.\.(?:\/|$)|\\/.test(folder))).toEqual([]);
});
