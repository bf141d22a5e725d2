import { delimit } from '../core/text/delimit-untrusted.ts';
import type { ActionFailed, SkillLoaded } from '../core/observation.ts';
import { argumentNames } from './argument-fields.ts';
import { expandArguments, parseInvocation } from './skill-arguments.ts';
import { performAction } from './perform.ts';
import type { ActionContext } from './action-context.ts';

/** A skill that a person called by its name, ready to go into the conversation as their message. */
export interface Invocation {
  readonly type: 'invoked';
  readonly loaded: SkillLoaded;
  /** What they wrote after the name. */
  readonly arguments: string;
  /** The instructions with the arguments put in, delimited. */
  readonly text: string;
  /** Placeholders for which nothing was given; they stand in the text as they are. */
  readonly unfilled: readonly string[];
}

/** Reads `/name arguments`; nothing where the message is no call. The skill need not be one that a model may choose. */
export async function invokeSkill(
  message: string,
  context: ActionContext,
): Promise<Invocation | ActionFailed | undefined> {
  const call = parseInvocation(message);
  if (call === undefined) return undefined;
  // Loaded as if for the first time: a call has new arguments even where the bytes are the same.
  const fresh = { ...context, state: undefined };
  const loaded = await performAction({ type: 'load_skill', skill: call.name }, fresh);
  if (loaded.type === 'failed') return loaded;
  const whole = await performAction({ type: 'load_skill', skill: call.name, whole: true }, fresh);
  if (loaded.type !== 'skill-loaded' || whole.type !== 'skill-loaded') return undefined;
  const names = await argumentNames(whole.text);
  const { text, unfilled } = expandArguments(loaded.text, { text: call.arguments, names });
  const { name, source, dir } = loaded.skill;
  const attributes = { name, source, dir, digest: loaded.report.digest, called_by: 'person' };
  return {
    type: 'invoked',
    loaded,
    arguments: call.arguments,
    text: delimit({ tag: 'skill_content', attributes, text }),
    unfilled,
  };
}
