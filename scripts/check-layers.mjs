// Runs dependency-cruiser on the sources. Without a parser for TypeScript its graph would be empty and break no rule, so a graph
// that is too small is a failure too.
import { fileURLToPath, pathToFileURL } from 'node:url';
import { runCommand } from './run-command.mjs';

const MODULES_MIN = 60;

/** Checks the imports of the repository, or of a folder with the same structure. */
export async function checkLayers(cwd, modulesMin = MODULES_MIN) {
  const result = await runCommand(
    'node',
    [
      resolvePath('../node_modules/dependency-cruiser/bin/dependency-cruise.mjs'),
      '--config',
      resolvePath('../.dependency-cruiser.mjs'),
      '--output-type',
      'json',
      'apps',
      'packages',
    ],
    cwd === undefined ? {} : { cwd },
  );
  const summary = readSummary(result.output);
  if (summary === undefined) return { ...result, ok: false };
  const problems = summary.violations.map(
    ({ rule, from, to, cycle }) =>
      `${rule.name}: ${from} → ${cycle === undefined ? to : cycle.map(({ name }) => name).join(' → ')}`,
  );
  if (summary.totalCruised < modulesMin) {
    problems.push(
      `only ${summary.totalCruised} modules were found, at least ${modulesMin} were expected`,
    );
  }
  return { ...result, ok: problems.length === 0, output: problems.join('\n') };
}

function readSummary(output) {
  try {
    return JSON.parse(output).summary;
  } catch {
    return undefined;
  }
}

function resolvePath(path) {
  return fileURLToPath(new URL(path, import.meta.url));
}

// `node check-layers.mjs [folder] [least number of modules]`
if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [folder, modulesMin] = process.argv.slice(2);
  const { ok, output } = await checkLayers(
    folder,
    modulesMin === undefined ? undefined : Number(modulesMin),
  );
  process.stdout.write(`${output}\n`);
  process.exitCode = ok ? 0 : 1;
}
