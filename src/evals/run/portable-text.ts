/**
 * Texts of a run without what is different in the next one: where its skills and its project lie, and how long programs took. A recording
 * made on one machine is then the same conversation on every other.
 */
export interface RunPlaces {
  /** The folder with the skills of the run. */
  readonly skills: string;
  readonly project: string;
}

export interface PortableText {
  readonly hide: (text: string) => string;
  /** Puts the places of this run where a recording has marks. */
  readonly show: (text: string) => string;
}

const SKILLS_MARK = '/evaluation/skills';
const PROJECT_MARK = '/evaluation/project';
/** In JSON, and in JSON that is text of JSON. */
const DURATION = /(duration_ms\\*"\s*:\s*)\d+/g;

export function portableText({ skills, project }: RunPlaces): PortableText {
  return {
    hide: (text) =>
      text
        .replaceAll(skills, SKILLS_MARK)
        .replaceAll(project, PROJECT_MARK)
        .replaceAll(DURATION, (_, start: string) => `${start}0`),
    show: (text) => text.replaceAll(SKILLS_MARK, skills).replaceAll(PROJECT_MARK, project),
  };
}
