/**
 * What is installed, as a CycloneDX 1.6 bill of materials. The same text for the same skills: its number comes from their digests, its
 * time is given. A skill is an `application` where it has something to run, else `data`; each file is a component with its SHA-256.
 * The digest of the tree is no hash that CycloneDX knows, so it is a property.
 */
import { compareText } from '../../core/diagnostic.ts';
import type { LockedFile } from '../lock/lock.ts';
import { packageUrl } from './package-url.ts';
import type { PackSource } from '../sources/source.ts';

export interface SbomSkill {
  readonly name: string;
  readonly version?: string;
  /** `sha256-tree:<hex>`. */
  readonly digest: string;
  readonly files: Readonly<Record<string, LockedFile>>;
  readonly description?: string;
  /** As the frontmatter has it. */
  readonly license?: string;
  readonly source?: PackSource;
  /** A commit, an exact version. */
  readonly revision?: string;
  /** Names of skills that it needs. */
  readonly requires?: readonly string[];
  readonly signedBy?: string;
}

export interface SbomOptions {
  readonly skills: readonly SbomSkill[];
  /** The version of skillwright. */
  readonly tool: string;
  /** ISO 8601. */
  readonly timestamp: string;
  /** 64 hex digits that stand for all of the skills: the hash of their digests. */
  readonly identity: string;
}

interface Property {
  readonly name: string;
  readonly value: string;
}

export interface SbomComponent {
  readonly type: 'application' | 'data' | 'file';
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version?: string;
  readonly description?: string;
  readonly hashes?: readonly { readonly alg: 'SHA-256'; readonly content: string }[];
  readonly licenses?: readonly object[];
  readonly purl?: string;
  readonly properties?: readonly Property[];
  readonly components?: readonly SbomComponent[];
}

export interface Sbom {
  readonly $schema: string;
  readonly bomFormat: 'CycloneDX';
  readonly specVersion: '1.6';
  readonly serialNumber: string;
  readonly version: 1;
  readonly metadata: object;
  readonly components: readonly SbomComponent[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

export function sbomOf({ skills, tool, timestamp, identity }: SbomOptions): Sbom {
  const sorted = skills.toSorted((a, b) => compareText(a.name, b.name));
  const names = new Set(sorted.map(({ name }) => name));
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(identity)}`,
    version: 1,
    metadata: {
      timestamp,
      tools: { components: [{ type: 'application', name: 'skillwright', version: tool }] },
    },
    components: sorted.map(skillComponent),
    dependencies: sorted.map(({ name, requires = [] }) => ({
      ref: reference(name),
      dependsOn: [...new Set(requires)]
        .filter((needed) => names.has(needed))
        .sort(compareText)
        .map(reference),
    })),
  };
}

export function formatSbom(sbom: Sbom): string {
  return `${JSON.stringify(sbom, undefined, 2)}\n`;
}

function skillComponent(skill: SbomSkill): SbomComponent {
  const { name, version, description, license, digest, files, signedBy } = skill;
  const purl = packageUrl(skill);
  return {
    type: isRunnable(files) ? 'application' : 'data',
    'bom-ref': reference(name),
    name,
    ...(version === undefined ? {} : { version }),
    ...(description === undefined ? {} : { description }),
    ...(license === undefined || license.trim() === '' ? {} : { licenses: [licenseOf(license.trim())] }),
    ...(purl === undefined ? {} : { purl }),
    properties: [
      { name: 'skillwright:digest', value: digest },
      ...(signedBy === undefined ? [] : [{ name: 'skillwright:signedBy', value: signedBy }]),
    ],
    components: Object.entries(files)
      .toSorted(([a], [b]) => compareText(a, b))
      .map(([path, { sha256, executable }]) => ({
        type: 'file',
        'bom-ref': reference(`${name}/${path}`),
        name: path,
        hashes: [{ alg: 'SHA-256', content: sha256 }],
        ...(executable === true ? { properties: [{ name: 'skillwright:executable', value: 'true' }] } : {}),
      })),
  };
}

function isRunnable(files: Readonly<Record<string, LockedFile>>): boolean {
  return Object.entries(files).some(([path, { executable }]) => executable === true || path.startsWith('scripts/'));
}

function reference(name: string): string {
  return `skill:${name}`;
}

/** Version 8 is for numbers of one's own making. */
function uuidOf(identity: string): string {
  const hex = identity
    .toLowerCase()
    .replaceAll(/[^0-9a-f]/g, '')
    .padEnd(32, '0');
  const variant = '89ab'.charAt(Number.parseInt(hex.charAt(16), 16) % 4);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}

/** The ids that skills have; CycloneDX takes no others than those of SPDX, so what is not here goes in as a name. */
const SPDX: readonly string[] = [
  '0BSD AFL-3.0 AGPL-3.0-only AGPL-3.0-or-later Apache-2.0 Artistic-2.0 BlueOak-1.0.0 BSD-2-Clause BSD-3-Clause',
  'BSL-1.0 CC-BY-4.0 CC-BY-NC-4.0 CC-BY-NC-SA-4.0 CC-BY-SA-4.0 CC0-1.0 ECL-2.0 EPL-2.0 EUPL-1.2 GPL-2.0-only',
  'GPL-2.0-or-later GPL-3.0-only GPL-3.0-or-later ISC LGPL-2.1-only LGPL-2.1-or-later LGPL-3.0-only LGPL-3.0-or-',
  'later MIT MIT-0 MPL-2.0 MulanPSL-2.0 OFL-1.1 PostgreSQL Unlicense WTFPL Zlib',
].flatMap((row) => row.split(' '));

function licenseOf(text: string): object {
  const id = SPDX.find((known) => known.toLowerCase() === text.toLowerCase());
  if (id !== undefined) return { license: { id } };
  const words = text.replaceAll(/[()]/g, ' ').trim().split(/\s+/);
  const isExpression =
    words.length % 2 === 1 &&
    words.length > 1 &&
    words.every((word, at) => (at % 2 === 1 ? /^(?:AND|OR)$/.test(word) : SPDX.includes(word)));
  return isExpression ? { expression: text } : { license: { name: text } };
}
