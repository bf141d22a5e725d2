/** What `openSkills` expects of a source of skills, as cases for any test runner. */
import assert from 'node:assert/strict';

import { findFileProblem, isFolderName, type SkillSource, type SourceOptions } from './skill-source.ts';
import { openSkills } from './open-skills.ts';

const ASKED: SourceOptions = { signal: new AbortController().signal };

/** One case; it passes if `run` resolves. */
export interface SourceCase {
  readonly name: string;
  readonly run: () => Promise<void>;
}

/** The cases for a source that has at least one skill. `open` returns it, connected anew for each case. */
export function sourceConformance(open: () => SkillSource | Promise<SkillSource>): readonly SourceCase[] {
  const named = (name: string, check: (source: SkillSource) => Promise<void>): SourceCase => ({
    name,
    run: async () => check(await open()),
  });
  return [
    named('lists skills whose names can be folders, each once', async (source) => {
      const skills = await source.list(ASKED);
      assert.ok(skills.length > 0, 'list() returned no skill');
      for (const { name } of skills) assert.ok(isFolderName(name), `${JSON.stringify(name)} cannot be a folder`);
      assert.equal(new Set(skills.map(({ name }) => name)).size, skills.length, 'a name is listed twice');
    }),
    named('lists the same twice', async (source) => {
      assert.deepEqual(await source.list(ASKED), await source.list(ASKED));
    }),
    named('reads files with relative paths, without SKILL.md, and the same twice', async (source) => {
      for (const { name } of await source.list(ASKED)) {
        const files = await source.read(name, ASKED);
        assert.equal(findFileProblem(files)?.message, undefined);
        assert.deepEqual(await source.read(name, ASKED), files);
      }
    }),
    named('reads skills at the same time', async (source) => {
      const skills = await source.list(ASKED);
      const read = await Promise.all(skills.map(async ({ name }) => source.read(name, ASKED)));
      for (const [index, { name }] of skills.entries()) assert.deepEqual(read[index], await source.read(name, ASKED));
    }),
    named('each skill is offered under its name, and loads', async (source) => {
      const skills = await source.list(ASKED);
      const library = await openSkills({ from: source });
      try {
        assert.deepEqual(
          library.skills.map(({ name }) => name).toSorted(),
          skills.map(({ name }) => name).toSorted(),
          library.problems.map(({ message }) => message).join('\n'),
        );
        for (const { name } of skills) {
          const chat = await library.conversation();
          const { text, isError } = await chat.call('load_skill', { skill: name });
          assert.ok(!isError, text);
        }
      } finally {
        await library.close();
      }
    }),
    named('watch returns a function that stops it', async (source) => {
      if (source.watch === undefined) return;
      const stop = source.watch(() => undefined);
      assert.equal(typeof stop, 'function');
      stop();
    }),
  ];
}
