import { open, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { isExecutable } from '@model-gateway/kernel';

const SCRIPT_BYTES_MAX = 256 * 1024;
const HOPS_MAX = 5;
const ASSIGNMENT = /^\s*(?:export\s+|readonly\s+)?([A-Za-z_]\w*)=(.*)$/;
const EXECUTION =
  /^\s*exec\s+(?:-a\s+(?:"[^"]*"|\S+)\s+)?(?:--\s+)?("(?:[^"\\]|\\.)*"|'[^']*'|[^\s;|&]+)/;

/**
 * The binary that a launcher starts: distributions start a browser through a shell script. The script is read, never run; its last
 * `exec` of an existing file counts.
 */
export async function followShellWrapper(path: string): Promise<string> {
  let current = await realpath(path);
  for (let hop = 0; hop < HOPS_MAX; hop += 1) {
    const script = await readScript(current);
    const target = script === undefined ? undefined : await findTarget(script, current);
    if (target === undefined) return current;
    current = target;
  }
  return current;
}

async function readScript(path: string): Promise<string | undefined> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(
      Buffer.alloc(SCRIPT_BYTES_MAX),
      0,
      SCRIPT_BYTES_MAX,
      0,
    );
    const isScript = bytesRead > 2 && buffer.toString('latin1', 0, 2) === '#!';
    return isScript ? buffer.toString('utf8', 0, bytesRead) : undefined;
  } finally {
    await file.close();
  }
}

async function findTarget(script: string, path: string): Promise<string | undefined> {
  const variables = new Map([['0', path]]);
  const targets: string[] = [];
  for (const line of script.split('\n')) {
    const [, name, value] = ASSIGNMENT.exec(line) ?? [];
    if (name !== undefined && value !== undefined && !variables.has(name)) {
      variables.set(name, valueOf(value, path, variables));
    }
    const [, program] = EXECUTION.exec(line) ?? [];
    if (program !== undefined) targets.push(expand(unquote(program), variables));
  }
  for (const target of targets.toReversed()) {
    const found = await realpath(
      isAbsolute(target) ? target : resolve(dirname(path), target),
    ).catch(() => undefined);
    if (found !== undefined && found !== path && (await isExecutable(found))) return found;
  }
  return undefined;
}

/** Supports what launchers use: a literal, other variables, and the folder of the script. */
function valueOf(text: string, path: string, variables: ReadonlyMap<string, string>): string {
  if (/(`|\$\().*\bdirname\b/.test(text)) return join(dirname(path), suffixAfterCommand(text));
  if (/(`|\$\().*\breadlink\b/.test(text)) return path;
  return expand(unquote(text.replace(/\s+#.*$/, '').trim()), variables);
}

/** The text after the command in `"$(dirname "$0")/../lib"`. */
function suffixAfterCommand(text: string): string {
  return /[`)]\s*"?(\/[^"`)]*)"?\s*$/.exec(text)?.[1] ?? '';
}

function unquote(text: string): string {
  return /^(["']).*\1$/s.test(text) ? text.slice(1, -1) : text;
}

function expand(text: string, variables: ReadonlyMap<string, string>): string {
  return text.replaceAll(
    /\$(?:\{(\w+)\}|(\w+))/g,
    (_, braced: string | undefined, bare: string | undefined) =>
      variables.get(braced ?? bare ?? '') ?? '',
  );
}
