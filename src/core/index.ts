/**
 * The shared language of all parts: skills, actions, observations, events, problems, the configuration schema, text and JSON. Pure: it never imports a Node
 * module or a package, reads no file and knows no other part. Read action.ts first, then observation.ts and run-events.ts.
 */

// Expected failure is a `Problem`; `problemError` and `toProblem` carry it through calls.
export { isProblem, type Problem } from './problem.ts';
export { SkillError, invalidInput, isSkillError, problemError, toProblem } from './errors.ts';
export { errorOutcome } from './error-outcomes.ts';
export { REFUSALS, failure, type ActionProblem } from './failure-codes.ts';
export { fileProblemText } from './file-problem.ts';
export { compareDiagnostics, compareText, diagnose, type Diagnostic, type Mode } from './diagnostic.ts';
export { DIAGNOSTIC_RULES } from './diagnostic-codes.ts';

// Skills.
export {
  OWN_SOURCES,
  isForModel,
  isProjectSource,
  serverOfSource,
  type SkillEntry,
  type SkillHead,
  type SkillRoot,
} from './skill.ts';
export { isValidName, readName, toSlug } from './skill-name.ts';
export {
  collisionKey,
  listParentFolders,
  parentFolder,
  scriptPath,
  toRelativePath,
  type RelativePath,
} from './path.ts';
export { CATALOG_LAYOUTS } from './catalog-layout.ts';
export { isToolPattern } from './allowed-tools.ts';
export { isNeverSearched } from './not-searched.ts';

// Actions, what they yield, and members of such unions by their `type`.
export type { OfType } from './of-type.ts';
export {
  isOfKind,
  listHostInputs,
  startsProgram,
  type Action,
  type ActionOfKind,
  type ProgramAction,
} from './action.ts';
export { actionFailed, type ActionFailed, type Observation } from './observation.ts';
export { COLLECTED, SKIP_MEANINGS, type RunResult } from './outputs.ts';
export { normalName, packageArgument, readPackage, type PackageLayer } from './packages.ts';
export {
  DEFAULT_LIMITS,
  EXECUTOR_NAMES,
  executorTraits,
  isWeaker,
  namedIsolation,
  type AttachedWorkspace,
  type Executor,
  type ExecutorName,
  type OutputSink,
  type ProgramEnd,
  type HiddenNames,
  type ProgramSpec,
} from './execution.ts';
export type { Offer, ToolRow, Vocabulary } from './tool.ts';
export type { Profile } from './profile.ts';
export { VOCABULARY_NAMES, type VocabularyName } from './vocabulary-names.ts';
export { isServerName, type ServerTool, type ToolServers } from './tool-servers.ts';

// Decisions of the policy, and questions to a person.
export { EFFECTS, type Decision } from './access.ts';
export { APPROVAL_SCOPES, type ApprovalAnswer, type ApprovalRequest, type Approve } from './approval.ts';
export {
  findGrant,
  readAuthority,
  readHostPattern,
  type HostAndPort,
  type HostPattern,
} from './network/host-pattern.ts';
export { readAddress } from './network/network-address.ts';
export { refusedText } from './network/refused-connection.ts';

// Sessions, runs and their events.
export { judgeFailure, reduceSession, type SessionState } from './session.ts';
export {
  lastAnswer,
  OUTCOMES,
  RUN_SCHEMA,
  type JournalLine,
  type RunEvent,
  type RunInfo,
  type RunStart,
} from './run-events.ts';
export { SHOWN_REASONS, type ShownContent } from './text/shown.ts';
export { buildLedger } from './ledger.ts';
export { toPhase } from './phase.ts';
export type { Plan } from './plan.ts';
export { BUDGET_NAMES, DEFAULT_BUDGET, type Budget } from './budget.ts';

// Models.
export {
  type Model,
  type ModelAnswer,
  type ModelDelta,
  type ModelRequest,
  type ModelTool,
  type ModelToolCall,
} from './model.ts';
export { estimateTokens, tokenWeight, toolTokens } from './tokens.ts';

// Configuration.
export { CONFIG_JSON_SCHEMA, type Config, ARCHIVE_LIMITS } from './config/config.ts';
export { THRESHOLDS_SCHEMA } from './config/eval-config.ts';
export { SETTINGS, valueAt, withValue } from './config/config-settings.ts';
export { checkConfig, readSetting } from './config/config-check.ts';
export { configProblem, type LoadedConfig, type Surroundings } from './config/loaded-config.ts';

// JSON and our own schemas.
export { parseJson } from './json/parse-json.ts';
export { stableJson } from './json/stable-json.ts';
export { visibleJson } from './json/visible-json.ts';
export { positionOf, readJsonText } from './json/json-position.ts';
export {
  briefSchema,
  checkJson,
  isObject,
  publishedSchema,
  type FromSchema,
  type JsonPath,
  type JsonSchema,
  type ObjectSchema,
} from './json/json-schema.ts';
export { jsonSchema } from './json/schema-of.ts';
export { schemaText } from './json/schema-text.ts';
export { readField, shape } from './json/shape.ts';
export { sarifReport } from './sarif.ts';

// Untrusted text, made safe to print.
export { cleanText, countCharacters, escapeXml, findHidden, printable, quoted } from './text/text.ts';
export { countText, durationText, forPeople, shownText } from './text/line-text.ts';
export { describeValue } from './text/value-text.ts';
export { shownTool, withToolName } from './decided-tool.ts';
export { folderPattern, replaceFolder, shellWord, typedWord } from './text/shell-word.ts';
export { codePointAt, sliceEnd, sliceStart, wholeCharacters } from './text/code-point.ts';
export { foldLookalikes } from './text/lookalikes.ts';
export { countLines, offsetOfLine, startOfText } from './text/excerpt.ts';
export type { Redactor } from './redactor.ts';
export { delimit, escapeHeaderLines, withoutOurTags } from './text/delimit-untrusted.ts';
export { FRAME, frameText } from './text/framed-text.ts';
export { fenceAfter } from './text/code-fences.ts';
export { changesBetween, diffLines } from './text/text-diff.ts';

// Actions and events in words.
export { LIMIT_LABELS, describeAction, describeOutcome, interruptedText, limitText } from './action-text.ts';
export { eventText } from './event-text.ts';
export { agentEventText } from './agent-event-text.ts';

// Small tools.
export { compileGlob, normaliseGlob } from './glob.ts';
export { openIgnores } from './ignore.ts';
export { editDistance, nearest } from './nearest.ts';
export { detectMediaType } from './media-type.ts';
export { openRandom } from './seeded-random.ts';
export { defined } from './defined.ts';
export { docsPage } from './docs-page.ts';

// Markdown as blocks, for every renderer.
export { readMarkdown, readMarkdownLine } from './text/markdown-blocks.ts';
