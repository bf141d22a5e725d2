/** Records a transcript of another agent as a run, so that graders, reports and `runs` read it like any other. */
import type { Budget } from '../../core/budget.ts';
import type { ProgramEnd } from '../../core/execution.ts';
import type { Outcome } from '../../core/run-events.ts';
import { printable } from '../../core/text/text.ts';
import type { RunRecord } from '../../journal/journal-writer.ts';
import { sha256 } from '../../platform/hash.ts';
import { loadsOf } from './installed-skills.ts';
import type { InstalledSkill } from './installed-skills.ts';
import type { ProjectFiles } from './subject-folders.ts';
import type { Transcript, TranscriptCall } from './transcript.ts';

/** Why the harness ended the agent. */
export interface Stopped {
  readonly name: 'turns' | 'toolCalls';
  readonly limit: number;
  /** A limit of the case: the run failed it. Otherwise the question of the case was answered by then. */
  readonly isLimit: boolean;
}

export interface SubjectEnd {
  readonly end: ProgramEnd;
  /** The last output on stderr. */
  readonly errors: string;
  readonly stopped?: Stopped | undefined;
  readonly timeoutMs: number;
  readonly files: ProjectFiles;
}

export class SubjectRecord {
  readonly #record: RunRecord;
  readonly #skills: readonly InstalledSkill[];
  readonly #transcript: Transcript;
  #turns = 0;

  constructor(record: RunRecord, skills: readonly InstalledSkill[], transcript: Transcript) {
    this.#record = record;
    this.#skills = skills;
    this.#transcript = transcript;
  }

  /** Records what is new in the transcript. */
  advance(): void {
    for (; this.#turns < this.#transcript.turns; this.#turns += 1)
      this.#record.append({ type: 'turn', turn: this.#turns + 1 });
    for (const call of this.#transcript.takeEnded()) this.#call(call);
  }

  #call(call: TranscriptCall): void {
    const { name: tool, input, ok, output } = call;
    this.#record.append({ type: 'subject-call', tool, input, ok, output, loads: loadsOf(call, this.#skills) });
  }

  /** Records the end and closes the record. */
  end(request: string, ended: SubjectEnd, limits: Partial<Budget>): void {
    const { end, stopped, files } = ended;
    const { model, answer, usage = {}, usd } = this.#transcript;
    if (stopped === undefined) {
      this.#transcript.endOpen();
      this.advance();
    }
    const tokens = usage.inputTokens ?? 0;
    this.#record.append({ type: 'model-call', turn: 1, model, request: sha256(request), tokens });
    this.#record.append({
      type: 'model-answer',
      turn: 1,
      text: answer,
      toolCalls: [],
      finish: 'stop',
      usage,
      retries: 0,
    });
    for (const message of end.warnings) this.#record.append({ type: 'note', message });
    this.#record.append({
      type: 'subject-end',
      exitCode: end.exitCode ?? null,
      ...(usd === undefined ? {} : { usd }),
      files: [...files].map(([path, bytes]) => ({ path, bytes: bytes.length, digest: `sha256:${sha256(bytes)}` })),
    });
    if (answer !== '') {
      this.#record.append({ type: 'action', call: 1, action: { type: 'final_answer', answer }, askedBy: 'model' });
      const observation = { type: 'answered', action: 'final_answer', answer } as const;
      this.#record.append({ type: 'observation', call: 1, observation });
    }
    if (stopped?.isLimit === true)
      this.#record.append({ type: 'budget-end', name: stopped.name, used: stopped.limit, limit: stopped.limit });
    const own = end.reason === 'timeout' && limits.wallMs !== undefined ? limits.wallMs : undefined;
    if (own !== undefined) this.#record.append({ type: 'budget-end', name: 'wallMs', used: own, limit: own });
    this.#record.end(...this.#outcome(ended, own));
  }

  /** The exit code alone proves nothing: agents end with 0 after an error. */
  #outcome(
    { end, stopped, errors, timeoutMs }: SubjectEnd,
    ownMs: number | undefined,
  ): [Exclude<Outcome, 'running'>, string] {
    const { error, isComplete, offered } = this.#transcript;
    if (stopped !== undefined) return ['degraded', `stopped after ${String(stopped.limit)} ${WORDS[stopped.name]}`];
    if (ownMs !== undefined) return ['degraded', `stopped after ${String(ownMs)} ms`];
    if (end.reason === 'timeout') return ['failed', `timed out after ${String(timeoutMs / 1000)} s`];
    if (end.reason === 'output') return ['failed', 'the transcript has more than 64 MiB'];
    const foreign = (offered ?? []).filter((name) => !this.#skills.some((skill) => skill.name === name));
    if (foreign.length > 0)
      return ['failed', `the agent offers skills that are not installed here: ${foreign.join(', ')}`];
    if (error !== undefined) return ['failed', printable(error).slice(0, LONGEST)];
    if (end.reason !== 'exited' || end.exitCode !== 0) {
      const how =
        end.reason === 'exited' ? `exit code ${String(end.exitCode)}` : `${end.reason} ${end.signal ?? ''}`.trim();
      return ['failed', `${how}${lastLine(errors)}`];
    }
    if (!isComplete) return ['failed', `the transcript has no end: its format may have changed${lastLine(errors)}`];
    return ['done', ''];
  }
}

const WORDS = { turns: 'turns', toolCalls: 'tool calls' } as const;
const LONGEST = 400;

function lastLine(text: string): string {
  const line = text.trim().split('\n').at(-1) ?? '';
  return line === '' ? '' : `: ${printable(line).slice(0, LONGEST)}`;
}
