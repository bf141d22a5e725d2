import type { Config } from '../core/config/config.ts';
import type { Model } from '../core/model.ts';
import { findModel } from '../model/auto.ts';
import type { FindModelOptions } from '../model/auto.ts';
import { openRules } from '../model/rules/rules.ts';

export interface AgentModelOptions extends Pick<FindModelOptions, 'addresses' | 'limits' | 'retries' | 'surroundings'> {
  /** As a person named it: `rules`, `auto`, `ollama`, `anthropic/claude-sonnet-4-5`; before all else. */
  readonly name?: string;
  /** `model` of the configuration. */
  readonly config?: Config['model'];
  /** Where keys and base URLs of vendors are looked for. */
  readonly env: FindModelOptions['env'];
  readonly signal: AbortSignal;
}

export interface AgentModel {
  readonly model: Model;
  /** Why this one, as a sentence for a person. */
  readonly reason: string;
  /** What else was looked at before it, and why it was not taken. */
  readonly tried: readonly string[];
}

/**
 * The model for an agent: the named one, else the configuration's, else that of a key in the environment, else a server on this
 * machine, else fixed rules. Throws `model/unavailable` where a model was named and cannot be had: it is never replaced by another.
 */
export async function openAgentModel(options: AgentModelOptions): Promise<AgentModel> {
  const { model, reason, tried } = await findModel(options);
  return { model: model === 'rules' ? openRules() : model, reason, tried };
}
