import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { waitUntil } from '@model-gateway/testkit';

interface SessionOptions {
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** One shell that runs one block after the other. */
export interface ShellSession {
  /** Runs a block and returns its output; rejects when a command fails. */
  run(text: string): Promise<string>;
  /** Ends the shell and everything that was started in it. */
  close(): Promise<void>;
}

const BLOCK_TIMEOUT_MS = 180_000;
// An unset variable, a failed command and a failure within a pipe are failures of the document.
const STRICT = 'set -euo pipefail\n';

export function openShellSession({ folder, environment }: SessionOptions): ShellSession {
  const shell = spawn('bash', ['--noprofile', '--norc'], {
    cwd: folder,
    env: environment,
    // A separate process group, so that everything that a block started ends with it.
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let printedText = '';
  let count = 0;
  let hasEnded = false;
  const ended = once(shell, 'exit').then(() => {
    hasEnded = true;
  });
  shell.stdout.on('data', (chunk: Buffer) => {
    printedText += chunk.toString();
  });
  shell.stdin.on('error', () => undefined);
  shell.stdin.write(STRICT);

  async function fileFor(text: string): Promise<{ script: string; output: string; name: string }> {
    count += 1;
    const name = `block-${count}`;
    const script = join(folder, `${name}.sh`);
    await writeFile(script, `${text}\n${assertAssigned(text)}`);
    return { script, output: join(folder, `${name}.out`), name };
  }

  return {
    async run(text) {
      const { script, output, name } = await fileFor(text);
      shell.stdin.write(`source '${script}' >'${output}' 2>&1 </dev/null\necho 'done ${name}'\n`);
      await waitUntil(() => hasEnded || printedText.includes(`done ${name}\n`), {
        timeoutMs: BLOCK_TIMEOUT_MS,
        what: `the end of:\n${text}\n`,
      });
      const printed = await readFile(output, 'utf8').catch(() => '');
      if (!printedText.includes(`done ${name}\n`)) {
        throw new Error(`a command failed in:\n${text}\n\nit printed:\n${printed}`);
      }
      return printed;
    },
    async close() {
      if (shell.pid !== undefined) endGroup(shell.pid);
      await ended;
    },
  };
}

/** Checks that every variable that a block assigns is not empty. */
function assertAssigned(text: string): string {
  const names = [...text.matchAll(/^([A-Z][A-Z0-9_]*)=(?:\$\(|\S+$)/gm)].map(([, name]) => name);
  return [...new Set(names)]
    .map((name) => `: "\${${name}:?was not found in the response}"\n`)
    .join('');
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has already exited.
  }
}
