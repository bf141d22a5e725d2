import { delimit, type ActionFailed, type Observation, type OfType } from '#core';
import { argumentNames } from '#skills';
import { expandArguments, parseInvocation } from './skill-arguments.ts';
import { performAction } from './perform.ts';
import type { ActionContext } from './action-context.ts';

/** A skill that a person invoked, as a message for the conversation. */
export interface Invocation {
  readonly type: 'invoked';
  readonly loaded: OfType<Observation, 'skill-loaded'>;
  /** The text after the name. */
  readonly arguments: string;
  /** The instructions with substituted arguments, delimited. */
  readonly text: string;
  /** Placeholders without a value; they stay in the text. */
  readonly unfilled: readonly string[];
}

/** Parses `/name arguments`; returns nothing if the message is not an invocation. Skills that are hidden from the model can be invoked. */
export async function invokeSkill(
  message: string,
  context: ActionContext,
): Promise<Invocation | ActionFailed | undefined> {
  const call = parseInvocation(message);
  if (call === undefined) return undefined;
  // Loads without session state, because the arguments are new even if the content is not.
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
