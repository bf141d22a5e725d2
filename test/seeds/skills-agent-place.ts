/** The folders of the skills-agent designs: `<repo>/.agent/skills` and `~/.agent/skills`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { createRuntime, type Runtime, type RuntimeOptions } from '../../src/runtime/runtime.ts';
import { SHARED_CACHE } from '../cli/run-cli.ts';
import { scratch } from '../skills/registry/support.ts';

export const PDF = `---
name: pdf-form-filler
description: Extract and fill PDF form fields using Python
version: 1.0.0
author: team
disable-model-invocation: false
user-invocable: true
allowed-tools: ["read_file", "run_script"]
---

# Goal

canary-pdf-body Read reference/kpi.md.
`;
export const REVIEW =
  '---\nname: code-review\ndescription: Review a Python codebase with our standards\n---\n\ncanary-review-body\n';
const KPI = '# KPI\n\ncanary-intro\n\n## 指标定义\n\nRevenue is money.\n\n## Other\n\ncanary-other\n';

export function write(root: string, file: string, text: string): void {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
}

export interface Place {
  readonly project: string;
  readonly home: string;
  readonly runtime: (options?: RuntimeOptions) => Promise<Runtime>;
}

/** `<repo>/.agent/skills` and `~/.agent/skills` of the designs. */
export function place(more: Readonly<Record<string, string>> = {}): Place {
  const project = scratch();
  const home = path.join(project, 'home');
  write(project, '.agent/skills/pdf-form-filler/SKILL.md', PDF);
  write(project, '.agent/skills/pdf-form-filler/reference/kpi.md', KPI);
  write(project, '.agent/skills/pdf-form-filler/scripts/aggregate.py', 'print("aggregated")\n');
  write(project, '.agent/skills/pdf-form-filler/extra.json', '{}\n');
  write(home, '.agent/skills/code-review/SKILL.md', REVIEW);
  for (const [file, text] of Object.entries(more)) write(project, file, text);
  return {
    project,
    home,
    runtime: (options) => createRuntime({ cwd: project, home, env: SHARED_CACHE, vouched: [project], ...options }),
  };
}
