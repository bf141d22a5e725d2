import type { LoadReport, Observation, SkillIdentity } from '../observation.ts';
import { estimateTokens } from '../tokens.ts';

/** Why something of a skill was shown. */
export const SHOWN_REASONS = [
  'catalog',
  'search',
  'load',
  'document',
  'resource',
  'list',
  'invocation',
  'compaction',
] as const;
export type ShownReason = (typeof SHOWN_REASONS)[number];

/** One piece of a skill that went towards the model. */
export interface ShownContent {
  /** The skill's id; empty for the catalog, which is about all of them. */
  readonly skill: string;
  /** Relative to the skill's folder; empty where no single file was shown. */
  readonly path: string;
  /** Of the file, or of the text where it is no file. */
  readonly digest: string;
  readonly characters: number;
  readonly tokens: number;
  readonly reason: ShownReason;
}

/** What an observation puts before the model. The identity of a text that is no file is left to the caller: `core` hashes nothing. */
export function shownBy(observation: Observation): readonly ShownContent[] {
  switch (observation.type) {
    case 'skills-found':
      return observation.results.map(({ id, digest, name, description }) => ({
        skill: id,
        path: '',
        digest,
        ...measured(`${name} ${description}`),
        reason: 'search',
      }));
    case 'skill-loaded': {
      const { skill, status, text, report, files, documents } = observation;
      if (status === 'repeated') return [];
      return [
        fromFile(skill, text, report, 'load'),
        ...listed(
          skill,
          files.map(({ path }) => path),
        ),
        ...documents.map((document) => fromFile(skill, document.text, document.report, 'document')),
      ];
    }
    case 'resources-listed':
      return listed(
        observation.skill,
        observation.files.map(({ path }) => path),
      );
    case 'resource-read':
      return [fromFile(observation.skill, observation.text, observation.report, 'resource')];
    case 'documents-selected':
      return observation.documents.map(({ text, report }) => fromFile(observation.skill, text, report, 'document'));
    // What a program prints is its own and not a skill's.
    case 'program-ran':
    case 'command-seen':
    case 'command-killed':
    case 'script-found':
    // Nor are files of the project and answers of servers.
    case 'file-read':
    case 'directory-listed':
    case 'lines-found':
    case 'file-written':
    case 'file-deleted':
    case 'response-received':
    case 'answered':
    case 'failed':
      return [];
  }
}

export function fromFile(
  skill: Pick<SkillIdentity, 'id'>,
  text: string,
  { path, digest }: Pick<LoadReport, 'path' | 'digest'>,
  reason: ShownReason,
): ShownContent {
  return { skill: skill.id, path, digest, characters: text.length, tokens: estimateTokens(text), reason };
}

function listed(skill: SkillIdentity, paths: readonly string[]): readonly ShownContent[] {
  if (paths.length === 0) return [];
  return [{ skill: skill.id, path: '', digest: '', ...measured(paths.join('\n')), reason: 'list' }];
}

function measured(text: string): Pick<ShownContent, 'characters' | 'tokens'> {
  return { characters: text.length, tokens: estimateTokens(text) };
}
