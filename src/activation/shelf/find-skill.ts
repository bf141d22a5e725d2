/** The skill that an agent lists in place of those on the shelf. */

export const FIND_SKILL = 'find-skill';

export const FIND_SKILL_DESCRIPTION =
  'Finds more skills on this machine. Use it before a task that no listed skill covers, such as one with a file format, tool or service.';

export const FIND_SKILL_TEXT = `---
name: ${FIND_SKILL}
description: ${FIND_SKILL_DESCRIPTION}
---

# Find a skill

Skills that this list does not show are on the shelf. Find one and follow it:

1. Run \`skillwright search "WHAT THE USER WANTS"\` with the task in a few words. It prints the best skills first.
2. Take a skill only if its description fits the task. If none fits, go on without one.
3. Run \`skillwright inspect NAME --body\`, which prints its folder and its instructions. Follow them; paths in them are relative to that folder.
`;
