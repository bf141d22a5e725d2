import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { PROJECT } from '../files-below.ts';
import { installPackages, runSteps, wrongCommands } from './run-page.ts';
import { isShown, readSteps } from './shown-commands.ts';
import { pictureText, terminalPicture } from './terminal-picture.ts';
import { needs } from '../needs.ts';
const PICTURE = path.join(PROJECT, 'docs/pictures/run.svg');

/** What the picture shows. */
const RECORDED = `
\`\`\`yaml file=old.yml
name: web
port: 8080
replicas: 2
\`\`\`
\`\`\`yaml file=new.yml
name: web
port: 9090
replicas: 2
tls: true
\`\`\`
\`\`\`console
$ skillwright run "Compare old and new: what differs?" --in old.yml --in new.yml --model rules --yes
$ skillwright runs verify last
\`\`\`
`;

const isUpdate = process.env['UPDATE_DOCS'] === '1';

describe('the README', needs('python3 with pty', 'bubblewrap'), () => {
  test('shows what its commands print', async () => {
    const options = { prepare: installPackages };
    expect(await wrongCommands('README.md', 'README.zh-CN.md', options)).toEqual([]);
  }, 600_000);

  test('has a picture of what a run prints; npm run picture draws it', async () => {
    const steps = readSteps(RECORDED);
    const results = await runSteps(steps, { isColored: true });
    const commands = steps.filter((step) => step.type === 'command');
    const shown = commands.map(({ command }, index) => ({
      command,
      output: (results[index]?.output ?? []).filter((line) => !line.includes('testing the isolation')),
    }));
    expect(results.map(({ status }) => status)).toEqual([0, 0]);
    const drawn = terminalPicture(shown, 'skillwright run with the skill text-diff');
    const isRight = (): boolean =>
      existsSync(PICTURE) && isShown(pictureText(readFileSync(PICTURE, 'utf8')), pictureText(drawn));
    if (isUpdate && !isRight()) writeFileSync(PICTURE, drawn);
    expect(isRight(), `the picture is out of step; today:\n${pictureText(drawn).join('\n')}`).toBe(true);
  }, 600_000);
});
