/** Tree digests of the skills in skills/. A test compares them; `npm run docs` writes them. */
export const BUILT_IN_DIGESTS: ReadonlySet<string> = new Set([
  'sha256-tree:ddd1d55043ea7c1378619c37b0c0c59044312e7b09452066e2a77648d77a9de2',
  'sha256-tree:867bb0ced9b76399f160c9b4cc4678d3c2136f7a0a518396e793e427e145831d',
  'sha256-tree:711b7f555d8352914f3778b4fa7a8844377f70a3ca7d52bb510213ec9bd450a1',
]);
