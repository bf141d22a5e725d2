/**
 * The agents that read skills, as data: id, display name, the folder of a project, the folder of the user (empty: none), and paths that exist where the
 * agent is in use. `~` is the home folder; `${NAME:-path}` is an environment variable with its default; `*` is the first detection path.
 * A detection path without `~`, `$` or `/` at the start is relative to the project; `package.json#NAME` is a dependency of the project. An agent that reads
 * `.agents/skills` has that folder here, so it needs no link.
 */
export interface Agent {
  /** As `--agent` takes it. */
  readonly id: string;
  readonly name: string;
  readonly project: string;
  /** Absent: the agent reads skills of projects only. */
  readonly user?: string;
  /** Empty: used where it is named. */
  readonly detect: readonly string[];
  /** Where the row comes from. */
  readonly from: string;
  /** When the row was last compared with it. */
  readonly checked: string;
}

/** The folder that most agents read. Skills are installed here once. */
export const SHARED_FOLDER = '.agents/skills';

type Row = readonly [id: string, name: string, project: string, user: string, ...detect: readonly string[]];

/* oxlint-disable no-template-curly-in-string -- `${NAME:-path}` is the notation of this table. */
const ROWS: readonly Row[] = [
  ['adal', 'AdaL', '.adal/skills', '~/.adal/skills', '~/.adal'],
  ['aider-desk', 'AiderDesk', '.aider-desk/skills', '~/.aider-desk/skills', '~/.aider-desk'],
  ['amp', 'Amp', '.agents/skills', '${XDG_CONFIG_HOME:-~/.config}/agents/skills', '${XDG_CONFIG_HOME:-~/.config}/amp'],
  ['antigravity', 'Antigravity', '.agents/skills', '~/.gemini/antigravity/skills', '~/.gemini/antigravity'],
  ['antigravity-cli', 'Antigravity CLI', '.agents/skills', '*/skills', '~/.gemini/antigravity-cli'],
  ['astrbot', 'AstrBot', 'data/skills', '~/.astrbot/data/skills', 'data/skills', '~/.astrbot'],
  ['augment', 'Augment', '.augment/skills', '~/.augment/skills', '~/.augment'],
  ['autohand-code', 'Autohand Code CLI', '.autohand/skills', '*/skills', '${AUTOHAND_HOME:-~/.autohand}'],
  ['bob', 'IBM Bob', '.bob/skills', '~/.bob/skills', '~/.bob'],
  ['claude-code', 'Claude Code', '.claude/skills', '*/skills', '${CLAUDE_CONFIG_DIR:-~/.claude}'],
  ['cline', 'Cline', '.agents/skills', '~/.agents/skills', '~/.cline'],
  ['codearts-agent', 'CodeArts Agent', '.codeartsdoer/skills', '~/.codeartsdoer/skills', '~/.codeartsdoer'],
  ['codebuddy', 'CodeBuddy', '.codebuddy/skills', '~/.codebuddy/skills', '.codebuddy', '~/.codebuddy'],
  ['codemaker', 'Codemaker', '.codemaker/skills', '~/.codemaker/skills', '~/.codemaker'],
  ['codestudio', 'Code Studio', '.codestudio/skills', '~/.codestudio/skills', '~/.codestudio'],
  ['codewhale', 'CodeWhale', '.agents/skills', '~/.agents/skills', '${CODEWHALE_HOME:-~/.codewhale}'],
  ['codex', 'Codex', '.agents/skills', '~/.agents/skills', '${CODEX_HOME:-~/.codex}', '/etc/codex'],
  ['command-code', 'Command Code', '.commandcode/skills', '~/.commandcode/skills', '~/.commandcode'],
  ['continue', 'Continue', '.continue/skills', '~/.continue/skills', '.continue', '~/.continue'],
  ['cortex', 'Cortex Code', '.cortex/skills', '~/.snowflake/cortex/skills', '~/.snowflake/cortex'],
  ['crush', 'Crush', '.crush/skills', '~/.config/crush/skills', '~/.config/crush'],
  ['cursor', 'Cursor', '.agents/skills', '~/.agents/skills', '~/.cursor'],
  ['deepagents', 'Deep Agents', '.agents/skills', '~/.deepagents/agent/skills', '~/.deepagents'],
  ['devin', 'Devin for Terminal', '.devin/skills', '*/skills', '${XDG_CONFIG_HOME:-~/.config}/devin'],
  ['dexto', 'Dexto', '.agents/skills', '~/.agents/skills', '~/.dexto'],
  ['droid', 'Droid', '.agents/skills', '~/.factory/skills', '~/.factory'],
  ['eve', 'Eve', 'agent/skills', '', 'package.json#eve'],
  ['firebender', 'Firebender', '.agents/skills', '~/.firebender/skills', '~/.firebender'],
  ['forgecode', 'ForgeCode', '.forge/skills', '~/.forge/skills', '~/.forge'],
  ['fx', 'fx', '.agents/skills', '~/.agents/skills', '~/.fx'],
  ['gemini-cli', 'Gemini CLI', '.agents/skills', '~/.agents/skills', '~/.gemini'],
  ['github-copilot', 'GitHub Copilot', '.agents/skills', '~/.agents/skills', '~/.copilot'],
  ['goose', 'Goose', '.agents/skills', '~/.agents/skills', '${XDG_CONFIG_HOME:-~/.config}/goose'],
  ['grok', 'Grok Build', '.grok/skills', '${GROK_HOME:-~/.grok}/skills', '${GROK_HOME:-~/.grok}'],
  ['hermes-agent', 'Hermes Agent', '.hermes/skills', '${HERMES_HOME:-~/.hermes}/skills', '${HERMES_HOME:-~/.hermes}'],
  ['iflow-cli', 'iFlow CLI', '.iflow/skills', '~/.iflow/skills', '~/.iflow'],
  ['inference-sh', 'inference.sh', '.inferencesh/skills', '~/.inferencesh/skills', '~/.inferencesh'],
  ['jazz', 'Jazz', '.jazz/skills', '~/.jazz/skills', '~/.jazz', '.jazz'],
  ['junie', 'Junie', '.junie/skills', '~/.junie/skills', '~/.junie'],
  ['kilo', 'Kilo Code', '.agents/skills', '~/.kilo/skills', '~/.kilo', '~/.kilocode'],
  ['kimchi', 'Kimchi', '.kimchi/skills', '~/.config/kimchi/harness/skills', '~/.config/kimchi'],
  ['kimi-code-cli', 'Kimi Code CLI', '.agents/skills', '~/.agents/skills', '~/.kimi-code', '~/.kimi'],
  ['kiro-cli', 'Kiro CLI', '.kiro/skills', '~/.kiro/skills', '~/.kiro'],
  ['kode', 'Kode', '.kode/skills', '~/.kode/skills', '~/.kode'],
  ['lingma', 'Lingma', '.lingma/skills', '~/.lingma/skills', '~/.lingma'],
  ['loaf', 'Loaf', '.agents/skills', '~/.agents/skills', '~/.loaf'],
  ['mcpjam', 'MCPJam', '.mcpjam/skills', '~/.mcpjam/skills', '~/.mcpjam'],
  ['minimax-code', 'MiniMax Code', '.minimax/skills', '~/.minimax/skills', '~/.minimax'],
  ['mistral-vibe', 'Mistral Vibe', '.vibe/skills', '${VIBE_HOME:-~/.vibe}/skills', '${VIBE_HOME:-~/.vibe}'],
  ['moxby', 'Moxby', '.moxby/skills', '~/.moxby/skills', '~/.moxby'],
  ['mux', 'Mux', '.mux/skills', '~/.mux/skills', '~/.mux'],
  ['neovate', 'Neovate', '.neovate/skills', '~/.neovate/skills', '~/.neovate'],
  ['ona', 'Ona', '.ona/skills', '~/.ona/skills', '~/.ona'],
  ['openclaw', 'OpenClaw', '.agents/skills', '~/.agents/skills', '~/.openclaw', '~/.clawdbot', '~/.moltbot'],
  ['opencode', 'OpenCode', '.agents/skills', '~/.agents/skills', '${XDG_CONFIG_HOME:-~/.config}/opencode'],
  ['openhands', 'OpenHands', '.openhands/skills', '~/.openhands/skills', '~/.openhands'],
  ['pi', 'Pi', '.agents/skills', '~/.agents/skills', '~/.pi/agent'],
  ['pochi', 'Pochi', '.pochi/skills', '~/.pochi/skills', '~/.pochi'],
  ['posit-assistant', 'Posit Assistant', '.posit/assistant/skills', '*/skills', '~/.posit/assistant', '~/.positai'],
  ['promptscript', 'PromptScript', '.agents/skills', '', '.promptscript', 'promptscript.yaml'],
  ['qoder', 'Qoder', '.qoder/skills', '~/.qoder/skills', '~/.qoder'],
  ['qoder-cn', 'Qoder CN', '.qoder/skills', '~/.qoder-cn/skills', '~/.qoder-cn'],
  ['qwen-code', 'Qwen Code', '.qwen/skills', '~/.qwen/skills', '~/.qwen'],
  ['reasonix', 'Reasonix', '.reasonix/skills', '~/.reasonix/skills', '~/.reasonix'],
  ['replit', 'Replit', '.agents/skills', '${XDG_CONFIG_HOME:-~/.config}/agents/skills', '.replit'],
  ['roo', 'Roo Code', '.roo/skills', '~/.roo/skills', '~/.roo'],
  ['rovodev', 'Rovo Dev', '.rovodev/skills', '~/.rovodev/skills', '~/.rovodev'],
  ['sarvam-code', 'Sarvam Code', '.agents/skills', '~/.agents/skills', '${SARVAM_HOME:-~/.sarvam}'],
  ['tabnine-cli', 'Tabnine CLI', '.tabnine/agent/skills', '~/.tabnine/agent/skills', '~/.tabnine'],
  ['terramind', 'Terramind', '.terramind/skills', '~/.terramind/skills', '~/.terramind'],
  ['tinycloud', 'Tinycloud', '.tinycloud/skills', '~/.tinycloud/skills', '~/.tinycloud'],
  ['trae', 'Trae', '.trae/skills', '~/.trae/skills', '~/.trae'],
  ['trae-cn', 'Trae CN', '.trae/skills', '~/.trae-cn/skills', '~/.trae-cn'],
  ['universal', 'Agents that read .agents/skills', '.agents/skills', '${XDG_CONFIG_HOME:-~/.config}/agents/skills'],
  ['warp', 'Warp', '.agents/skills', '~/.agents/skills', '~/.warp'],
  ['windsurf', 'Windsurf', '.windsurf/skills', '~/.codeium/windsurf/skills', '~/.codeium/windsurf'],
  ['zcode', 'ZCode', '.zcode/skills', '~/.zcode/skills', '~/.zcode'],
  ['zed', 'Zed', '.agents/skills', '~/.agents/skills', '${XDG_CONFIG_HOME:-~/.config}/zed'],
  ['zencoder', 'Zencoder', '.zencoder/skills', '~/.zencoder/skills', '~/.zencoder'],
  ['zenflow', 'Zenflow', '.zencoder/skills', '~/.zencoder/skills', '~/.zencoder'],
];
/* oxlint-enable no-template-curly-in-string */

