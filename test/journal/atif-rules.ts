/**
 * The rules of ATIF v1.8 (RFC 0001 of the Harbor project) that a document can be held to: fields that are known, fields that must be
 * there, numbers of steps, who may carry what, and ties between calls and results.
 */

type Thing = Readonly<Record<string, unknown>>;
type Tell = (problem: string) => void;

const VERSIONS = /^ATIF-v1\.[0-8]$/;
const AGENT_ONLY = ['model_name', 'reasoning_effort', 'reasoning_content', 'tool_calls', 'metrics'];
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?$/;

const KNOWN = {
  trajectory:
    'schema_version session_id trajectory_id agent steps notes final_metrics continued_trajectory_ref extra subagent_trajectories',
  agent: 'name version model_name tool_definitions extra',
  step: 'step_id timestamp source model_name reasoning_effort message reasoning_content tool_calls observation metrics is_copied_context llm_call_count extra',
  call: 'tool_call_id function_name arguments extra',
  observation: 'results',
  result: 'source_call_id content subagent_trajectory_ref extra',
  totals: 'total_prompt_tokens total_completion_tokens total_cached_tokens total_cost_usd total_steps extra',
} as const;

export function problemsOf(document: unknown): readonly string[] {
  const problems: string[] = [];
  const tell: Tell = (problem) => void problems.push(problem);
  if (!isThing(document)) return ['no object'];
  onlyKnown(document, 'trajectory', tell);
  if (typeof document['schema_version'] !== 'string' || !VERSIONS.test(document['schema_version']))
    tell('schema_version');
  for (const name of ['session_id', 'trajectory_id', 'notes', 'continued_trajectory_ref'])
    optionalText(document, name, tell);
  checkAgent(document['agent'], tell);
  checkTotals(document['final_metrics'], tell);
  checkExtra(document, tell);
  const steps = document['steps'];
  if (!Array.isArray(steps) || steps.length === 0) tell('steps');
  else for (const [index, step] of steps.entries()) checkStep(step, index, tell);
  return problems;
}

function checkAgent(agent: unknown, tell: Tell): void {
  if (!isThing(agent)) return tell('agent');
  onlyKnown(agent, 'agent', tell);
  for (const name of ['name', 'version']) if (typeof agent[name] !== 'string') tell(`agent.${name}`);
  optionalText(agent, 'model_name', tell);
  checkExtra(agent, tell);
}

function checkTotals(totals: unknown, tell: Tell): void {
  if (totals === undefined) return;
  if (!isThing(totals)) return tell('final_metrics');
  onlyKnown(totals, 'totals', tell);
  for (const [name, value] of Object.entries(totals)) {
    if (name !== 'extra' && !(typeof value === 'number' && value >= 0)) tell(`final_metrics.${name}`);
  }
}

function checkStep(step: unknown, index: number, tell: Tell): void {
  if (!isThing(step)) return tell('step');
  onlyKnown(step, 'step', tell);
  const { source, timestamp } = step;
  if (step['step_id'] !== index + 1) tell('step_id');
  if (source !== 'system' && source !== 'user' && source !== 'agent') tell('source');
  if (typeof step['message'] !== 'string') tell('message');
  if (timestamp !== undefined && !(typeof timestamp === 'string' && ISO.test(timestamp))) tell('timestamp');
  if (source !== 'agent') for (const name of AGENT_ONLY) if (step[name] !== undefined) tell(`${name} of no agent`);
  if (step['llm_call_count'] === 0 && (step['metrics'] ?? step['reasoning_content']) !== undefined)
    tell('llm_call_count');
  checkExtra(step, tell);
  checkResults(step['observation'], checkCalls(step['tool_calls'], tell), tell);
}

function checkCalls(calls: unknown, tell: Tell): ReadonlySet<unknown> {
  const ids = new Set<unknown>();
  if (calls === undefined) return ids;
  if (!Array.isArray(calls)) tell('tool_calls');
  for (const call of Array.isArray(calls) ? calls : []) {
    if (!isThing(call)) {
      tell('call');
      continue;
    }
    onlyKnown(call, 'call', tell);
    for (const name of ['tool_call_id', 'function_name']) if (typeof call[name] !== 'string') tell(`call.${name}`);
    if (!isThing(call['arguments'])) tell('call.arguments');
    ids.add(call['tool_call_id']);
  }
  return ids;
}

function checkResults(observation: unknown, calls: ReadonlySet<unknown>, tell: Tell): void {
  if (observation === undefined) return;
  if (!isThing(observation) || !Array.isArray(observation['results'])) return tell('observation');
  onlyKnown(observation, 'observation', tell);
  for (const result of observation['results']) {
    if (!isThing(result)) {
      tell('result');
      continue;
    }
    onlyKnown(result, 'result', tell);
    const id = result['source_call_id'];
    if (id !== undefined && !calls.has(id)) tell('source_call_id');
    optionalText(result, 'content', tell);
    checkExtra(result, tell);
  }
}

function onlyKnown(thing: Thing, kind: keyof typeof KNOWN, tell: Tell): void {
  const known = KNOWN[kind].split(' ');
  for (const [name, value] of Object.entries(thing)) {
    if (!known.includes(name)) tell(`${kind} has ${name}`);
    if (value === undefined) tell(`${kind}.${name} is undefined`);
  }
}

function optionalText(thing: Thing, name: string, tell: Tell): void {
  if (thing[name] !== undefined && typeof thing[name] !== 'string') tell(name);
}

function checkExtra(thing: Thing, tell: Tell): void {
  if (thing['extra'] !== undefined && !isThing(thing['extra'])) tell('extra');
}

function isThing(value: unknown): value is Thing {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
