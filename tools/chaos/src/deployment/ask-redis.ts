import { connect } from 'node:net';

/** Sends commands in the form of lines and returns all replies as text; rejects if one of them is an error. */
export async function askRedis(url: string, commands: readonly string[]): Promise<string> {
  const { port, password } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  const lines = [`AUTH ${decodeURIComponent(password)}`, ...commands, 'QUIT'];
  socket.end(lines.map((line) => `${line}\r\n`).join(''));
  let text = '';
  for await (const part of socket.setEncoding('utf8')) text += String(part);
  const refusal = /^-.*$/m.exec(text)?.[0];
  if (refusal !== undefined) throw new Error(`Redis: ${refusal}`);
  return text;
}
