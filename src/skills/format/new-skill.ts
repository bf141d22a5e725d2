import { invalidInput, isValidName, printable, toSlug } from '#core';

export const SKILL_PARTS = ['scripts', 'references', 'assets', 'evals'] as const;
type SkillPart = (typeof SKILL_PARTS)[number];

export interface NewSkill {
  readonly name: string;
  /** What the skill does and when to use it (default: a placeholder). */
  readonly description?: string | undefined;
  readonly parts: readonly SkillPart[];
}

export interface NewFile {
  /** Relative to the skill's folder. */
  readonly path: string;
  readonly text: string;
  readonly isExecutable: boolean;
}

/** The files of a new skill, which passes `check` unchanged. */
export function newSkillFiles({ name, description, parts }: NewSkill): readonly NewFile[] {
  if (!isValidName(name)) {
    const slug = toSlug(name);
    throw invalidInput(
      `${JSON.stringify(printable(name))} is not a valid skill name`,
      'a name of 1 to 64 lower-case letters, digits and single hyphens',
      `use lower-case letters, digits and single hyphens${slug === undefined ? '' : `: ${slug}`}`,
    );
  }
  const about = (
    description ??
    `Describes in one sentence what ${name} does. Use when the user asks for it, for example with these words.`
  ).trim();
  return [file('SKILL.md', skillMd(name, about, parts)), ...parts.flatMap((part) => PART_FILES[part](name))];
}

function skillMd(name: string, description: string, parts: readonly SkillPart[]): string {
  const resources = [
    ...(parts.includes('scripts') ? ['- `scripts/main.py`: does the mechanical part; run it, do not read it.'] : []),
    ...(parts.includes('references') ? ['- `references/details.md`: read it when a case is not covered here.'] : []),
    ...(parts.includes('assets') ? ['- `assets/template.md`: the form of the result.'] : []),
  ];
  return `---
name: ${name}
description: ${JSON.stringify(description)}
license: MIT
metadata:
  version: "0.1.0"
---

# ${name}

## Goal

What is true after this skill has run.

## Input and output

What the skill needs from the user or the workspace, and what it produces.

## Steps

1. Look at the input and say what is missing.
2. Do the work${parts.includes('scripts') ? ' with `scripts/main.py`' : ''}.
3. Check the result against the list below.

## When it goes wrong

- The input is missing or unreadable: say so and stop.

## Check before you answer

- [ ] The result does what was asked, and nothing else.
${resources.length === 0 ? '' : `\n## Files\n\n${resources.join('\n')}\n`}`;
}

const PART_FILES: Readonly<Record<SkillPart, (name: string) => readonly NewFile[]>> = {
  scripts: (name) => [
    {
      path: 'scripts/main.py',
      isExecutable: true,
      text: `#!/usr/bin/env python3
"""What this script of ${name} does, in one line. Usage: main.py INPUT"""
import sys


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    with open(arguments[0], encoding="utf-8") as file:
        print(f"{sum(1 for _ in file)} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
`,
    },
  ],
  references: (name) => [
    file(
      'references/details.md',
      `# Details of ${name}\n\nPut here what the skill needs only sometimes, so that it is loaded only then.\n`,
    ),
  ],
  assets: () => [file('assets/template.md', '# Title\n\nOne sentence that answers the question.\n')],
  evals: (name) => [
    file(
      'evals/evals.json',
      `${JSON.stringify(
        {
          skill_name: name,
          evals: [
            {
              id: 1,
              prompt: `REPLACE ME: a request that ${name} is for`,
              expected_output: 'REPLACE ME: what a right answer contains',
              files: [],
              expectations: ['REPLACE ME: one statement that holds for a right answer'],
            },
          ],
        },
        undefined,
        2,
      )}\n`,
    ),
    file(
      'evals/trigger-eval.json',
      `${JSON.stringify(
        [
          { query: `REPLACE ME: a request that ${name} is for`, should_trigger: true },
          { query: 'REPLACE ME: a request that sounds like it and is not', should_trigger: false },
        ],
        undefined,
        2,
      )}\n`,
    ),
  ],
};

function file(path: string, text: string): NewFile {
  return { path, text, isExecutable: false };
}
