/** Which content an observation shows to the model. */

import { estimateTokens, type Observation, type ShownContent, type OfType } from '#core';
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
  skill: Pick<OfType<Observation, 'skill-loaded'>['skill'], 'id'>,
  text: string,
  { path, digest }: Pick<OfType<Observation, 'skill-loaded'>['report'], 'path' | 'digest'>,
  reason: ShownContent['reason'],
): ShownContent {
  return { skill: skill.id, path, digest, characters: text.length, tokens: estimateTokens(text), reason };
}

function listed(
  skill: OfType<Observation, 'skill-loaded'>['skill'],
  paths: readonly string[],
): readonly ShownContent[] {
  if (paths.length === 0) return [];
  return [{ skill: skill.id, path: '', digest: '', ...measured(paths.join('\n')), reason: 'list' }];
}

function measured(text: string): Pick<ShownContent, 'characters' | 'tokens'> {
  return { characters: text.length, tokens: estimateTokens(text) };
}
