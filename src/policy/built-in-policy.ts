import type { Decision } from '#core';
import { nameMatcher, listPatterns } from './protected-names.ts';
import type { PolicyRule } from './policy-rule.ts';

const BUILT_IN: Decision['origin'] = { layer: 'built-in', where: '' };

/** Rules that always apply, at any depth. The configuration can only add to them. */
export function builtInRules(): readonly PolicyRule[] {
  return [
    ...rulesFor('deny', ['write_file', 'delete_file'], listPatterns('write', 'never')),
    ...rulesFor('deny', ['read_file', 'grep', 'list_dir'], listPatterns('read', 'never')),
    ...rulesFor('deny', ['host_input'], listPatterns('input', 'never')),
    ...rulesFor('ask', ['write_file', 'delete_file'], listPatterns('write', 'ask')),
    ...rulesFor('ask', ['read_file', 'grep'], listPatterns('read', 'ask')),
    ...rulesFor('ask', ['host_input'], listPatterns('input', 'ask')),
  ];
}

/** One rule per pattern, so that a decision names it. Nearly every path matches none, which one expression for all of them finds out. */
function rulesFor(
  effect: 'deny' | 'ask',
  tools: readonly [string, ...string[]],
  patterns: readonly string[],
): readonly PolicyRule[] {
  const family = { matches: nameMatcher(patterns) };
  return patterns.map((pattern) => {
    const globs = [{ matches: nameMatcher([pattern]), reaches: () => true, prefix: '' }];
    return {
      effect,
      text: `${tools[0]}(**/${pattern})`,
      origin: BUILT_IN,
      tools,
      subjects: { kind: 'path', globs, anyCase: true },
      family,
    };
  });
}
