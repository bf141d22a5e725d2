/** `runs resume`: a run that was broken off goes on, at this terminal. */
import path from 'node:path';

import { readRun } from '../../journal/journal-reader.ts';
import { terminalSink } from '../../journal/export/sinks.ts';
import { EXECUTOR_NAMES } from '../../core/execution.ts';
import { cleanText, printable } from '../../core/text/text.ts';
import { visibleJson } from '../../core/json/visible-json.ts';
import { isInside, tryRealPath } from '../../platform/fs/paths.ts';
import { readSealKey } from '../../platform/fs/seal-key.ts';
import { surroundingsOf } from '../../runtime/config/config.ts';
import { statusOf } from '../agent/agent-outcome.ts';
import { openApprover } from '../agent/approval.ts';
import { readBudget } from '../agent/budget.ts';
import { chooseModelAloud } from '../agent/choose-model.ts';
import type { Invocation } from '../command.ts';
import { EXIT } from '../exit.ts';
import { jsonText } from '../json.ts';
import { openRuntime } from '../open-runtime.ts';
import { modelPrograms } from '../agent/execution-options.ts';
import { openRefusalWatch } from '../agent/refusal-watch.ts';
import type { RESUME_FLAGS } from './resume-flags.ts';
import type { Terminal } from '../terminal/terminal.ts';

type ResumeInvocation = Invocation<typeof RESUME_FLAGS>;

export async function resumeRun(invocation: ResumeInvocation, place: string): Promise<number> {
  const { flags: given, terminal, signal, words } = invocation;
  const { cwd, home } = surroundingsOf(given.cwd === undefined ? {} : { cwd: given.cwd });
  const sealKey = home === undefined ? undefined : readSealKey(home);
  const { info } = readRun(place, { content: 'start' });
  const executor = (['auto', ...EXECUTOR_NAMES] as const).find((name) => name === given.executor) ?? 'auto';
  const named = new Set((given.in ?? []).map((file) => path.resolve(cwd, file)));
  const runtime = await openRuntime(invocation);
  const refusals = openRefusalWatch(words);
  const { model } = await chooseModelAloud({ name: given.model, runtime, signal }, terminal);
  const { resumeAgent } = await import('../../agent/resume/resume.ts');
  const resumed = await resumeAgent({
    runtime,
    path: place,
    model,
    budget: readBudget(given.budget ?? []),
    mayBring: (file) => named.has(file) || isOfProject(file, cwd),
    signal,
    ...(sealKey === undefined ? {} : { sealKey }),
    run: {
      host: {},
      directory: path.dirname(place),
      approve: openApprover(given, terminal),
      ...(info.executor === null ? {} : { execution: modelPrograms(terminal, executor) }),
      sinks: [refusals.sink, ...(given.json === true ? [] : [progress(terminal)])],
    },
  });
  if (resumed.type === 'impossible') {
    if (given.json === true) terminal.out(visibleJson(jsonText({ path: place, ...resumed })));
    else for (const problem of resumed.problems) terminal.err(`impossible: ${printable(problem)}`);
    return EXIT.impossible;
  }
  const { result } = resumed;
  terminal.out(
    given.json === true ? visibleJson(jsonText({ resumes: info.run, ...result })) : cleanText(result.answer),
  );
  const refused = refusals.last();
  if (refused !== undefined) terminal.err(terminal.style('dim', `hint: ${refused.hint}`));
  return statusOf(result, refused !== undefined);
}

/** Links are resolved: a name inside that leads outside is none of the project's. */
function isOfProject(file: string, cwd: string): boolean {
  const [real, project] = [tryRealPath(file), tryRealPath(cwd)];
  return real !== undefined && project !== undefined && isInside(real, project);
}

function progress({ remark, style }: Terminal): ReturnType<typeof terminalSink> {
  return terminalSink({ level: 'normal', style, write: (text) => remark(text.trimEnd()) });
}
