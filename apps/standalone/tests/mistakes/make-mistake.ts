import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import Anthropic, { APIError as AnthropicError } from '@anthropic-ai/sdk';
import OpenAI, { APIError as OpenAiError } from 'openai';
import type { ClientMistake, CommandMistake, CurlMistake, KeyName, Mistake } from './mistake.ts';

const CLI = join(import.meta.dirname, '..', '..', '..', 'cli', 'dist', 'main.js');
const MESSAGES = [{ role: 'user' as const, content: 'Hi' }];
const MODEL = 'mock';
const TOKENS_MAX = 10;

/** Where mistakes are made. */
export interface Place {
  readonly url: string;
  readonly keys: Readonly<Record<KeyName, string>>;
  readonly dataDir: string;
}

/** What came of a mistake. */
interface Result {
  readonly status: number | null | undefined;
  readonly message: string;
  /** How many requests were sent. */
  readonly requests: number;
}

export function makeMistake(mistake: Mistake, place: Place): Promise<Result> {
  if (mistake.by === 'curl') return sendTimes(mistake, place);
  return mistake.by === 'gateway' ? runCommand(mistake, place) : callWithClient(mistake, place);
}

async function sendTimes(mistake: CurlMistake, place: Place): Promise<Result> {
  for (let sent = 1; sent < (mistake.times ?? 1); sent += 1) await sendLikeCurl(mistake, place);
  return sendLikeCurl(mistake, place);
}

export async function sendLikeCurl(
  {
    method = 'POST',
    path = '/v1/chat/completions',
    key = 'good',
    headers,
    body,
  }: Omit<CurlMistake, 'by' | 'mistake' | 'status' | 'says'>,
  { url, keys }: Place,
): Promise<Result> {
  const bearer = key === 'none' ? {} : { authorization: `Bearer ${keys[key]}` };
  const chat = { model: MODEL, messages: MESSAGES };
  const sent = typeof body === 'string' ? body : JSON.stringify({ ...chat, ...body });
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      'user-agent': 'curl/8.5.0',
      accept: '*/*',
      'content-type': 'application/json',
      ...(headers ?? bearer),
    },
    ...(method === 'GET' ? {} : { body: sent }),
  });
  return { status: response.status, message: await response.text(), requests: 1 };
}

async function callWithClient(mistake: ClientMistake, { url, keys }: Place): Promise<Result> {
  const { by, base, key = 'good', model = MODEL, maxRetries } = mistake;
  let requests = 0;
  const options = {
    apiKey: keys[key],
    baseURL: `${url}${base ?? (by === 'openai' ? '/v1' : '')}`,
    fetch: (input: string | URL | Request, init?: RequestInit) => {
      requests += 1;
      return fetch(input, init);
    },
    ...(maxRetries === undefined ? {} : { maxRetries }),
  };
  const request = { model, messages: MESSAGES, max_tokens: TOKENS_MAX };
  const answer: Promise<unknown> =
    by === 'openai'
      ? new OpenAI(options).chat.completions.create(request)
      : new Anthropic(options).messages.create(request);
  const error: unknown = await answer.then(
    () => new Error('it worked'),
    (problem: unknown) => problem,
  );
  const isKnown = error instanceof OpenAiError || error instanceof AnthropicError;
  const status = isKnown ? (error.status as number | undefined) : undefined;
  return { status, message: error instanceof Error ? error.message : String(error), requests };
}

export async function runCommand(
  {
    command,
    as = 'admin',
    stdin = '',
    env,
  }: Omit<CommandMistake, 'by' | 'mistake' | 'status' | 'says'>,
  { url, dataDir }: Place,
): Promise<Result> {
  const home = join(dataDir, 'homes', as);
  await mkdir(home, { recursive: true });
  const child = spawn(process.execPath, [CLI, ...command], {
    cwd: home,
    env: {
      HOME: home,
      GATEWAY_URL: url,
      ...(as === 'admin' ? { SERVICE_DATA_DIR: dataDir } : {}),
      ...env,
    },
  });
  let message = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (message += chunk.toString()));
  child.stdin.end(stdin);
  const [status] = (await once(child, 'close')) as [number | null];
  return { status, message, requests: 1 };
}
