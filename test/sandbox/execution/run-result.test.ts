import { describe, expect, test } from 'vitest';

import type { OutputParameters } from '../../../src/core/outputs.ts';
import type { Collected } from '../../../src/sandbox/outputs/collect.ts';
import { makeRunResult, readOutputRequest, type OutputRequest } from '../../../src/sandbox/execution/run-result.ts';
import { verifies } from '../../conformance/verifies.ts';
import { isProblem } from '../../../src/core/problem.ts';

function requestOf(parameters: OutputParameters): OutputRequest {
  const reading = readOutputRequest(parameters);
  if (isProblem(reading)) throw new Error(reading.message);
  return reading;
}

describe('what is asked for', () => {
  verifies(['EXEC-2', 'EXEC-5'], 'output_files and outputs make the same request', () => {
    const older = requestOf({
      output_files: ['$OUTPUT_DIR/*.txt', 'out/*.txt', 'work/x'],
      save_as_artifacts: true,
      artifact_prefix: 'pref/',
    });
    const declared = requestOf({
      outputs: { globs: ['out/*.txt', '${WORK_DIR}/x'], inline: true, save: true, name_template: 'pref/' },
    });
    expect(older).toEqual({
      globs: ['out/*.txt', 'work/x'],
      inline: true,
      showsPrimary: false,
      save: true,
      artifactPrefix: 'pref/',
      isAutomatic: false,
    });
    expect(declared).toEqual(older);
  });

  test('outputs shows nothing inline unless told, output_files does unless told otherwise', () => {
    expect(requestOf({ outputs: { globs: ['out/a'] } })).toMatchObject({ inline: false, showsPrimary: true });
    expect(requestOf({ outputs: { globs: ['out/a'], inline: false } })).toMatchObject({
      inline: false,
      showsPrimary: false,
    });
    expect(requestOf({ output_files: ['out/a'] })).toMatchObject({ inline: true, showsPrimary: false });
    expect(requestOf({ output_files: ['out/a'], omit_inline_content: true })).toMatchObject({
      inline: false,
      showsPrimary: false,
    });
  });

  test('both at once are joined, and outputs decides on names and limits', () => {
    expect(
      requestOf({
        output_files: ['out/a'],
        artifact_prefix: 'older/',
        outputs: {
          globs: ['out/b'],
          save: true,
          name_template: 'declared/',
          max_files: 3,
          max_file_bytes: 4,
          max_total_bytes: 5,
        },
      }),
    ).toEqual({
      globs: ['out/a', 'out/b'],
      inline: true,
      showsPrimary: false,
      save: true,
      artifactPrefix: 'declared/',
      maxFiles: 3,
      maxFileBytes: 4,
      maxTotalBytes: 5,
      isAutomatic: false,
    });
  });

  test('where nothing is asked for, out and changes beside the inputs are looked through, twenty files, not shown', () => {
    const automatic = {
      globs: ['out/**', 'work/inputs/**'],
      inline: false,
      showsPrimary: true,
      save: false,
      artifactPrefix: '',
      maxFiles: 20,
      isAutomatic: true,
    };
    expect(requestOf({})).toEqual(automatic);
    expect(requestOf({ outputs: { inline: true } })).toEqual(automatic);
    expect(requestOf({ save_as_artifacts: true })).toEqual({ ...automatic, save: true });
  });

  test('a pattern that leaves the workspace is refused, wherever it stands', () => {
    const refused = [{ output_files: ['out/a', '../x'] }, { outputs: { globs: ['/etc/passwd'] } }].map((parameters) => {
      const reading = readOutputRequest(parameters);
      return isProblem(reading) ? reading.code : reading;
    });
    expect(refused).toEqual(['path/parent', 'path/absolute']);
  });
});

describe('the result of a run', () => {
  const file = {
    name: 'out/b.txt',
    content: 'b',
    mime_type: 'text/plain',
    size_bytes: 1,
    truncated: false,
    ref: 'workspace://out/b.txt',
    digest: 'sha256:0',
  };
  const collected: Collected = {
    files: [file, { ...file, name: 'out/a.txt' }],
    primary: file,
    saved: [
      { name: 'z', version: 1 },
      { name: 'a', version: 0 },
    ],
    skipped: [{ name: 'out/link', size_bytes: 4, reason: 'link' }],
    warnings: ['not collected', 'twice'],
  };

  verifies('EXEC-3', 'has every field, in an order that does not depend on the machine', () => {
    expect(
      makeRunResult({
        end: { reason: 'exited', exitCode: 0, durationMs: 12.6, warnings: ['twice'] },
        stdout: { text: 'said', truncated: true, ref: 'workspace://runs/1/stdout' },
        stderr: { text: '', truncated: false },
        executor: 'bubblewrap',
        isolation: 'bubblewrap',
        collected,
        stagedInputs: [{ name: 'work/inputs/a', original_name: 'host:///a', mime_type: 'text/plain', size_bytes: 3 }],
        warnings: ['first'],
      }),
    ).toEqual({
      stdout: 'said',
      stderr: '',
      exit_code: 0,
      timed_out: false,
      duration_ms: 13,
      output_files: [{ ...file, name: 'out/a.txt' }, file],
      primary_output: file,
      artifact_files: [
        { name: 'a', version: 0 },
        { name: 'z', version: 1 },
      ],
      warnings: ['first', 'twice', 'stdout truncated', 'not collected'],
      reason: 'exited',
      isolation: 'bubblewrap',
      executor: 'bubblewrap',
      stdout_ref: 'workspace://runs/1/stdout',
      staged_inputs: [{ name: 'work/inputs/a', original_name: 'host:///a', mime_type: 'text/plain', size_bytes: 3 }],
      skipped_files: [{ name: 'out/link', size_bytes: 4, reason: 'link' }],
    });
  });

  verifies(['EXEC-3', 'EXEC-7'], 'says why a program did not exit by itself, and that nothing isolated it', () => {
    const quiet = { text: '', truncated: false };
    const ended = (reason: 'timeout' | 'signal') =>
      makeRunResult({
        end: { reason, durationMs: 5, warnings: [], ...(reason === 'signal' ? { signal: 'SIGSEGV' } : {}) },
        stdout: quiet,
        stderr: quiet,
        executor: 'local',
        isolation: 'none',
      });
    const shared = {
      stdout: '',
      stderr: '',
      exit_code: -1,
      duration_ms: 5,
      output_files: [],
      artifact_files: [],
      warnings: ['the program ran without isolation'],
      isolation: 'none',
      executor: 'local',
      staged_inputs: [],
      skipped_files: [],
    };
    expect(ended('timeout')).toEqual({ ...shared, timed_out: true, reason: 'timeout' });
    expect(ended('signal')).toEqual({ ...shared, timed_out: false, reason: 'signal', signal: 'SIGSEGV' });
  });
});
