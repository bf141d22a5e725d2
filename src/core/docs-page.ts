/** The command that prints a page of the documentation: how messages cite it. A test holds every topic to a file in `docs/`. */
export function docsPage(topic: string): string {
  return `skillwright docs ${topic}`;
}
