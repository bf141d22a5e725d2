/** The parts of SARIF 2.1.0 that all reports of this program share. */
export interface SarifReport {
  /** Version of this program. */
  readonly version: string;
  /** What the report covers. */
  readonly about?: string;
  readonly rules: readonly object[];
  readonly results: readonly object[];
}

export function sarifReport({ version, about, rules, results }: SarifReport): object {
  const described = about === undefined ? {} : { fullDescription: { text: about } };
  const driver = { name: 'skillwright', semanticVersion: version, ...described, rules };
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver }, columnKind: 'utf16CodeUnits', results }],
  };
}

/** The location of a finding; `artifact` names the file. */
export function sarifLocations(
  artifact: object,
  { line, column }: { readonly line: number; readonly column: number },
): readonly object[] {
  const region = { startLine: line, startColumn: column };
  return [{ physicalLocation: { artifactLocation: artifact, region } }];
}