/** Where the rows come from that the next list does not name, and when they were compared with it. */
const LIST = { from: 'the agents of `skills` 1.7.4', checked: '2026-11-19' };
/** Pages of agents that read other folders than that list says, or that it does not have. */
const OWN_PAGES: ReadonlyMap<string, string> = new Map([
  ['codewhale', 'github.com/Hmbown/CodeWhale, docs/SKILLS.md'],
  ['cursor', 'cursor.com/docs/skills'],
  ['eve', 'vercel.com/kb/guide/how-to-add-eve-skills'],
  ['gemini-cli', 'geminicli.com/docs/cli/using-agent-skills'],
  ['github-copilot', 'docs.github.com, Adding agent skills for GitHub Copilot'],
  ['goose', 'github.com/block/goose, using-skills.md'],
  ['openclaw', 'docs.openclaw.ai/tools/skills'],
  ['opencode', 'opencode.ai/docs/skills'],
]);

/** Sorted by id. */
export const AGENTS: readonly Agent[] = ROWS.map(([id, name, project, user, ...detect]) => {
  const from = OWN_PAGES.get(id) ?? LIST.from;
  const agent = { id, name, project, detect, from, checked: LIST.checked };
  return user === '' ? agent : { ...agent, user: user.replace('*', () => detect[0] ?? '') };
});

/** Where an agent reads the skills of a project; the shared folder for an unknown agent. */
export function findProjectFolder(id: string): string {
  return AGENTS.find((agent) => agent.id === id)?.project ?? SHARED_FOLDER;
}
