/** The rules of the Skills extension of MCP, each with the tests that show it; docs/mcp-skills.md lists them. */

interface SkillRule {
  readonly side: 'server' | 'host';
  readonly level: 'MUST' | 'SHOULD' | 'MAY';
  readonly rule: string;
  /** A file of `test/mcp/`, and a part of the titles of its tests. */
  readonly tests: readonly (readonly [file: string, title: string])[];
}

const SUITE = 'suite.system.test.ts';
const HOST = 'server-skills.system.test.ts';
const SERVER = [[SUITE, 'passes without warnings']] as const;
const IN_SUITE = [SUITE, 'passes against the host: '] as const;
const LISTED = [HOST, 'without a read of their files'] as const;
const READ = [HOST, 'read when it is needed'] as const;
const TRUSTED = [HOST, 'needs trust for its content'] as const;
const BY_URI = [HOST, 'is loaded by its URI'] as const;
const PROGRAM = [HOST, 'a program of a skill runs'] as const;
const REMOVED = [HOST, 'a server that is removed is forgotten'] as const;
const ORIGINS = 'origins.system.test.ts';
const NAMES = ['skill-names.test.ts', 'equal names are told apart'] as const;
const CHILDREN = ['server.system.test.ts', 'lists the children of a folder, none for an empty one'] as const;
const LIMITS = ['server.system.test.ts', 'offers the tools of a vocabulary'] as const;

export const SKILL_RULES: readonly SkillRule[] = [
  {
    side: 'server',
    level: 'MUST',
    rule: 'declares `resources` and implements the methods that it declares',
    tests: SERVER,
  },
  { side: 'server', level: 'MUST', rule: 'answers unknown URIs with -32602', tests: SERVER },
  {
    side: 'server',
    level: 'MUST',
    rule: 'lists the whole frontmatter, and digest and size of every file',
    tests: SERVER,
  },
  { side: 'server', level: 'MUST', rule: 'says how long a list or an entry may be kept, and by whom', tests: SERVER },
  { side: 'server', level: 'MUST', rule: 'has the name of the skill as the last folder of its URI', tests: SERVER },
  {
    side: 'server',
    level: 'MUST',
    rule: 'lists every child of a folder; none for an empty one',
    tests: [...SERVER, CHILDREN],
  },
  {
    side: 'server',
    level: 'SHOULD',
    rule: 'sets type, name and description of resources; uses `skill://`',
    tests: SERVER,
  },
  { side: 'server', level: 'SHOULD', rule: 'serves no skill beyond 512 files or 16 MiB', tests: [LIMITS] },
  {
    side: 'host',
    level: 'MUST',
    rule: 'reads no file on connection, on listing or at approval',
    tests: [IN_SUITE, LISTED, PROGRAM],
  },
  {
    side: 'host',
    level: 'MUST',
    rule: 'checks digest, size and frontmatter of each file that it reads',
    tests: [IN_SUITE, READ, PROGRAM],
  },
  { side: 'host', level: 'MUST', rule: 'checks files of the cache at each use', tests: [READ] },
  {
    side: 'host',
    level: 'MUST',
    rule: 'keeps files by server and URI, where no skills are looked for',
    tests: [READ, [ORIGINS, 'reaches its own server only']],
  },
  {
    side: 'host',
    level: 'MUST',
    rule: 'while a skill is loaded, reads only files that the held entry lists',
    tests: [READ, TRUSTED, [ORIGINS, 'a file that its server added later is not read']],
  },
  {
    side: 'host',
    level: 'MUST',
    rule: 'reads files of a skill from its own server only; one URI at two servers is two skills',
    tests: [READ, BY_URI, [ORIGINS, 'reaches its own server only']],
  },
  { side: 'host', level: 'MUST', rule: 'takes skills of 512 files and 16 MiB', tests: [READ] },
  { side: 'host', level: 'MUST', rule: 'loads a skill by its URI alone', tests: [BY_URI] },
  {
    side: 'host',
    level: 'MUST',
    rule: 'loads no entry without digests of its files, or with a broken one',
    tests: [LISTED],
  },
  { side: 'host', level: 'MUST', rule: 'tells equal names of one listing apart', tests: [NAMES, LISTED, TRUSTED] },
  { side: 'host', level: 'MUST', rule: 'lets no skill take the name of a skill of another origin', tests: [TRUSTED] },
  {
    side: 'host',
    level: 'MUST',
    rule: 'binds approval to the URIs and digests; another set revokes it',
    tests: [TRUSTED],
  },
  { side: 'host', level: 'MUST', rule: 'takes a nested SKILL.md for a file without effect', tests: [READ] },
  {
    side: 'host',
    level: 'MUST',
    rule: 'approves no nested skill with the skill around it',
    tests: [[ORIGINS, 'approves no skill nested in it']],
  },
  { side: 'host', level: 'MUST', rule: 'runs no hook, and grants no tool by `allowed-tools` alone', tests: [TRUSTED] },
  { side: 'host', level: 'MUST', rule: 'asks the user before a program of a skill runs', tests: [PROGRAM] },
  {
    side: 'host',
    level: 'MUST',
    rule: 'names the server with each text, as the configuration does',
    tests: [READ, TRUSTED],
  },
  { side: 'host', level: 'SHOULD', rule: 'keeps verified files, one by one as they are read', tests: [READ] },
  { side: 'host', level: 'SHOULD', rule: 'says why a skill is declined', tests: [LISTED] },
  { side: 'host', level: 'SHOULD', rule: 'deletes what it kept of a server that the user removes', tests: [REMOVED] },
  { side: 'host', level: 'MAY', rule: 'declines skills with `"resources": "dynamic"`', tests: [LISTED] },
];
