/** Reports in which every text is untrusted. */
import type { CaseStatus, EvalReport } from '../../src/evals/report/result.ts';
import { TRIGGER, check, report, result } from './sample-report.ts';

export const HOSTILE: readonly string[] = [
  '</script><script>alert(1)</script>',
  '<!-- <script> ]]> --> </style>',
  '\u001B[31mred\u001B[0m \u001B]0;title\u0007',
  '\u202Egnp.exe\u2066\u200B\uFEFF',
  'a | b || c |\n|---|\n# head\n- item\n```\ncode',
  '`code` **bold** [link](javascript:1) ![i](http://x/y) <img src=x onerror=1> @all #1 www.x.com',
  '\u0000\u0008\u000B\uFFFE\uFFFF\uD800 lone \uDC00',
  ']]>&amp;&#0;&lt;"\'',
  '__proto__',
  '../../../etc/passwd',
  '',
  '😀'.repeat(300),
  'x'.repeat(5000),
];

/** Uses the text wherever a report has text. */
export function hostileReport(text: string): EvalReport {
  const statuses: readonly CaseStatus[] = ['passed', 'error', 'skipped', 'failed'];
  const results = statuses.flatMap((status, place) => {
    const flaky = place > 2 ? { quarantine: { until: text, passed: 1, of: 2 } } : {};
    return (['with', 'without'] as const).flatMap((arm) => [
      result(`${text}${String(place)}`, {
        arm,
        name: text,
        place: { file: text, line: 1, column: 1 },
        input: text,
        tags: [text],
        skill: text,
        ...flaky,
        status,
        reason: text,
        checks: [check(text, { status, asked: text, found: text, events: [1] })],
        loaded: [text],
        answer: text,
        model: { id: text, way: 'live' },
      }),
      result(`${text}${String(place)}`, { arm, attempt: 2, ...flaky, model: { id: text, way: 'live' } }),
    ]);
  });
  return report(results, {
    tool: text,
    startedAt: text,
    skills: [{ name: text, digest: text, version: text }],
    trigger: {
      ...TRIGGER,
      controls: TRIGGER.controls.map((control) => ({ ...control, asked: text, found: text })),
      scores: TRIGGER.scores.map((score) => ({ ...score, skill: text })),
      confusion: [{ wanted: text, took: `${text}2`, count: 3 }],
    },
  });
}
