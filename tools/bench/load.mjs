// Runs the load generator and reads its results.
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pinned } from './cores.mjs';

/** The text of an HTTP/1.1 request. */
export function httpRequest({ method = 'POST', path, headers = {}, body }) {
  const text = body === undefined ? '' : JSON.stringify(body);
  const lines = Object.entries({
    host: '127.0.0.1',
    ...(body === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`;
}

/** Creates the two kinds of load; `running` contains the processes that must end with this one. */
export function createLoad({ program, folder, signal }) {
  let files = 0;

  async function run(kind, { ports, request, cores, ...numbers }) {
    const file = join(folder, `request-${(files += 1)}`);
    await writeFile(file, httpRequest(request));
    const flags = Object.entries(numbers).flatMap(([name, value]) => [
      `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
      String(value),
    ]);
    const command = [program, kind, '--ports', ports.join(','), '--request', file, ...flags];
    return JSON.parse(await outputOf(pinned(cores, command), signal));
  }

  return {
    /** Closed loop over kept-alive connections. */
    requests: (options) => run('requests', options),
    /** Many streams at once. */
    streams: (options) => run('streams', options),
  };
}

function outputOf([program, ...args], signal) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], signal });
    let output = '';
    let trouble = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (trouble += chunk));
    child.once('error', reject);
    child.once('close', (status) => {
      if (status === 0) resolve(output);
      else reject(new Error(`the load generator failed: ${trouble.trim() || status}`));
    });
  });
}
