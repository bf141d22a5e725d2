import type { Agent } from './agent.ts';
import { CLAUDE_CODE } from './claude-code.ts';
import { CODEX } from './codex.ts';
import { GEMINI_CLI } from './gemini-cli.ts';
import { GITHUB_COPILOT } from './github-copilot.ts';
import { OPENCODE } from './opencode.ts';
import { PI } from './pi.ts';
import { QWEN_CODE } from './qwen-code.ts';

/** The agents whose catalogs are known, sorted by id. */
export const AGENTS: readonly Agent[] = [CLAUDE_CODE, CODEX, GEMINI_CLI, GITHUB_COPILOT, OPENCODE, PI, QWEN_CODE];
