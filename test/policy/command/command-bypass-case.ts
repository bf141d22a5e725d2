export interface Attempt {
  readonly line: string;
  readonly policy: readonly string[];
  readonly why: string;
  /** Programs it takes to show that the attempt works. */
  readonly proof?: readonly string[];
}

type Row = readonly [line: string, why: string, proof?: string];

export function attempts(policy: readonly string[], rows: readonly Row[]): readonly Attempt[] {
  return rows.map(([line, why, proof]) => ({
    line,
    policy,
    why,
    ...(proof === undefined ? {} : { proof: proof.split(' ') }),
  }));
}
