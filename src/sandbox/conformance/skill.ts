import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** The skill that the cases stage, with every kind of file that a skill may contain. */
export const SKILL = 'conformance-skill';
export const OTHER_SKILL = 'other-skill';

export const ALL_BYTES: Uint8Array = Uint8Array.from({ length: 1024 }, (_, at) => (at * 7 + (at >> 8)) % 256);
export const UNICODE_NAME = 'references/größe 大小 🎉.md';
export const UNICODE_TEXT = 'größe 大小 🎉\n';

/** Print the path of the script and its arguments. */
const WHERE_SH = `#!/bin/sh
printf '%s' "$(readlink -f "$0")"
printf '|%s' "$@"
`;
const WHERE_PY = `#!/usr/bin/env python3
import os, sys
print(os.path.realpath(__file__), *sys.argv[1:], sep="|", end="")
`;

const PLAIN_MJS = `import { argv, stdout } from "node:process";
stdout.write("node " + JSON.stringify(argv.slice(2)));
`;

const FILES: readonly (readonly [name: string, content: string | Uint8Array, isProgram: boolean])[] = [
  ['SKILL.md', `---\nname: ${SKILL}\ndescription: Every kind of file.\n---\n\n# Body\n`, false],
  ['assets/all-bytes.bin', ALL_BYTES, false],
  ['assets/nothing', '', false],
  [UNICODE_NAME, UNICODE_TEXT, false],
  ['scripts/where.sh', WHERE_SH, true],
  ['scripts/where.py', WHERE_PY, true],
  ['scripts/hello.sh', '#!/bin/sh\nprintf "hello from %s\\n" "$(basename "$0")"\n', true],
  ['scripts/plain.sh', 'printf "plain %s\\n" "$1"\n', false],
  ['scripts/plain.py', 'import sys\nprint("python", sys.argv[1:])\n', false],
  ['scripts/plain.mjs', PLAIN_MJS, false],
  ['scripts/windows.sh', '#!/bin/sh\r\nfor word in "$@"; do\r\n  printf "<%s>" "$word"\r\ndone\r\n', true],
  ['scripts/windows.py', '#!/usr/bin/env python3\r\nimport sys\r\nprint(sys.argv[1:])\r\n', true],
];

/** Writes the skill below `folder` and returns its path. */
export function writeConformanceSkill(folder: string): string {
  const root = path.join(folder, SKILL);
  for (const [name, content, isProgram] of FILES) {
    const file = path.join(root, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
    chmodSync(file, isProgram ? 0o755 : 0o644);
  }
  mkdirSync(path.join(root, 'empty'));
  symlinkSync('../assets/all-bytes.bin', path.join(root, 'references/link.bin'));
  return root;
}

/** Writes a second skill with one file. */
export function writeOtherSkill(folder: string): string {
  const root = path.join(folder, OTHER_SKILL);
  mkdirSync(root, { recursive: true });
  writeFileSync(path.join(root, 'SKILL.md'), `---\nname: ${OTHER_SKILL}\ndescription: Another.\n---\n`);
  return root;
}
