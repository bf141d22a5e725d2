/** Tree digests of the skills in skills/. A test compares them; `npm run docs` writes them. */
export const BUILT_IN_DIGESTS: ReadonlySet<string> = new Set([
  'sha256-tree:d8962e0d622a78444533582db58102882f39e3d76acd2dc74176cf4f4c698064',
  'sha256-tree:867bb0ced9b76399f160c9b4cc4678d3c2136f7a0a518396e793e427e145831d',
  'sha256-tree:711b7f555d8352914f3778b4fa7a8844377f70a3ca7d52bb510213ec9bd450a1',
]);
