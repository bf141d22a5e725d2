/** What two capabilities of one script show together (`../capabilities.ts`). */
import type { RuleId } from '../rules.ts';

export interface CapabilityPair {
  readonly rule: RuleId;
  readonly first: string;
  readonly second: string;
  /** Not in languages that are followed. */
  readonly isGuess?: true;
  /** Words of instructions that speak of it. */
  readonly named?: RegExp;
  readonly says: string;
}

export const CAPABILITY_PAIRS: readonly CapabilityPair[] = [
  { rule: 'encoded-payload', first: 'evaluates', second: 'decodes', says: 'computes a text and executes text' },
  {
    rule: 'collect-and-send',
    first: 'all-secrets',
    second: 'reaches',
    named: /tojson\( ?secrets/,
    says: 'takes all secrets of a workflow and reaches another host',
  },
  {
    rule: 'encoded-payload',
    first: 'looks-up',
    second: 'reaches',
    says: 'looks for a function and reaches another host',
  },
  { rule: 'reverse-shell', first: 'connects', second: 'shells', says: 'opens a connection and starts a shell' },
  {
    rule: 'reverse-shell',
    first: 'connects',
    second: 'starts-any',
    isGuess: true,
    says: 'opens a connection and starts programs',
  },
  {
    rule: 'download-and-run',
    first: 'evaluates',
    second: 'reaches',
    isGuess: true,
    says: 'reaches another host and executes text',
  },
  {
    rule: 'mass-deletion',
    first: 'erases',
    second: 'personal-folder',
    named: /documents?\b|desktop|pictures|photos|movies|delet|home (?:folder|directory)/,
    says: 'erases files and names the folders of the user, of which the instructions say nothing',
  },
  {
    rule: 'agent-memory',
    first: 'skills-folder',
    second: 'changes-files',
    named:
      /(?:other|installed|all|every|existing|your|these|agent|user|local|my|the|of) skills?\b|skills? (?:folder|director|manag|creat|install|updat|lint|check|audit|catalog|index|librar)/,
    says: 'changes other skills, of which the instructions say nothing',
  },
  {
    rule: 'approval-evasion',
    first: 'loosens',
    second: 'agent-settings',
    named: /permission|approv|bypass|base.?url|gateway|proxy|endpoint|router|yolo|container|sandbox/,
    says: 'changes the settings of an agent, of which the instructions say nothing',
  },
  {
    rule: 'persistence',
    first: 'python-start',
    second: 'python-folder',
    named: /\.pth\b|site-packages|(?:site|user)customize|editable|virtual ?env|\bvenv/,
    says: 'makes code that Python runs whenever it starts, of which the instructions say nothing',
  },
  {
    rule: 'persistence',
    first: 'editor-start',
    second: 'reaches',
    named: /folder ?open|automatic|runon/,
    says: 'reaches another host and makes a task that an editor starts by itself',
  },
];
