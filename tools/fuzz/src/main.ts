import { fuzz } from './run/fuzz.ts';
import { readOptions, USAGE, type Options } from './run/options.ts';
import { startBrowserMcpProcess, startBrowserProcess } from './scenes/browser-process.ts';
import { startStandaloneProcess } from './scenes/standalone-process.ts';
import type { AnyScene } from './target.ts';

const print = (line: string): void => void process.stdout.write(`${line}\n`);

function optionsOrExit(): Options {
  try {
    const options = readOptions(process.argv.slice(2));
    if (!options.help) return options;
    print(USAGE);
    return process.exit(0);
  } catch (error) {
    process.stderr.write(`${String(error)}\n\n${USAGE}`);
    return process.exit(2);
  }
}

const START = {
  service: startStandaloneProcess,
  browser: startBrowserProcess,
  'browser-mcp': startBrowserMcpProcess,
};

const options = optionsOrExit();
print(`seed ${options.seed}`);
const scenes = new Map<AnyScene['kind'], Promise<AnyScene>>();
const sceneOf = (kind: AnyScene['kind']): Promise<AnyScene> => {
  const scene = scenes.get(kind) ?? START[kind]();
  scenes.set(kind, scene);
  return scene;
};
try {
  const findings = await fuzz({ options, sceneOf, print });
  process.exitCode = findings === 0 ? 0 : 1;
} finally {
  for (const scene of scenes.values()) await (await scene).close();
}
