import type { Config, Model } from '#core';
import { findModel, openRules } from '#model';

export interface AgentModelOptions extends Pick<
  Parameters<typeof findModel>[0],
  'addresses' | 'limits' | 'retries' | 'surroundings'
> {
  /** The name that the user gave: `rules`, `auto`, `ollama`, `anthropic/claude-sonnet-5-5`, `scripted:FILE`. Takes precedence. */
  readonly name?: string;
  readonly config?: Config['model'];
  readonly env: Parameters<typeof findModel>[0]['env'];
  readonly signal: AbortSignal;
}

export interface AgentModel {
  readonly model: Model;
  /** Why this model was chosen, as a sentence for the user. */
  readonly reason: string;
  /** Models that were considered first, and why they were not chosen. */
  readonly tried: readonly string[];
}

/** Answers from a file, as in the cases of evaluations. */
const SCRIPTED = 'scripted:';

/**
 * Opens the model for an agent. Precedence: the given name, the configuration, an API key in the environment, a server on this
 * machine, the rule model. Throws `model/unavailable` if a named model cannot be opened; a named model is never replaced by another
 * one.
 */
export async function openAgentModel(options: AgentModelOptions): Promise<AgentModel> {
  if (options.name?.startsWith(SCRIPTED) === true) {
    const [{ openScripted }, { readScriptedTurns }] = await Promise.all([
      import('#model/scripted'),
      import('#model/scripted-file'),
    ]);
    const turns = readScriptedTurns(options.name.slice(SCRIPTED.length));
    return { model: openScripted(turns), reason: 'it was requested by name', tried: [] };
  }
  const { model, reason, tried } = await findModel(options);
  return { model: model === 'rules' ? openRules() : model, reason, tried };
}
