/**
 * What Skillwright promises, by id. `claimed` means: it is built, and at least one test says `verifies(id, ...)`. The page
 * docs/conformance.md is generated from this list and from those tests.
 */
export interface Requirement {
  readonly behaviour: string;
  readonly claimed: boolean;
}

const claimed = (behaviour: string): Requirement => ({ behaviour, claimed: true });

export const REQUIREMENTS = {
  'FMT-1': claimed(
    'A skill is a folder with a SKILL.md: YAML frontmatter and a Markdown body; other files are optional; a lone skill.md loads with a warning.',
  ),
  'FMT-2': claimed('Rules for name, description, compatibility, license, metadata and allowed-tools.'),
  'FMT-3': claimed(
    'Extension fields at the top level and under metadata: version, author, disable-model-invocation, user-invocable, run-mode, requires, paths.',
  ),
  'FMT-4': claimed('allowed-tools as a list, or as text split on commas or white space, with patterns.'),
  'FMT-5': claimed(
    'One parser, two modes: strict refuses any breach, lenient repairs with diagnostics; a restriction that cannot be read never widens rights.',
  ),
  'FMT-6': claimed(
    'Bounds on frontmatter; aliases, tags, merge keys, duplicate keys and unsafe keys are refused; angle brackets are judged by mode and escaped everywhere.',
  ),
  'FMT-7': claimed('Invisible and direction characters are reported and removed; BOM and CRLF load.'),
  'FMT-8': claimed('Bodies are limited to 500 lines and 40,000 characters, with advice to split.'),
  'REG-1': claimed(
    'Roots with source, path and priority: project and its ancestors, home, built-in, configuration, SKILLS_ROOT, DOCUMENT_ROOT, options.',
  ),
  'REG-2': claimed('An index is built from roots and refreshed incrementally.'),
  'REG-3': claimed('Only frontmatter is read: no body of a skill that was not selected.'),
  'REG-4': claimed('An entry has id, name, description, source, path, controls, meta and digest.'),
  'REG-5': claimed(
    'Hidden folders, node_modules and folders without SKILL.md are passed over; nested groups are found; depth, count and link cycles are bounded.',
  ),
  'REG-6': claimed(
    'Same name: the higher root wins, then the later modification; the others are reported and stay addressable.',
  ),
  'REG-7': claimed(
    'A report of roots, time, counts, reasons, conflicts and the index hash; --explain shows each folder.',
  ),
  'REG-8': claimed('One run keeps one snapshot; a watch swaps whole skills.'),
  'REG-9': claimed('A missing root is an empty root.'),
  'REG-10': claimed('Names match without regard to case.'),
  'REG-11': claimed('Visibility of a skill is set without editing it.'),
  'SRCH-1': claimed('Ranked search over names and descriptions, English and Chinese at least.'),
  'SRCH-2': claimed('Search needs no network and no model and is ready with the registry.'),
  'DISC-1': claimed(
    'The catalog keeps a token budget; each visible skill is in one reported state; the order is stable; the text says what is not shown.',
  ),
  'DISC-2': claimed(
    'Level 2: the body of a selected skill, without frontmatter, with what it was read from and a list of its files; the whole file where it is asked for.',
  ),
  'DISC-3': claimed(
    'Level 3: one named file that the skill offers, whole, by section or by lines, up to 2,000,000 bytes of file and 12,000 characters of excerpt; binary files are described.',
  ),
  'DISC-4': claimed(
    'Every load returns a report: path, sha256, bytes read, characters shown, whether it was cut, and where the whole is.',
  ),
  'DISC-5': claimed(
    'A ledger of every skill byte shown to the model, with digest and tokens; of a skill that was not loaded there are none.',
  ),
  'DISC-6': claimed(
    'Loaded skills and selected documents with lifetimes turn, once and session, a cap, and a note instead of the same bytes again.',
  ),
  'DISC-7': claimed(
    'Loaded content goes into tool results, which keeps the prefix of the prompt stable, or into the system message.',
  ),
  'DISC-8': claimed(
    'Compaction keeps the catalog and each active skill, whole or as a stub with digest, under a ceiling.',
  ),
  'DISC-9': claimed(
    'Confined paths: relative only; .., absolute paths, drives, NUL, encodings and links that leave the skill are refused, judged on the opened file.',
  ),
  'TOOL-1': claimed(
    'openseed: search_skills, load_skill, load_skill_asset, get_skill_script_path and list_skill_assets, with its parameters, defaults and results.',
  ),
  'TOOL-2': claimed(
    'trpc: skill_load, skill_select_docs and skill_list_docs, with its parameters, defaults, results and state keys; the tools that run things are declared with theirs and not offered yet.',
  ),
  'TOOL-3': claimed(
    'ManusX: skill_request with the list of resources and the directory, and file_read confined to skills.',
  ),
  'TOOL-4': claimed(
    'skills-agent: select_skills, load_resource, final_answer, read_file and list_dir; run_script, grep, write_file, delete_file and network_request are declared and not offered yet.',
  ),
  'TOOL-5': claimed(
    'Each vocabulary is a table over the same actions, handed out for the AI SDK, OpenAI, Anthropic and as JSON Schema with execute; names are an enum while few; tools that cannot work are not offered.',
  ),
  'TOOL-6': claimed(
    'Errors teach: an unknown skill, path or parameter names the nearest; failures of one kind end the run.',
  ),
  'EXEC-1': claimed(
    'A workspace for a run or session: skills, work, runs, out and metadata.json; a skill is staged byte-exact and its digest checked.',
  ),
  'EXEC-2': claimed(
    'skill_run with all its parameters, from the skill folder; the working directory stays inside; WORKSPACE_DIR and the others are set.',
  ),
  'EXEC-3': claimed(
    'A typed result: streams, exit status, time, output files, artifacts, warnings, and a reason for every abnormal end.',
  ),
  'EXEC-4': claimed(
    'Inputs from artifact, host, workspace and skill, copied or linked, pinned, contained at both ends.',
  ),
  'EXEC-5': claimed(
    'Outputs by globs with caps; what exceeds a limit is listed; links that leave the workspace are not followed.',
  ),
  'EXEC-6': claimed(
    'run_script: a file under scripts/ with an argument array, no shell, interpreter by shebang or extension.',
  ),
  'EXEC-7': claimed(
    'Executors local, bubblewrap and container behind one interface, with equal results; without isolation the result says so.',
  ),
  'EXEC-8': claimed('Limits on time, memory, processes, output and disk that hold for the whole tree of processes.'),
  'EXEC-9': claimed('Artifacts with versions from 0: save, load, list, delete.'),
  'EXEC-10': claimed(
    'Dependencies of scripts are checked before the first run, with a message that says what is missing.',
  ),
  'EXEC-11': claimed(
    'Spans for creating, staging, running, collecting, inlining and cleaning up; nothing is measured where nobody asks.',
  ),
  'POL-1': claimed('Every tool has a risk: reading low, running medium, writing, deleting and network high.'),
  'POL-2': claimed(
    'Allowed is what the configuration, the active skills and the run all allow; reading only by default; what loads skills always remains.',
  ),
  'POL-3': claimed(
    'Approval by a person, a callback or nobody; for a call, a run, or a skill at its digest; without a person the call fails with a way to repeat it.',
  ),
  'POL-4': claimed(
    'Secrets are named per skill, reach only its own programs, and no prompt, log, event, artifact or record.',
  ),
  'POL-5': claimed('Skills of a project that is not trusted are listed and not loaded.'),
  'POL-6': claimed('Lists of commands are checked on the parsed command and cannot be talked around.'),
  'POL-7': claimed('Every decision is recorded with the rule that made it and who wrote it.'),
  'AGT-1': claimed(
    'A loop of decide, act and observe with one model call a turn; the model proposes, the core judges, then acts.',
  ),
  'AGT-2': claimed('Two protocols on one loop: structured actions and native tool calls.'),
  'AGT-3': claimed('A plan from the first decision on, replaced or patched later, recorded.'),
  'AGT-4': claimed(
    'Budgets of turns, calls, scripts, context, tokens and time; at the end of one an answer with what is done, what is next and why.',
  ),
  'AGT-5': claimed('At most two bodies a turn, workflow skills first; hidden skills only where a person named them.'),
  'AGT-6': claimed(
    'Context in fixed sections with a stable start, shortened by rule; what is dropped stays reachable.',
  ),
  'AGT-7': claimed('Failures are observations; the same kind three times ends the run with a reason.'),
  'AGT-8': claimed(
    'Events of runs, actions, decisions, approvals and observations; sinks for terminal, JSONL and SSE.',
  ),
  'AGT-9': claimed(
    'A folder for each run: events, summary, state and content by hash; redacted; safe against a crash.',
  ),
  'AGT-10': claimed(
    'Replay and resume from the record: the same events give the same state, and no finished action is repeated.',
  ),
  'AGT-11': claimed(
    'A skill with run-mode subagent runs in a child run of its own; it never has more rights than its parent.',
  ),
  'MOD-1': claimed(
    'Adapters for any OpenAI-compatible endpoint, Anthropic, OpenAI, Google and local servers; found from the environment where nothing is configured.',
  ),
  'MOD-2': claimed('Models without a network: scripted by a case file, or by rules that search, select and run.'),
  'MOD-3': claimed('Whole JSON, else the outermost object in noise, else one repair request with the exact error.'),
  'MOD-4': claimed(
    'Fields and the growing answer are told while they arrive; nothing is done before the object is complete.',
  ),
  'MOD-5': claimed('Prompts are not stored in full; cassettes record and replay for tests.'),
  'OBS-1': claimed('OpenTelemetry spans and metrics with the GenAI conventions; nothing is loaded where it is off.'),
  'PACK-1': claimed(
    'A pack is a zip with <skill>/SKILL.md for one or more skills, a manifest of every SHA-256, and a signature.',
  ),
  'PACK-2': claimed(
    'An install is unpacked aside, validated, judged by policy and moved in whole; a crash leaves the old state or the new one.',
  ),
  'PACK-3': claimed(
    'Uninstalling moves a skill to a trash it can be restored from, or removes it for good; the index follows.',
  ),
  'PACK-4': claimed('verify compares structure, hashes, signature and lock; pack builds the same bytes every time.'),
  'PACK-5': claimed('Hostile archives are refused with a code of their own and nothing is written.'),
  'PACK-6': claimed(
    'Folders, archives, addresses, git, npm and site indexes as sources; a lock that reproduces and verifies; local edits are kept.',
  ),
  'PACK-7': claimed('A static scan of text and scripts before activation, with findings by rule and severity.'),
  'EVAL-1': claimed('Cases of our own format, and the files of the community unchanged.'),
  'EVAL-2': claimed(
    'Scores for triggering, sequence, disclosure, safety, budget, output and streaming, and the cost of each run.',
  ),
  'EVAL-3': claimed(
    'Offline on the scripted model, live by option, with and without the skill, repeated with variance.',
  ),
  'EVAL-4': claimed('Reports as JSON, Markdown, HTML and JUnit; the exit status tells CI.'),
  'EVAL-5': claimed('Grades are made from the recorded events alone.'),
  'CLI-1': claimed(
    'Commands with --json, documented exit status, errors on stderr, colours and progress on a terminal only.',
  ),
  'CLI-2': claimed('inspect prints no body unless asked; new scaffolds a skill that passes check.'),
  'CFG-1': claimed('.agent/config.json of user and project merge; a JSON Schema is published; unknown keys are named.'),
} as const satisfies Record<string, Requirement>;

export type RequirementId = keyof typeof REQUIREMENTS;
