import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const FOLDERS =
  '.claude .codex .agents .gemini .qwen .copilot .github .opencode .pi .pi/agent .config/opencode .agent .cursor'.split(
    ' ',
  );
const CLASHING = '.claude .agents .codex .gemini .qwen .copilot .github .opencode .pi'.split(' ');

export function writeSkill(folder: string, text: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'SKILL.md'), text);
}

export function plainSkill(name: string, description = `Says ${name}.`, more = ''): string {
  return `---\nname: ${name}\ndescription: ${description}\n${more}---\n\n# ${name}\n`;
}

/** Skills in every folder that some agent reads, and skills about which agents differ, in one folder of the user. */
export function writeOddSkills(top: string, main: string): { readonly home: string; readonly cwd: string } {
  const [home, repo] = [path.join(top, 'home'), path.join(top, 'repo')];
  const cwd = path.join(repo, 'sub');
  mkdirSync(path.join(repo, '.git'), { recursive: true });
  const scopes = { home, above: top, repo, cwd };
  for (const [scope, base] of Object.entries(scopes))
    for (const folder of FOLDERS) {
      const name = `${scope}-${folder.replaceAll(/[./]/g, '')}`;
      writeSkill(path.join(base, folder, 'skills', name), plainSkill(name));
    }
  for (const scope of ['home', 'repo', 'cwd'] as const)
    for (const folder of CLASHING)
      writeSkill(path.join(scopes[scope], folder, 'skills/clash'), plainSkill('clash', `Clash of ${scope} ${folder}.`));
  const own = path.join(home, main, 'skills');
  for (const [folder, text] of Object.entries(oddTexts())) writeSkill(path.join(own, folder), text);
  mkdirSync(path.join(own, 'lower'));
  writeFileSync(path.join(own, 'lower/skill.md'), plainSkill('lower-file'));
  writeFileSync(path.join(own, 'root-file.md'), plainSkill('root-file'));
  writeSkill(path.join(top, 'elsewhere/linked'), plainSkill('linked'));
  symlinkSync(path.join(top, 'elsewhere/linked'), path.join(own, 'linked'));
  symlinkSync(own, path.join(own, 'loop'));
  symlinkSync(path.join(top, 'nowhere'), path.join(own, 'dangling'));
  return { home, cwd };
}

function oddTexts(): Readonly<Record<string, string>> {
  return {
    'group/nested-two': plainSkill('nested-two'),
    'group/deep/nested-three': plainSkill('nested-three'),
    'dir-name-a': plainSkill('other-name-a'),
    'no-name': '---\ndescription: No name here.\n---\n\nBody text\n',
    'no-desc': '---\nname: no-desc\n---\n\nFirst body line of no-desc.\n',
    'empty-desc': '---\nname: empty-desc\ndescription: ""\n---\n\nFirst body line of empty-desc.\n',
    'no-front': '# No front\n\nSome text of no-front.\n',
    colon: plainSkill('colon', 'Use when: the user says so'),
    'broken-yaml': '---\nname: broken-yaml\ndescription: "unclosed\n---\n\nbody\n',
    manual: plainSkill('manual', 'Manual only.', 'disable-model-invocation: true\n'),
    'not-user': plainSkill('not-user', 'Not user.', 'user-invocable: false\n'),
    when: plainSkill('when', 'Has when.', 'when_to_use: When to use text.\n'),
    paths: plainSkill('paths', 'Has paths.', 'paths: "**/*.zz"\n'),
    'long-desc': plainSkill('long-desc', `${'x'.repeat(100)} ${'long '.repeat(400)}`),
    'desc-1025': plainSkill('desc-1025', 'y'.repeat(1025)),
    'multi-line': '---\nname: multi-line\ndescription: |\n  First line.\n  Second line <b>&amp;.\n---\n\nbody\n',
    Upper_Case: plainSkill('Upper_Case'),
    'space name': plainSkill('space name'),
    ['a'.repeat(70)]: plainSkill('a'.repeat(70)),
    'num-desc': '---\nname: num-desc\ndescription: 42\n---\n\nbody\n',
    'num-name': '---\nname: 42\ndescription: Name is number.\n---\n\nbody\n',
    bom: `\uFEFF${plainSkill('bom')}`,
    crlf: plainSkill('crlf').replaceAll('\n', '\r\n'),
    '.hidden': plainSkill('hidden-dir'),
  };
}
