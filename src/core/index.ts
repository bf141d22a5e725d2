/**
 * The public names of core.
 */

export {
  EFFECTS,
  RISKS,
  type Access,
  type Capability,
  type Decision,
  type Effect,
  type Risk,
  type RuleOrigin,
  type Subject,
} from './access.ts';
export {
  LIMIT_LABELS,
  describeAction,
  describeOutcome,
  interruptedText,
  isPoorOutcome,
  limitText,
} from './action-text.ts';
export {
  ACTION_KINDS,
  SELECT_MODES,
  listHostInputs,
  isOfKind,
  type Action,
  type ActionOfKind,
  type ActionType,
  type CallMcpTool,
  type DeleteFile,
  type DocumentSelection,
  type EditFile,
  type GetScriptPath,
  type Grep,
  type InputRequest,
  type InstallPackages,
  type KillCommand,
  type LineRange,
  type ListDirectory,
  type ListResources,
  type LoadSkill,
  type NetworkRequest,
  type PollCommand,
  type ReadFile,
  type ReadResource,
  type RunCommand,
  type RunScript,
  type SearchSkills,
  type SelectDocuments,
  type SelectMode,
  type StartCommand,
  type WriteFile,
  type WriteInput,
} from './action.ts';
export { agentEventText } from './agent-event-text.ts';
export { hasSeparatingComma, isToolPattern, narrowTools, splitToolList, withoutTools } from './allowed-tools.ts';
export {
  APPROVAL_SCOPES,
  APPROVERS,
  type ApprovalAnswer,
  type ApprovalDetail,
  type ApprovalRequest,
  type ApprovalScope,
  type Approve,
  type ApprovedSkill,
} from './approval.ts';
export { ARCHIVE_LIMITS, type ArchiveLimits } from './archive-limits.ts';
export { DEFAULT_BUDGET, type Budget, type BudgetName } from './budget.ts';
export { CATALOG_FORMATS, CATALOG_LAYOUTS, type CatalogFormat } from './catalog-layout.ts';
export { reduceChat, type ChatEvent, type Said } from './chat.ts';
export type { CommandLine, CommandWord, SimpleCommand, Unclear } from './command.ts';
export { checkConfig, checkPolicyFile, pathText, problemText } from './config/config-check.ts';
export { readEnvironment, valueHint } from './config/config-environment.ts';
export {
  explainLayers,
  mergeLayers,
  widerSettings,
  type ConfigLayer,
  type ExplainedValue,
  type LayerValue,
} from './config/config-merge.ts';
export {
  MAX_SETTING_DEPTH,
  SETTINGS,
  isMap,
  valueAt,
  valueOfText,
  withValue,
  type Setting,
} from './config/config-settings.ts';
export {
  CONFIG_JSON_SCHEMA,
  INSTALL_SCOPES,
  PROJECT_ACCESSES,
  type Config,
  type InstallScope,
} from './config/config.ts';
export { settingNames } from './config/environment-names.ts';
export { configProblem, type LayerPolicy, type LoadedConfig, type Surroundings } from './config/loaded-config.ts';
export {
  contradictions,
  joinPolicies,
  ownPolicy,
  type AllowedToolsUse,
  type PolicyConfig,
  type SandboxedUse,
  type WrittenPolicy,
  type WrittenRule,
} from './config/policy-config.ts';
export { isSteering, findOverrideRule, userOnlyPaths } from './config/project-override-rules.ts';
export { defined } from './defined.ts';
export { DIAGNOSTIC_RULES, type DiagnosticCode, type DiagnosticRule, type Severity } from './diagnostic-codes.ts';
export {
  compareDiagnostics,
  compareText,
  diagnose,
  type Diagnostic,
  type Edit,
  type Finding,
  type Mode,
} from './diagnostic.ts';
export { docsPage } from './docs-page.ts';
export { SkillError, invalidInput, isSkillError, type SkillErrorCode } from './errors.ts';
export { isProblem, type Problem } from './problem.ts';
export { TEXT_LEVELS, eventText, type CallSoFar, type TextLevel, type TextLine } from './event-text.ts';
export {
  DEFAULT_LIMITS,
  EXECUTOR_NAMES,
  NOBODY,
  limitReport,
  type AttachedWorkspace,
  type Capabilities,
  type EndReason,
  type Executor,
  type ExecutorName,
  type HostMount,
  type Identity,
  type Isolation,
  type LimitName,
  type OutputSink,
  type ProgramEnd,
  type ProgramSpec,
  type RunLimits,
  type RunStreams,
  type RunningProgram,
  type StagedSkill,
  type WorkspacePlace,
} from './execution.ts';
export { FAILURES, REFUSALS, UNANSWERED, failure, type ActionProblem, type FailureCode } from './failure-codes.ts';
export { fileProblemText, type FileProblem } from './file-problem.ts';
export { compileGlob, normaliseGlob, type Glob } from './glob.ts';
export { ignoredBy, parseIgnore, type IgnoreRule } from './ignore.ts';
export { positionOf, readJsonText, type JsonText, type Position } from './json/json-position.ts';
export {
  briefSchema,
  checkJson,
  isObject,
  publishedSchema,
  type FromSchema,
  type JsonPath,
  type JsonSchema,
  type ObjectSchema,
  type SchemaProblem,
} from './json/json-schema.ts';
export { parseJson } from './json/parse-json.ts';
export { choice, count, flag, list, map, section, text } from './json/schema-of.ts';
export { schemaText } from './json/schema-text.ts';
export { readField, hasShape, isListOf, shape, type Shape } from './json/shape.ts';
export { stableJson } from './json/stable-json.ts';
export { visibleJson } from './json/visible-json.ts';
export { buildLedger, type Ledger } from './ledger.ts';
export { detectMediaType } from './media-type.ts';
export {
  FINISHES,
  type Finish,
  type Model,
  type ModelAnswer,
  type ModelCallOptions,
  type ModelDelta,
  type ModelImage,
  type ModelMessage,
  type ModelRequest,
  type ModelTool,
  type ModelToolCall,
  type ModelUsage,
} from './model.ts';
export { editDistance, nearest } from './nearest.ts';
export {
  findGrant,
  isForHost,
  isHostPattern,
  isLoopback,
  programGrant,
  readAuthority,
  readHost,
  readHostPattern,
  writeAuthority,
  type HostAndPort,
  type HostPattern,
} from './network/host-pattern.ts';
export { readAddress, type AddressKind, type NetworkAddress } from './network/network-address.ts';
export { refusedText, type RefusedConnection } from './network/refused-connection.ts';
export { hasOnlyCopies, isNeverSearched } from './not-searched.ts';
export {
  actionFailed,
  toSkillIdentity,
  isFailed,
  type ActionFailed,
  type CommandSeen,
  type DirectoryEntry,
  type DirectoryListed,
  type FileDeleted,
  type FileRead,
  type FileWritten,
  type LinesFound,
  type ListedFile,
  type LoadReport,
  type Observation,
  type ProgramRan,
  type ResourceRead,
  type ResourcesListed,
  type ResponseReceived,
  type Seen,
  type ShownDocument,
  type SkillIdentity,
  type SkillLoaded,
  type ToolCalled,
} from './observation.ts';
export {
  DEFAULT_OUTPUT_LIMITS,
  INPUTS_FOLDER,
  NOT_COLLECTED,
  SKIP_REASONS,
  isFailedEnd,
  isPrimaryCandidate,
  makeRunResult,
  readOutputRequest,
  type Collected,
  type OutputFile,
  type OutputParameters,
  type OutputRequest,
  type RunResult,
  type SavedOutput,
  type ShownStream,
  type SkipReason,
  type SkippedOutput,
  type StagedInput,
} from './outputs.ts';
export {
  ECOSYSTEMS,
  isPackage,
  normalName,
  packageArgument,
  readNodePackage,
  readPackage,
  readPythonPackage,
  type Ecosystem,
  type LockedPackage,
  type PackageLayer,
  type PackageProblem,
  type PackageSource,
  type PackageSpec,
  type RequestedPackage,
} from './packages.ts';
export {
  collisionKey,
  parentFolder,
  listParentFolders,
  isBelowScripts,
  isOfferedPath,
  kindOfFile,
  scriptPath,
  toRelativePath,
  type RelativePath,
} from './path.ts';
export { toPhase, type Phase } from './phase.ts';
export {
  STEP_STATES,
  applyPlanUpdate,
  isPlanDone,
  planText,
  startPlan,
  type Plan,
  type PlanChange,
  type PlanStep,
  type PlanUpdate,
  type StepState,
} from './plan.ts';
export {
  CONTENT_KINDS,
  OUTCOMES,
  RUN_SCHEMA,
  isUnrecorded,
  type ActivationReason,
  type AgentStart,
  type ContentKind,
  type ContentReference,
  type DecisionField,
  type JournalLine,
  type KeptFile,
  type Outcome,
  type ResumedRun,
  type RunApproval,
  type RunEvent,
  type RunExecutor,
  type RunInfo,
  type RunProgram,
  type RunStart,
  type SubjectLoad,
  type UsedSkill,
} from './run-events.ts';
export { sarifLocations, sarifReport } from './sarif.ts';
export { openRandom, partSeed, type SeededRandom } from './seeded-random.ts';
export {
  findLoaded,
  kindOfFailure,
  reduceSession,
  selectDocuments,
  startState,
  type AskedBy,
  type SessionEvent,
  type SessionSettings,
  type SessionState,
} from './session.ts';
export { MAX_NAME, isTooLong, isValidName, readName, toSlug } from './skill-name.ts';
export {
  OWN_SOURCES,
  isForModel,
  makeHead,
  serverOfSource,
  type ShadowReason,
  type ShadowedSkill,
  type SkillControls,
  type SkillEntry,
  type SkillHead,
  type SkillRoot,
  type Visibility,
} from './skill.ts';
export { spanned, type OnSpan, type Span } from './span.ts';
export { closesFence, fenceMark } from './text/code-fences.ts';
export { codePointAt, sliceEnd, isHigh, partOf, sliceStart } from './text/code-point.ts';
export { delimit, escapeHeaderLines, withoutOurTags } from './text/delimit-untrusted.ts';
export { countLines, lengthWithoutTrailingSpace, offsetOfLine, startOfText } from './text/excerpt.ts';
export { FRAME, frameText } from './text/framed-text.ts';
export { countText, durationText, forPeople, shownText } from './text/line-text.ts';
export { shellWord, typedWord } from './text/shell-word.ts';
export { SHOWN_REASONS, fromFile, shownBy, type ShownContent, type ShownReason } from './text/shown.ts';
export { changesBetween, diffLines, type DiffHunk, type DiffLine, type TextDiff } from './text/text-diff.ts';
export {
  cleanText,
  countCharacters,
  escapeXml,
  hiddenCharacters,
  isLongerThan,
  isVisible,
  nextHidden,
  printable,
  quoted,
} from './text/text.ts';
export { describeValue } from './text/value-text.ts';
export { estimateTokens, tokenWeight } from './tokens.ts';
export {
  isServerName,
  type ForeignSchema,
  type ServerServices,
  type ServerTool,
  type ToolServers,
  type ValueSource,
} from './tool-servers.ts';
export type { LoadedContent, LocatedPath, Offer, ToolInput, ToolRow, Vocabulary } from './tool.ts';
