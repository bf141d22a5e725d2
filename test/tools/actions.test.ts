import { describe, expect, test } from 'vitest';

import { skillsAgent } from '../../src/tools/actions.ts';
import { verifies } from '../conformance/verifies.ts';
import { LOADED, failed, fake, report, RESULT } from './fake-runtime.ts';

describe('skills-agent', () => {
  verifies('TOOL-4', 'select_skills loads each skill in order, by name and source', async () => {
    const { call, actions } = fake(skillsAgent);
    const { value } = await call('select_skills', {
      skills: [{ name: 'pdf', source: 'project' }, { name: 'csv' }],
      reason: 'forms and tables',
    });
    expect(actions).toEqual([
      { type: 'load_skill', skill: 'pdf', source: 'project' },
      { type: 'load_skill', skill: 'csv' },
    ]);
    expect(value).toMatchInlineSnapshot(`
      {
        "ok": true,
        "skills": [
          {
            "body": "# PDF

      Fill forms with scripts/fill.py.",
            "name": "pdf",
            "path": "/skills/pdf",
            "resources": [
              "USAGE.md",
              "assets/logo.png",
              "references/API.txt",
              "references/forms.md",
              "scripts/fill.py",
            ],
            "sha256": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "source": "project",
            "truncated": false,
          },
          {
            "body": "# PDF

      Fill forms with scripts/fill.py.",
            "name": "pdf",
            "path": "/skills/pdf",
            "resources": [
              "USAGE.md",
              "assets/logo.png",
              "references/API.txt",
              "references/forms.md",
              "scripts/fill.py",
            ],
            "sha256": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "source": "project",
            "truncated": false,
          },
        ],
      }
    `);
  });

  verifies('TOOL-4', 'names alone are taken, too', async () => {
    const { call, actions } = fake(skillsAgent);
    await call('select_skills', { skills: ['pdf', 'csv'] });
    await call('select_skills', { skills: 'pdf' });
    expect(actions.map((action) => 'skill' in action && action.skill)).toEqual(['pdf', 'csv', 'pdf']);
  });

  verifies(['TOOL-4', 'TOOL-6'], 'the first failure stops, and what was loaded before it is shown', async () => {
    const { call, actions } = fake(skillsAgent);
    const answer = await call('select_skills', { skills: ['pdf', 'cvs', 'pdf'] });
    expect(actions).toHaveLength(2);
    expect(answer.observations.map(({ type }) => type)).toEqual(['skill-loaded', 'failed']);
    expect(answer.value).toMatchObject({
      ok: false,
      error: {
        code: 'skill/unknown',
        message: 'there is no skill called "cvs"',
        hint: 'choose one of the listed skills',
        nearest: ['csv'],
      },
      skills: [{ name: 'pdf', body: LOADED.text }],
    });
  });

  test('more than eight skills at once are refused', async () => {
    const { call, actions } = fake(skillsAgent);
    const { value } = await call('select_skills', { skills: Array.from({ length: 9 }, () => 'pdf') });
    expect(value).toMatchObject({ ok: false, error: { code: 'input/invalid' } });
    expect(actions).toEqual([]);
  });

  test('a skill whose text is elsewhere has a note and no body', async () => {
    const { call } = fake(skillsAgent, {}, { placement: 'system' });
    expect((await call('select_skills', { skills: ['pdf'] })).value).toEqual({
      ok: true,
      skills: [
        {
          name: 'pdf',
          source: 'project',
          path: '/skills/pdf',
          notes: ['pdf is loaded: its instructions are in the system message'],
        },
      ],
    });
  });

  verifies('TOOL-4', 'load_resource reads a file, or the section below a heading', async () => {
    const { call, actions } = fake(skillsAgent);
    const { value } = await call('load_resource', {
      skill: { name: 'pdf' },
      relative_path: 'references/kpi.md',
      section_hint: '## 指标定义',
    });
    expect(actions).toEqual([{ type: 'read_resource', skill: 'pdf', path: 'references/kpi.md', section: '指标定义' }]);
    expect(value).toMatchInlineSnapshot(`
      {
        "content": "one
      two",
        "lines": {
          "from": 1,
          "to": 2,
          "total": 2,
        },
        "media_type": "text/markdown",
        "ok": true,
        "relative_path": "references/kpi.md",
        "sha256": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "skill": {
          "name": "pdf",
          "source": "project",
        },
        "truncated": false,
      }
    `);
    await call('load_resource', { skill: 'pdf', relative_path: 'a.md' });
    expect(actions[1]).toEqual({ type: 'read_resource', skill: 'pdf', path: 'a.md' });
  });

  test('a file that is cut or has no such section says so', async () => {
    const { call } = fake(skillsAgent, {
      read_resource: ({ path }) => ({
        type: 'resource-read',
        action: 'read_resource',
        skill: LOADED.skill,
        mediaType: 'text/plain',
        isBinary: false,
        text: 'one',
        lines: { from: 1, to: 200 },
        totalLines: 900,
        report: report(path, { truncated: true, next: 7_000 }),
        notes: ['there is no section called "Nothing"'],
        headings: ['Goal', 'Steps'],
      }),
    });
    expect((await call('load_resource', { skill: 'pdf', relative_path: 'a.txt' })).value).toMatchObject({
      truncated: true,
      notes: [
        'showing lines 1 to 200 of 900',
        'a.txt is cut; continue with load_resource(skill=pdf, relative_path=a.txt, offset=7000)',
        'the headings are: Goal; Steps',
        'there is no section called "Nothing"',
      ],
    });
  });

  verifies('TOOL-4', 'read_file and list_dir stay inside skills', async () => {
    const { call, actions } = fake(skillsAgent, {}, PDF_IS_LOADED);
    await call('read_file', { path: '/skills/pdf/scripts/fill.py' });
    const { value } = await call('list_dir', { path: 'pdf/references/' });
    await call('list_dir', { path: 'pdf' });
    expect(actions).toEqual([
      { type: 'read_resource', skill: 'project/pdf', path: 'scripts/fill.py' },
      { type: 'list_resources', skill: 'project/pdf', folder: 'references' },
      { type: 'list_resources', skill: 'project/pdf' },
    ]);
    expect(value).toMatchInlineSnapshot(`
      {
        "files": [
          {
            "bytes": 300,
            "kind": "file",
            "path": "SKILL.md",
          },
          {
            "bytes": 10,
            "kind": "file",
            "path": "USAGE.md",
          },
          {
            "bytes": 10,
            "kind": "file",
            "path": "assets/logo.png",
          },
          {
            "bytes": 10,
            "kind": "file",
            "path": "data.bin",
          },
          {
            "bytes": 10,
            "kind": "file",
            "path": "references/API.txt",
          },
          {
            "bytes": 2048,
            "kind": "file",
            "path": "references/forms.md",
          },
          {
            "bytes": 10,
            "kind": "file",
            "path": "scripts/fill.py",
          },
        ],
        "ok": true,
        "skill": "pdf",
        "truncated": false,
      }
    `);
    for (const path of ['/etc/passwd', '~/.ssh/id_rsa', '..', '']) {
      expect((await call('read_file', { path })).value).toMatchObject({
        ok: false,
        error: { code: 'path/not-offered' },
      });
      expect((await call('list_dir', { path })).value).toMatchObject({
        ok: false,
        error: { code: 'path/not-offered' },
      });
    }
    expect(actions).toHaveLength(3);
    for (const tool of ['read_file', 'list_dir'])
      expect((await fake(skillsAgent).call(tool, { path: 'pdf/a.md' })).value).toMatchObject({
        ok: false,
        error: {
          code: 'skill/not-loaded',
          message: '"pdf/a.md" is in a skill that is not loaded',
          hint: 'load the skill with select_skills, or read the file with load_resource',
        },
      });
  });

  verifies('TOOL-4', 'final_answer gives the answer back', async () => {
    const { call } = fake(skillsAgent);
    const { value, observations, isError } = await call('final_answer', { answer: 'Done.' });
    expect(value).toEqual({ ok: true, answer: 'Done.' });
    expect(observations).toEqual([{ type: 'answered', action: 'final_answer', answer: 'Done.' }]);
    expect(isError).toBe(false);
  });

  test('a failure that occurred too often says so in the error', async () => {
    const { call } = fake(skillsAgent, { read_resource: () => failed('read_resource', { isTerminal: true }) });
    expect((await call('load_resource', { skill: 'pdf', relative_path: 'a' })).value).toMatchInlineSnapshot(`
      {
        "error": {
          "code": "file/missing",
          "hint": "list the files of the skill; this failure occurred several times in a row, so do not repeat the same call",
          "message": "there is no such file",
          "nearest": [],
          "terminal": true,
        },
        "ok": false,
      }
    `);
  });

  verifies('TOOL-4', 'run_script is offered where programs can run', async () => {
    expect(fake(skillsAgent).tools.map(({ name }) => name)).toEqual(ALWAYS);
    const { tools, call, actions } = fake(skillsAgent, {}, { execution: { hasInteraction: false } });
    expect(tools.map(({ name }) => name).toSorted()).toEqual([...ALWAYS, 'run_script'].toSorted());
    const input = { skill: { name: 'pdf', source: 'project' }, relative_path: 'scripts/fill.py', args: ['--a', '1'] };
    expect((await call('run_script', input)).value).toEqual({ ok: true, ...RESULT });
    expect(actions).toEqual([
      { type: 'run_script', skill: 'pdf', source: 'project', script: 'scripts/fill.py', args: ['--a', '1'] },
    ]);
  });

  verifies('TOOL-4', 'the tools on files and servers are offered where the session opened them', async () => {
    const host = { hasNetwork: true };
    const { tools, call, actions } = fake(skillsAgent, {}, { host, ...PDF_IS_LOADED });
    expect(tools.map(({ name }) => name)).toEqual([...ALWAYS, 'grep', 'write_file', 'delete_file', 'network_request']);
    expect(fake(skillsAgent, {}, { host: { hasNetwork: false } }).tools.map(({ name }) => name)).not.toContain(
      'network_request',
    );
    const answers = [
      await call('read_file', { path: 'src/a.ts', from: 2 }),
      await call('read_file', { path: 'pdf/references/forms.md' }),
      await call('list_dir', { path: '.' }),
      await call('grep', { pattern: 'a+', ignore_case: true, max_matches: 3 }),
      await call('write_file', { path: 'a.txt', content: '' }),
      await call('delete_file', { path: 'a.txt' }),
      await call('network_request', { url: 'https://example.org/', headers: { accept: 'text/plain' } }),
    ];
    expect(answers.map(({ isError }) => isError)).toEqual(answers.map(() => false));
    expect(actions).toEqual([
      { type: 'read_file', path: 'src/a.ts', lines: { from: 2 } },
      { type: 'read_resource', skill: 'project/pdf', path: 'references/forms.md' },
      { type: 'list_dir', path: '.' },
      { type: 'grep', pattern: 'a+', path: '.', ignoreCase: true, maxMatches: 3 },
      { type: 'write_file', path: 'a.txt', content: '' },
      { type: 'delete_file', path: 'a.txt' },
      { type: 'network_request', url: 'https://example.org/', headers: { accept: 'text/plain' } },
    ]);
    expect(answers.map(({ value }) => value)).toMatchSnapshot();
  });
});

const PDF_IS_LOADED = { loaded: () => [{ id: 'project/pdf', name: 'pdf', files: [] }] };

const ALWAYS = ['select_skills', 'load_resource', 'final_answer', 'read_file', 'list_dir'];
