import { CHOSEN_FOR_ALL, type SeedDocument, type SeedRow } from './row.ts';
import { CHOICES, DEVIATES } from './skills-agent-deviations.ts';

/** The tests, each with the rows that it shows: documents 001 (overview, rows O) and 004 (registry, rows R); the number is the section. */
const WORKS = `
# test/seeds/skills-agent-registry.test.ts: the index entry has the fields and values of the example
O1.1 a skill is ¬<skill-root>/<skill-name>/SKILL.md¬ with optional ¬scripts¬, ¬reference¬, ¬assets¬
O4.15 SkillIndex has name, description, source, controls
O5.1 ¬.agent/skills¬ is the project root
O6.7 ¬allowed-tools¬ as a list
O7.3 index: skill_id of source, name and version
O7.4 index: name, description, source, path, controls
R2.3 entry: name, description, source, path
R2.4 entry: controls.disable_model_invocation, user_invocable, allowed_tools
R2.5 entry: meta.version, meta.author
R3.2 the name comes from the frontmatter
R4.1 fields name, description, version, author
R4.2 fields disable-model-invocation, user-invocable, allowed-tools
R8.4 report: index hash
# test/runtime/reads.test.ts: until a skill is loaded no byte of a body is read, then that body alone, then that file alone, by a count of the reads
O1.2 start-up loads only ¬name¬ and ¬description¬
O7.12 a file is read only when asked for
O13.1 an empty project with skills lists them from metadata
O13.2 only the triggered skill's body is read
# test/seeds/skills-agent.test.ts: metadata first, the body after select_skills, a section after load_resource
O1.3 the body is loaded when the skill is triggered
O1.4 resources and scripts come only when needed; their result is injected
O4.4 observe: the result is summarised into the context
O4.35 only metadata is shown at the start (level 1)
O4.36 a body only after select_skills (level 2)
O4.37 files only after load_resource or run_script (level 3)
O8.3 select_skills: skills [{name, source}]
O8.4 select_skills: reason
O8.6 load_resource: skill {name, source}
O8.7 load_resource: relative_path
O8.8 load_resource: section_hint ¬## 指标定义¬
O13.3 resources are not read by default
# test/seeds/skills-agent-registry.test.ts: project, user, built-in: the higher root wins, and --source chooses another one
O1.5 several skill roots with precedence: project, user, built-in
O4.44 same name, different source: precedence decides
O5.4 ¬~/.agent/skills¬ is the user root
O5.5 built-in skills come with the package
O5.6 precedence project > user > built-in
O5.8 ¬--source project|user|builtin¬ overrides the choice
R2.2 default order project, user, built-in
R5.1 project > user > built-in
R5.5 the index can be limited to a source
# test/cli/install.system.test.ts: a zip of skills installs, is listed, verifies, and its lock says what it is
O1.6 skills are distributed as zip packs: install
O10.1 zip layout ¬<skill-name>/SKILL.md¬
R6.4 install and uninstall refresh
# test/cli/install.system.test.ts: uninstall moves to the trash, restore brings back, rollback exchanges versions
O1.7 uninstall
O10.7 uninstall by name and source, with a backup
# test/cli/commands.test.ts: prints one JSON value with the fields that others build on
O1.8 list
# test/seeds/skills-agent-registry.test.ts: verify prints the hash of each skill and of each file, without a lock
O1.9 verify
O10.10 ¬verify¬ prints hashes
# test/policy/policy.test.ts: what a skill does not list cannot be used while it is active
O1.10 a skill declares allowed tools
O1.11 the runtime enforces the list
O8.13 the agent validates the action: tool allowed
O9.7 allowed-tools tightens
O13.5 a tool that a skill does not allow cannot be called
R2.6 controls are hints; the runtime enforces
# test/cli/call.system.test.ts: without a person ends with status 3 and the command line that does exactly this, once
O1.12 high-risk actions need approval
O9.10 non-interactive: an action that needs approval fails
O9.11 non-interactive: a command that replays it is printed
O13.6 high-risk tools need approval
# test/agent/limits.system.test.ts: at most two bodies are loaded in a turn, workflow skills first; the rest is put off with a note
O1.13 one task can use several skills
O4.43 one or two bodies per round
O4.46 coordinating skills are loaded before domain skills
# test/evals/cases/own-cases.test.ts: every key of a case is read
O1.14 evaluations check triggers, steps and output
O5.3 ¬.agent/evals¬ holds cases
# test/sandbox/interaction/interactions.system.test.ts: an interactive program ends after its idle timeout and after its total timeout
O1.15 controlled execution: timeout
O4.41 scripts have a timeout
# test/sandbox/process/program-environment.system.test.ts: a program sees where it is, and nothing else
O1.16 controlled execution: own folder and cleaned environment
# test/seeds/skills-agent.test.ts: is told every action with its payload, and corrections name the payload
O1.17 models are pluggable
O8.15 every model is told the actions and their payloads
O8.16 a correction names the expected payload
# test/seeds/skills-agent-registry.test.ts: strict mode leaves out what the design refuses, each with its reason
O1.18 a frontmatter subset is parsed
O6.1 ¬name¬ is required
O6.2 ¬description¬ is required
O6.11 nested structures are refused
R3.3 without name or with broken frontmatter a folder is refused in strict mode
R4.3 no ¬<¬ and ¬>¬ in strict mode, anywhere in the frontmatter
R4.4 at most 200 lines
R4.5 at most 500 characters a line
R4.6 nesting is refused
# test/agent/agent.system.test.ts: the same work with objects instead of tool calls
O4.1 the loop is ReAct with structured actions
O4.2 reason: the model decides the next step from request, state and index
O4.3 act: one structured action
O4.5 repeat until an exit condition
# test/agent/answer-json.test.ts: is never guessed: what is not JSON is named with its place
O4.6 free text cannot drive a tool
# test/seeds/skills-agent.test.ts: a run records its scan, phases, resources, tools and the normalized request
O4.7 states Init, IndexSkills, Decide, LoadSkillBody, Act, Observe, Final
O4.9 Decide goes to LoadSkillBody on select_skills
O4.10 Decide goes to Act on a tool action
O4.11 Decide goes to Final on final_answer
O4.12 after LoadSkillBody the next state is Decide
O4.13 Request is kept as written
O4.14 Request is kept normalised
O9.13 record: request
O9.14 record: skills
O9.15 record: resources
O9.16 record: tools
O9.19 place: ¬.agent/runs¬, a folder with the time for each run, with ¬run.json¬
R6.7 a run records the index hash
R8.1 report: roots and duration
R8.2 report: found, valid, ignored with reasons
R8.5 the report is an event
R8.6 the report is a file of the run
# test/skills/registry/hostile.system.test.ts: of a skill that is not selected no byte of the body is read beyond one block, by the count of the system
O4.8 IndexSkills reads metadata only
O7.2 only frontmatter is parsed
# test/seeds/skills-agent.test.ts: the body is in the context once, however often it is loaded, and identical turns end the run
O4.16 LoadedSkills are held on demand
O8.19 identical turns end with a reason
# test/seeds/skills-agent.test.ts: the plan of the example is kept, updated and enforced
O4.17 Plan is part of the run state
O4.18 ToolBudget: maximum turns
O4.19 ToolBudget: maximum tool calls
O4.22 plan has goal
O4.23 plan has steps with id, title, status
O4.24 plan has assumptions
O4.25 plan has constraints ¬max_turns¬ and ¬max_tool_calls¬
O4.27 the first answer has a plan and an action
O4.28 the plan is updated with a later decision
O4.29 plan_update replaces the whole plan
O4.30 plan_update patches the plan
O4.32 step states are pending, in_progress, completed
O4.34 constraints can be changed
# test/seeds/skills-agent.system.test.ts: the budget of script runs and max_script_runs of the plan end a run
O4.20 ToolBudget: maximum script runs
# test/runtime/run-record.system.test.ts: a run says what it was, with which bytes, under which rules, and how it ended
O4.21 AuditTrail: actions and observations as records
O4.40 each action is recorded for evaluation and replay
# test/agent/state.system.test.ts: is made from the record alone, and goes through the phases in order
O4.26 the plan is created with the first decision
# test/agent/plan.test.ts: is patched: steps are changed, added, removed and put in order, the rest stays
O4.31 steps can be added, removed and reordered
O4.33 assumptions can be changed
# test/policy/policy.test.ts: a list cannot widen what the configuration allows, as restriction or as grant
O4.38 before each action: rights (configuration ∩ allowed-tools ∩ run policy)
# test/core/path.test.ts: every path that does not plainly stay in the skill is refused by name, with a code for each reason
O4.39 before each action: path and safety checks
# test/skills/loader/read-resource.test.ts: shows 12,000 characters at once, up to the end of a line, and says how to read on
O4.42 outputs are truncated
# test/tools/actions.test.ts: select_skills loads each skill in order, by name and source
O4.45 the model may name the source
O8.1 action select_skills
O8.2 select_skills takes several skills
R5.4 an action may name the source
# test/agent/resume/resume.system.test.ts: the run goes on where it ended, counts on, and the model is asked only what it has not answered
O4.47 runs can be replayed
# test/cli/config.test.ts: prints what is in force, names unknown keys with a guess, and publishes its schema
O5.2 ¬.agent/config.json¬ is the configuration
# test/skills/registry/index-skills.test.ts: the higher root wins and the other one is reported with version, source, path and reason
O5.7 the higher precedence wins by default
R5.6 a shadowed entry is recorded with version, source, path and reason
# test/seeds/skills-agent-registry.test.ts: a name with a namespace is found by both of its names
O5.9 namespaces ¬org/skill-name¬
# test/seeds/skills-agent-registry.test.ts: skill_roots of the example keep the labels project and user
O5.10 ¬skill_roots¬ as in the example
# test/seeds/skills-agent.test.ts: the configuration of the example is accepted: model, approvals, limits
O5.12 ¬execution.require_approval_for¬
# test/skills/format/skill-md.test.ts: a body of 500 lines or 40,000 characters is within the limits, which can be set
O5.13 ¬security.max_skill_body_lines¬
O7.7 a limit of 500 lines, configurable
# test/seeds/skills-agent-registry.test.ts: the security settings of the example block angle brackets anywhere in the frontmatter
O5.14 ¬security.block_angle_brackets_in_frontmatter¬
# test/skills/format/simple-head.test.ts: version and author are taken from the top level first, else from metadata
O6.3 ¬version¬
O6.4 ¬author¬
# test/skills/catalog/catalog.test.ts: each of the six states has its place in the catalog
O6.5 ¬disable-model-invocation¬ hides a skill from the index of the model
# test/seeds/skills-agent-registry.test.ts: allowed-tools as a text is split at commas
O6.8 ¬allowed-tools¬ as a text
R4.9 lenient: allowed-tools text is split at commas
# test/agent/subagent.system.test.ts: is run by a child with its instructions; the parent sees the summary alone
O6.9 ¬run-mode: subagent¬
# test/agent/agent.system.test.ts: a skill is loaded, its script is run, and the answer is given; all of it is in the record
O6.10 ¬run-mode: inline¬
# test/skills/registry/discover.test.ts: each skill folder is one entry or one left-out record with its reason
O7.1 all ¬<skill-name>/SKILL.md¬ are found
R3.1 a skill folder is a direct folder with SKILL.md
# test/seeds/skills-agent-registry.test.ts: the list for the model is the text of the example
O7.5 the model sees name, description and source only
R7.1 the model sees name, description, source
R7.2 path, controls and meta stay out
R7.3 ¬Available Skills:¬ and ¬- name=… | source=… | description=…¬
# test/skills/loader/load-body.test.ts: comes without frontmatter, with a report of what was read; its files are listed beside it
O7.6 the body comes without frontmatter
# test/skills/loader/load-body.test.ts: is refused beyond 500 lines or 40,000 characters, with advice, or cut at the end of a line
O7.8 a longer body can be refused with advice to split it
# test/seeds/skills-agent.test.ts: a body comes with source and path, without hidden characters and with plain line ends
O7.9 invisible characters are removed
O7.10 line ends are normalised
O7.11 the body comes with source and path
# test/cli/exec.system.test.ts: exec runs a script of a built-in skill, shows its output and brings its files back
O7.13 scripts get controlled arguments and folder
# test/seeds/skills-agent.system.test.ts: run.json has the exit code and the start of the output of each program
O7.14 only the summary of stdout and stderr is injected
O9.17 record: exit codes
O9.18 record: output summaries
# test/skills/loader/read-resource.test.ts: is read by section; a section that does not exist gives the start, a note and the headings
O7.15 exact file and exact section
# test/seeds/skills-agent.test.ts: the resources of a loaded skill are files that can be loaded
O7.16 ¬resources¬ names what can be loaded
# test/tools/actions.test.ts: load_resource reads a file, or the section below a heading
O8.5 action load_resource
# test/tools/actions.test.ts: run_script is offered where programs can run
O8.9 action run_script
O8.10 run_script: skill, relative_path, args
# test/tools/actions.test.ts: final_answer gives the answer back
O8.11 action final_answer
# test/skills/loader/hostile.test.ts: each bad path and each bad file gives its own code and none of its content
O8.12 the agent validates the action: path inside the skill
# test/runtime/approvals.system.test.ts: each decision, question and answer is told with its rule and who wrote it, before anything is done
O8.14 the agent validates the action: approval needed
O9.8 interactive: the terminal asks
# test/seeds/skills-agent.test.ts: unknown tools and invalid payloads are counted, recorded and answered with the payload
O8.17 invalid and unknown calls are counted and shown
# test/seeds/skills-agent.test.ts: a streamed answer that is not the answer is withdrawn by an event
O8.18 a withdrawn streamed answer has an event
# test/policy/policy.test.ts: each tool has its risk, and the risk decides where no rule speaks
O9.1 read_file, list_dir, grep are low risk
O9.2 run_script is medium risk
# test/seeds/skills-agent.system.test.ts: a write is of high risk in a repository too, and no flag that answers for edits approves it
O9.3 write_file, network_request, delete_file are high risk
# test/tools/actions.test.ts: the tools on files and servers are offered where the session opened them
O9.4 the tools exist under these names
O9.6 by default only reading is open; scripts and writes are opened explicitly
# test/policy/policy.test.ts: two lists are an intersection, never a union: one skill cannot widen another
O9.5 allowed = configuration ∩ allowed-tools ∩ run policy
# test/runtime/approvals.system.test.ts: --yes: what is of medium risk and in a sandbox; nothing else
O9.9 ¬--yes¬ does not approve high risk
# test/cli/run.system.test.ts: without an approval and with a run that continues, the model answers and the record says refused
O9.12 a refused run is recorded as refused
# test/packs/install.system.test.ts: a folder of skills is inspected, asked about and moved in whole, with a lock
O10.2 unpacked into a temporary folder
# test/seeds/skills-agent.system.test.ts: a folder without SKILL.md is reported, one without a description is refused, the rest is installed
O10.3 SKILL.md must exist
# test/cli/install.system.test.ts: what a stranger made to harm is refused with its code, and the root stays empty
O10.5 no ¬../¬
O13.4 zip install blocks traversal and skills without SKILL.md
# test/packs/install.system.test.ts: a folder of skills is inspected, asked about and moved in whole, with a lock
O10.6 moved in atomically
# test/cli/packs.system.test.ts: a signed pack is taken by whoever pinned the key, and by nobody else
O10.8 signature beside the pack
# test/packs/pack/check-manifest.test.ts: each changed, missing and added file of a pack is named
O10.9 ¬manifest.json¬ with hashes
# test/evals/grade/grade-run.system.test.ts: match in order, by tool name or action type
O11.6 sequence: select before run
# test/evals/grade/grade-kinds.system.test.ts: grades each limit
O11.9 cost: tokens, time, calls
# test/evals/grade/grade-run.system.test.ts: count only if they succeeded, unless the pattern accepts any outcome
O11.7 sequence checks count actions that succeeded
# test/evals/grade/grade-kinds.system.test.ts: grades JSON by a schema; an unusable schema is an error
O11.8 output structure is checked
# test/model/rules-run.system.test.ts: searches, loads, runs the quickstart on the given file and answers from its output
O11.10 a mock model without network
# test/cli/eval.system.test.ts: a suite that was recorded once is played elsewhere for nothing, and misses where the skill changed
O11.11 answers fixed by a case file
O13.7 evaluations run offline with a report
# test/runtime/roots.test.ts: options, SKILLS_ROOT, configuration, project up to the repository, home, DOCUMENT_ROOT, built-in: high to low
R2.1 roots have source, path and precedence
# test/skills/registry/watch.system.test.ts: tells of a skill that is added, edited and removed, each in one call that names it
R2.8 refresh_index
# test/seeds/skills-agent-registry.test.ts: hidden folders, files and folders without SKILL.md are ignored
R3.4 hidden folders are ignored
R3.5 files are ignored
R3.6 folders without SKILL.md are ignored
# test/seeds/skills-agent-registry.test.ts: lenient mode lists them with diagnostics; a missing description is an empty text
R4.8 lenient: a missing description is an empty text with a diagnostic
# test/seeds/skills-agent-registry.test.ts: of two skills of one name in one root the newer one wins, and the conflict is reported
R8.3 report: conflicts with the decision
# test/skills/registry/cache.system.test.ts: restores exactly the index that reading produced, without reading a file
R6.1 the index is not scanned every round
R6.3 start-up refreshes
R6.6 changes are detected by time
# test/skills/registry/cache.system.test.ts: a snapshot does not change when the disk does
R6.2 the index is fixed during a run
# test/skills/registry/watch.system.test.ts: tells of a skill that is added, edited and removed, each in one call that names it
R6.5 an explicit refresh
# test/journal/journal-writer.test.ts: holds everything that happened, the skills there were, the state at the end and the answer
R6.8 a run stores the index
# test/cli/commands.test.ts: shows fields and files and no body unless asked
O12.1 phase A: ¬inspect¬ shows a skill without its body
# test/agent/limits.system.test.ts: are asked for once more with the exact error; the second one counts
O12.2 phase C: an invalid structured answer is requested again
# test/evals/trigger/trigger-score.test.ts: include precision, recall and F1 per skill, and a confusion matrix
O11.12 trigger: precision and recall
# test/evals/grade/grade-run.system.test.ts: match before and forbid
O11.13 constraints: forbidden tools
# test/skills/registry/index-skills.test.ts: a name, a source or a group with it, or an id finds the skill, whatever the case
R5.7 a source filters the entries
# test/skills/format/restrictions.test.ts: an entry of allowed-tools that is not a tool pattern is ignored and reported
R4.10 what is not understood in a field is ignored and reported
# test/runtime/reads.test.ts: until a skill is loaded no byte of a body is read, then that body alone, then that file alone, by a count of the reads
R1.1 the registry reads no body
R1.2 resources are read by the loader only
# test/skills/registry/discover.test.ts: an entry has id, name, description, source, path, controls, meta and digest
R2.9 the path of an entry is absolute
# test/skills/registry/cache.system.test.ts: no change: the previous snapshot is returned
R1.3 the output is stable while nothing changes
# test/seeds/skills-agent.system.test.ts: a script that does not exist is reported before approval, and uses no budget of script runs
O4.48 a script that does not exist is found before approval, and uses no script run
# test/seeds/skills-agent.system.test.ts: user-invocable: false is marked in the list, and every way to call the skill is refused alike
O6.6 ¬user-invocable¬
O6.12 ¬user-invocable: false¬ is marked in the list
# test/seeds/skills-agent.system.test.ts: in the vocabulary skills-agent a skill without a name is refused, and the rest goes to .agent/skills
O10.4 frontmatter has name and description
O10.11 installed into ¬<skill-root>/<skill-name>/¬ of the project
# test/seeds/skills-agent-registry.test.ts: in the vocabulary skills-agent strict is the default, refuses what the design refuses and nothing else
R5.2 same root: the later modification wins
R5.3 the conflict is reported
R4.7 strict: left out with the reason
R3.7 strict mode is the default
R3.8 a folder without SKILL.md is ignored with everything below it
R4.20 ¬<¬ and ¬>¬ are forbidden by default
R4.11 a nested field that is not in the list is ignored
# test/seeds/skills-agent-registry.test.ts: build_index takes roots with source and path in order of priority, and options, and gives skills and report
R2.7 build_index gives skills and report
R2.20 the priority of a root may follow from the order
# test/seeds/skills-agent.test.ts: the mock model of the configuration plays its turns: actions of the design, flat or with a payload, and a bare plan
O5.11 ¬model.provider: mock¬
O5.15 ¬model.params¬ are the parameters of the mock model
O11.30 the mock model gives a fixed sequence of actions
# test/seeds/skills-agent.test.ts: a plan alone is kept, and the model is asked for the next action; flat actions are performed
O4.49 the plan is accepted as the example writes it
O8.20 an action has its fields beside its type
# test/seeds/skills-agent.test.ts: a body over 500 lines is refused by default in the vocabulary
O7.17 a body over 500 lines is refused by default
# test/seeds/skills-agent.system.test.ts: a case with input, expected and constraints passes by its skills, steps and keywords, and fails without them
O11.1 case: ¬input¬
O11.2 case: ¬expected¬ skills
O11.3 case: ¬expected¬ steps
O11.4 case: ¬expected¬ output pattern
O11.5 case: ¬constraints¬
# test/seeds/skills-agent-registry.test.ts: in the vocabulary the roots are .agent/skills of the project and of the user, and the built-in skills
O5.16 without ¬skill_roots¬ these are the only roots
`;

function works(): readonly SeedRow[] {
  let test = '';
  return WORKS.trim()
    .split('\n')
    .flatMap((line): SeedRow[] => {
      const [id = '', ...words] = line.split(' ');
      const text = words.join(' ').replaceAll('¬', '`');
      if (id !== '#') return [{ id, says: text, test }];
      test = text;
      return [];
    });
}

const order = new Intl.Collator('en', { numeric: true });

export const SKILLS_AGENT: SeedDocument = {
  title: 'skills-agent (001, 004)',
  page: 'vocabularies/skills-agent.md',
  tests: [
    'test/seeds/skills-agent.test.ts',
    'test/seeds/skills-agent-registry.test.ts',
    'test/seeds/skills-agent.system.test.ts',
    'test/package.system.test.ts',
  ],
  rows: [...works().toSorted((a, b) => order.compare(a.id, b.id)), ...DEVIATES],
  choices: [...CHOICES, ...CHOSEN_FOR_ALL],
};
