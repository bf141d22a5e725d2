import path from 'node:path';

export default {
  mode: 'production',
  target: 'node20.19',
  entry: './main.mjs',
  output: { path: path.resolve('out'), filename: 'main.cjs' },
};
