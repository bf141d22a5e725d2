export default {
  build: { ssr: 'main.mjs', outDir: 'out', target: 'node20.19' },
  ssr: { noExternal: true },
};
