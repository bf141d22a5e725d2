/** The parts of SARIF 2.1.0 that all reports of this program share. */
interface SarifReport {
  /** Version of this program. */
  readonly version: string;
  /** What the report covers. */
  readonly about?: string;
  readonly rules: readonly object[];
  readonly results: readonly SarifResult[];
}

interface SarifResult {
  /** The file of the finding, and its position in it. */
  readonly artifact: object;
  readonly line: number;
  readonly column: number;
  /** Its other fields. */
  readonly about: object;
}

export function sarifReport({ version, about, rules, results }: SarifReport): object {
  const described = about === undefined ? {} : { fullDescription: { text: about } };
  const driver = { name: 'skillwright', semanticVersion: version, ...described, rules };
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver }, columnKind: 'utf16CodeUnits', results: results.map(toResult) }],
  };
}

function toResult({ artifact, line, column, about }: SarifResult): object {
  const region = { startLine: line, startColumn: column };
  return { ...about, locations: [{ physicalLocation: { artifactLocation: artifact, region } }] };
}
