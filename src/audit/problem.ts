/** What is wrong, and where: a file of the folder, with the line where it is one. */
export interface RunProblem {
  readonly code:
    | 'folder/not-a-run'
    | 'folder/newer'
    | 'run/missing'
    | 'run/edited'
    | 'journal/missing'
    | 'journal/cut'
    | 'journal/added'
    | 'line/unreadable'
    | 'line/edited'
    | 'line/order'
    | 'file/missing'
    | 'file/edited'
    | 'file/added'
    | 'seal/wrong';
  readonly path: string;
  readonly line?: number;
  readonly message: string;
}
