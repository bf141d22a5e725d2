import type { LoadReport, Observation, SkillIdentity } from '../observation.ts';
import { estimateTokens } from '../tokens.ts';

/** Why skill content was shown. */
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

/** Skill content that was shown to the model. */
export interface ShownContent {
  /** Id of the skill; empty for the catalog. */
  readonly skill: string;
  /** Relative to the folder of the skill; empty if no single file was shown. */
  readonly path: string;
  /** Digest of the file, or of the text if it is not a file. */
  readonly digest: string;
  readonly characters: number;
  readonly tokens: number;
  readonly reason: ShownReason;
}

/**
 * The skill content that an observation shows to the model. Digests of texts that are not files are left empty, because `core` does not
 * hash.
 */
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
    // Program output is not skill content.
    case 'program-ran':
    case 'command-seen':
    case 'command-killed':
    case 'script-found':
    case 'packages-installed':
    // Neither are project files and server responses.
    case 'file-read':
    case 'directory-listed':
    case 'lines-found':
    case 'file-written':
    case 'file-deleted':
    case 'response-received':
    case 'tool-called':
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
