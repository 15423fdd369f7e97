import { createInterface } from 'node:readline';
import { Writable, type Readable } from 'node:stream';
import { CliError } from './cli-error.ts';

/** Where the user is: what they type, and where to print. */
export interface Terminal {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean };
}

const STDIN_CHARS_MAX = 8 * 1024 * 1024;

/** Asks on standard error, so that standard output stays clean. Without echo for secrets. */
export function ask(terminal: Terminal, question: string, isSecret = false): Promise<string> {
  const { stdin, stderr } = terminal;
  // Readline echoes to its output; a secret is echoed to nothing.
  const output = isSecret ? new Writable({ write: (_chunk, _encoding, done) => done() }) : stderr;
  const reader = createInterface({ input: stdin, output, terminal: true });
  if (isSecret) stderr.write(question);
  return new Promise<string>((resolve, reject) => {
    reader.once('SIGINT', () => reject(new CliError('interrupted', 'interrupted')));
    reader.once('close', () => reject(new CliError('interrupted', 'nothing was entered')));
    reader.question(isSecret ? '' : question, resolve);
  }).finally(() => {
    reader.close();
    if (isSecret) stderr.write('\n');
  });
}

/** Everything that is piped into the command. */
export async function readStdin({ stdin }: Terminal): Promise<string> {
  let text = '';
  for await (const chunk of stdin.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length > STDIN_CHARS_MAX) {
      throw new CliError('usage', `standard input has more than ${STDIN_CHARS_MAX} characters`);
    }
  }
  return text;
}

/** A secret that is piped into the command: one line. */
export async function readSecret(terminal: Terminal, what: string): Promise<string> {
  const secret = (await readStdin(terminal)).trim();
  if (secret !== '') return secret;
  throw new CliError(
    'usage',
    `standard input has no ${what}`,
    `Pipe it into the command, for example from a file: … < ${what.replaceAll(' ', '-')}.txt`,
  );
}
