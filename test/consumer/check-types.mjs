/**
 * Compiles `doors.ts` of a folder with TypeScript 5.4 and prints what is wrong in it and in the declarations of skillwright. Those of other
 * packages are read but not checked, which takes a tenth of the time. Further module resolutions must find the same files for every
 * import, so that there is nothing else to check.
 */
import { createRequire } from 'node:module';
import path from 'node:path';

// An import would search its nine megabytes for exports first.
const ts = createRequire(import.meta.url)('typescript');

const [folder = '.', first, ...others] = process.argv.slice(2);

function optionsFor(resolution) {
  const { options, errors } = ts.convertCompilerOptionsFromJson(
    {
      module: resolution === 'bundler' ? 'esnext' : resolution,
      moduleResolution: resolution,
      target: 'es2022',
      lib: ['es2023'],
      types: ['node'],
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
    },
    folder,
  );
  if (errors.length > 0) throw new Error(errors.map(({ messageText }) => messageText).join('\n'));
  return options;
}

const options = optionsFor(first);
const program = ts.createProgram({ rootNames: [path.join(folder, 'doors.ts')], options });
const ours = program.getSourceFiles().filter(({ fileName }) => /\/doors\.ts$|\/skillwright\/dist\//.test(fileName));
const problems = [
  ...program.getOptionsDiagnostics(),
  ...program.getGlobalDiagnostics(),
  ...ours.flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]),
];
console.log(`${ts.version} ${first}: ${String(ours.length)} files, ${String(problems.length)} problems`);
const host = { getCurrentDirectory: () => folder, getCanonicalFileName: (name) => name, getNewLine: () => '\n' };
if (problems.length > 0) console.log(ts.formatDiagnostics(problems, host));

const imports = ours.flatMap(({ fileName, text }) =>
  ts.preProcessFile(text).importedFiles.map((found) => ({ from: fileName, to: found.fileName })),
);

/** The file of each import; the package is an ES module. */
function filesFor(resolution) {
  const settings = optionsFor(resolution);
  const cache = ts.createModuleResolutionCache(folder, (name) => name, settings);
  return imports.map(({ from, to }) => {
    const found = ts.resolveModuleName(to, from, settings, ts.sys, cache, undefined, ts.ModuleKind.ESNext);
    return `${to} in ${from}: ${found.resolvedModule?.resolvedFileName ?? 'declared by another file'}`;
  });
}

const known = new Set(filesFor(first));
for (const resolution of others) {
  const different = filesFor(resolution).filter((line) => !known.has(line));
  console.log(`${ts.version} ${resolution}: ${String(imports.length)} imports, ${String(different.length)} differ`);
  if (different.length > 0) console.log(different.join('\n'));
}
