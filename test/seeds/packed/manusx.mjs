// The example of document 003: the injected prompt, skill_request("pdf"), file_read of the script, and the shell.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { openSkillTools } from 'skillwright/tools';

const skills = path.resolve('backend/skills');
for (const folder of ['pdf/scripts', 'pdf/references', 'pdf/assets'])
  mkdirSync(path.join(skills, folder), { recursive: true });
const description = 'Process PDF files - extract text, read content, create PDFs, merge or split documents.';
const body = '# PDF Processing Skill\n\nYou now have expertise in PDF file processing.';
writeFileSync(path.join(skills, 'pdf/SKILL.md'), `---\nname: pdf\ndescription: ${description}\n---\n\n${body}\n`);
writeFileSync(path.join(skills, 'pdf/scripts/extract_tables.py'), 'print("tables")\n');
writeFileSync(path.join(skills, 'pdf/references/pdf_spec.md'), '# Spec\n');
writeFileSync(path.join(skills, 'pdf/assets/template.html'), '<html>...</html>\n');
const { call, instructions, session } = await openSkillTools({
  vocabulary: 'manusx',
  runtime: { roots: [skills], onlyRoots: true, env: { PATH: process.env.PATH }, home: path.resolve('home') },
  execution: { executor: 'local', artifacts: false },
  host: {},
});
assert.equal(
  instructions.trim(),
  `## Available Skills\n\nYou have access to the following domain expertise:\n- pdf: ${description}\n\nWhen a task matches a skill, request its full content.`,
);
const content = `${body}\n\n## Available Resources\nDirectory: ${skills}/pdf\n- scripts/extract_tables.py\n- references/pdf_spec.md\n- assets/template.html\n`;
for (const _ of [1, 2, 3])
  assert.deepEqual((await call('skill_request', { skill_name: 'pdf' })).value, { success: true, data: { content } });
for (const file of ['scripts/extract_tables.py', `${skills}/pdf/scripts/extract_tables.py`])
  assert.deepEqual((await call('file_read', { file })).value, {
    success: true,
    data: { content: 'print("tables")\n' },
  });
const written = await call('file_write', { file: 'extract.py', content: 'print("extracted")\n' });
assert.equal(written.value.success, true, written.text);
assert.match((await call('shell_exec', { command: 'python3 extract.py' })).text, /extracted/);
const missing = (await call('skill_request', { skill_name: 'x' })).value;
assert.equal(missing.success, false);
assert.match(missing.message, /^Skill 'x' not found/);
await session.close();
