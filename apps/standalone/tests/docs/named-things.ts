import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What the commands of a document may refer to. */
export interface NamedThings {
  /** The scripts, packages, paths and options in some commands that do not exist. */
  missingIn(commands: string): readonly string[];
}

const FOLDERS = ['apps', 'docs', 'infra', 'packages', 'prisma', 'scripts', 'tools'];
// Commands of pnpm and npm that need no script.
const OWN_COMMANDS = ['add', 'deploy', 'dlx', 'exec', 'i', 'install', 'npx', 'run'];
/** Programs of this repository, by a word of the command line, and where their options are declared. */
const PROGRAMS: Readonly<Record<string, string>> = {
  'gpu-agent': 'apps/gpu-agent/src',
  'browser-tool': 'apps/browser-tool/src',
  'bench start': 'tools/bench/src',
};
interface Manifest {
  readonly name: string;
  readonly scripts?: Readonly<Record<string, string>>;
}

export function readNamedThings(root: string): NamedThings {
  const read = (path: string) =>
    JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8')) as Manifest;
  const homes = ['apps', 'packages', 'tools'].flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => `${folder}/${name}`),
  );
  const manifests = homes
    .filter((home) => existsSync(join(root, home, 'package.json')))
    .map((home) => read(home));
  const packages = new Map(manifests.map(({ name, scripts = {} }) => [name, scripts]));
  const { scripts = {} } = read('.');

  function missingScript(command: string): readonly string[] {
    const [, filtered, script = ''] =
      /\b(?:pnpm|npm)(?: -s| --silent)?(?: --filter[ =](\S+))?(?: run)? ([a-z][\w:-]*)/.exec(
        command,
      ) ?? [];
    if (script === '' || OWN_COMMANDS.includes(script)) return [];
    const among = filtered === undefined ? scripts : packages.get(filtered.replace(/\.\.\.$/, ''));
    if (among === undefined) return [`the package ${filtered}`];
    return script in among ? [] : [`the script ${script} of ${filtered ?? 'the workspace'}`];
  }

  function missingPaths(command: string): readonly string[] {
    const pattern = new RegExp(`(?<![\\w./@-])(?:${FOLDERS.join('|')})/[\\w./-]*[\\w]`, 'g');
    return [...command.matchAll(pattern)]
      .filter(({ 0: path, index }) => {
        // A file that the command writes does not exist yet; its folder does.
        const isWritten = /(> *|make-env\.mjs )$/.test(command.slice(0, index));
        return !existsSync(join(root, isWritten ? dirname(path) : path));
      })
      .map(([path]) => path);
  }

  function missingOptions(command: string): readonly string[] {
    const program = Object.keys(PROGRAMS).find((name) => command.includes(name));
    const folder = program === undefined ? undefined : PROGRAMS[program];
    // The options before the name of the program belong to the command that starts it.
    if (program === undefined || folder === undefined || /\bdeploy\b/.test(command)) return [];
    const own = command.slice(command.indexOf(program));
    const declared = textOf(join(root, folder));
    return [...own.matchAll(/(?<= )--([a-z][a-z-]*)/g)].flatMap(([, name = '']) =>
      name === 'help' || declared.includes(name) ? [] : [`--${name} of ${program}`],
    );
  }

  return {
    missingIn: (commands) =>
      linesOf(commands).flatMap((command) => [
        ...missingScript(command),
        ...missingPaths(command),
        ...missingOptions(command),
      ]),
  };
}

/** The commands of a block, one per line and without comments. */
function linesOf(commands: string): readonly string[] {
  return commands
    .replaceAll('\\\n', ' ')
    .split(/\n|&&|;/)
    .map((line) => line.replace(/(^|\s)#.*$/, '').trim())
    .filter((line) => line !== '');
}

const texts = new Map<string, string>();

/** The text of all sources below a folder. */
function textOf(folder: string): string {
  const known = texts.get(folder);
  if (known !== undefined) return known;
  const text = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(ts|mjs)$/.test(path))
    .map((path) => readFileSync(join(folder, path), 'utf8'))
    .join('\n');
  texts.set(folder, text);
  return text;
}
