/** One measured figure. */
export interface BenchRow {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly bound?: string;
  readonly ok?: boolean;
  readonly note?: string;
}
