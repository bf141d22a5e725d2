/**
 * Compiles `doors.ts` of a folder with TypeScript 5.4 for each module resolution and prints what is wrong in it and, for the first one, in
 * the declarations of skillwright. The others must find the same declarations. Those of other packages are read but not checked, which
 * takes a tenth of the time.
 */
import { createRequire } from 'node:module';
import path from 'node:path';

// An import would search its nine megabytes for exports first.
const ts = createRequire(import.meta.url)('typescript');

const [folder = '.', ...resolutions] = process.argv.slice(2);
/** Files that two module resolutions read alike. */
const parsed = new Map();
let firstNames;
for (const resolution of resolutions) {
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
  const compiler = ts.createCompilerHost(options);
  const parse = compiler.getSourceFile.bind(compiler);
  compiler.getSourceFile = (file, settings, ...rest) => {
    const key = `${settings.impliedNodeFormat} ${file}`;
    if (!parsed.has(key)) parsed.set(key, parse(file, settings, ...rest));
    return parsed.get(key);
  };
  const program = ts.createProgram({ rootNames: [path.join(folder, 'doors.ts')], options, host: compiler });
  const ours = program.getSourceFiles().filter(({ fileName }) => /\/doors\.ts$|\/skillwright\/dist\//.test(fileName));
  const names = ours.map(({ fileName }) => fileName).toSorted();
  firstNames ??= names;
  if (names.join() !== firstNames.join()) console.log(`other declarations than ${resolutions[0]}: ${names.join(' ')}`);
  const checked = names === firstNames ? ours : ours.filter(({ fileName }) => fileName.endsWith('/doors.ts'));
  const problems = [
    ...errors,
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...checked.flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]),
  ];
  const host = { getCurrentDirectory: () => folder, getCanonicalFileName: (name) => name, getNewLine: () => '\n' };
  console.log(`${ts.version} ${resolution}: ${String(ours.length)} files, ${String(problems.length)} problems`);
  if (problems.length > 0) console.log(ts.formatDiagnostics(problems, host));
}
