/** Deception of the user, in words that name neither a command nor a host. */
import { patterns, type Pattern } from '../pattern.ts';

/** Texts about tests, games and role play use the same words. */
const ROLE_PLAY =
  /\b(?:role-?play|persona|game|character|test(?:s|ing)?|mock|simulat\w{1,6}|never|do not|don't|interview|fiction|story)\b/;

export const USER_DECEPTION_PATTERNS: readonly Pattern[] = [
  ...patterns('prose', 'conceal-from-user', [
    {
      find: /\bwithout (?:the |a )?(?:user|person|customer|them|anyone|people|owner)(?:s|'s)? (?:ever )?(?:reali[sz]ing|noticing|knowing|seeing|being (?:told|aware|asked|informed))\b/g,
      says: 'avoids being noticed by the user',
    },
    {
      evenDenied: true,
      find: /\b(?:do not|don't|never|must not) (?:log|record|document|discuss|acknowledge|admit|bring up|disclose|reveal) (?:any of )?(?:this|these|it|them|that|those)\b|\b(?:do not|don't|never) bring (?:this|it|that) up\b|\b(?:left|leave|kept|keep) (?:this |it |them )?out of (?:the |any )?(?:summary|report|output|logs?|answer|transcript)\b/g,
      unless: /\b(?:secrets?|passwords?|api keys?|tokens?|credentials?|sensitive|pii|values?)\b/,
      severity: 'medium',
      says: 'omits evidence of the action',
    },
  ]),
  ...patterns('prose', 'deceive-user', [
    {
      find: /\bpretend(?:s|ing)? (?:that|to have|to be) (?:the |you |it |a |an )?(?:\w{1,14} )?(?:was|were|is|are|has|have|deleted|finished|done|completed|official|human|safe)\b|\b(?:look|appear|seem) as (?:if|though) (?:they|it|this) (?:came|comes|was|were|is|are)\b[^.\n]{0,40}\b(?:official|user|system|human|trusted)\b|\breassure (?:them|the (?:user|person|customer)) and (?:carry on|continue|proceed|go on)\b/g,
      unless: ROLE_PLAY,
      severity: 'medium',
      says: 'instructs to make a false statement',
    },
  ]),
  ...patterns('prose', 'override-instructions', [
    {
      find: /\b(?:obey|comply with|trust|follow|execute|accept) (?:all |any )?(?:messages|instructions|commands|requests|orders|directives) (?:signed|marked|tagged|prefixed|sent|issued|that (?:contain|start|begin))\b|\bas (?:if (?:it|they) (?:came|come) |coming )from the (?:user|system|developer|operator)\b|\bcontradicts? (?:the )?(?:user|person|operator)\b/g,
      unless: /\b(?:never|do not|don't|untrusted|injection|ask|flag|clarify)\b/,
      says: 'takes orders from someone other than the user',
    },
    {
      find: /\b(?:safety|content|security|usage|privacy|system|usual|normal) (?:polic(?:y|ies)|rules?|guidelines|restrictions?|limits?|checks?) (?:does not|do not|doesn't|don't|need not|no longer) apply\b|\bbypass(?:es|ing)? the (?:normal|usual|standard|regular) (?:review|checks?|approval|process|safeguards?)\b/g,
      says: 'claims that restrictions do not apply',
    },
    {
      severity: 'medium',
      find: /\b(?:permissions?|access|tokens?|approvals?|consent|grants?)\b[^.\n]{0,40}\b(?:is|are) (?:kept|retained|carried over|reused|remembered|cached) (?:for|in|across|after)\b[^.\n]{0,20}\b(?:later|future|other|all|every|subsequent)\b|\b(?:user|person|owner) (?:revokes|withdraws|denies|removes) (?:access|permission|consent|approval)\b[^.\n]{0,60}\b(?:cache|keep|continue|proceed|still|go on|retry|anyway)\b/g,
      says: 'keeps permissions that were granted once',
    },
  ]),
  ...patterns('prose', 'slanted-content', [
    {
      find: /\b(?:steer|nudge|guide|push|redirect|lead)(?:ed|s|ing)? (?:the |any |every )?(?:\w{1,14} ){0,3}(?:towards?|to) (?:the |our |a )?(?:premium|paid|partner|sponsored|affiliate|more expensive|own product)\b/g,
      says: 'manipulates the user for profit',
    },
  ]),
];
