import { present } from '../matrix/facts.ts';
import type { ClientName } from '../matrix/features.ts';
import type { ExpectedAnswer, ExpectedError, Fixture } from './fixture.ts';
import { CLIENTS } from './observe.ts';

/** What a client of an API can rely on, for `toMatchObject`. */
export function expectedBy(
  client: ClientName,
  { status, answer, error }: Fixture,
  isStream: boolean,
): object {
  if (answer !== undefined) return wholeAnswer(client, answer, isStream);
  if (error === undefined) throw new Error('neither an answer nor an error');
  if (error.after !== undefined) return cutAnswer(client, error.after, error);
  return refusal(client, { ...error, status: error.status ?? status });
}

const anyText: unknown = expect.stringMatching(/./);
const anyCount: unknown = expect.any(Number);

function wholeAnswer(client: ClientName, expected: ExpectedAnswer, isStream: boolean): object {
  const { model, text, thought, calls, onChat, usage } = expected;
  const own = client === 'chat' ? onChat : {};
  const heard = CLIENTS[client].hears(
    present({ text, finish: expected.finish, usage: { prompt: 0, completion: 0 } }),
  );
  const billed = usage === 'estimated' ? ESTIMATED : usage;
  return {
    status: 200,
    attempts: 1,
    isCut: false,
    hasEndMark: isStream && client !== 'messages',
    model,
    answer: {
      text: heard.text,
      thought,
      calls: calls?.map(({ id = anyText, ...call }) => ({ id, ...call })),
      finish: own.finish ?? heard.finish,
      usage: own.usage ?? billed,
    },
    errorEvents: 0,
    official: { text: text ?? '', calls: calls?.map(({ name }) => name) ?? [] },
    billed: { status: 200, prompt: billed.prompt, completion: billed.completion },
  };
}

const ESTIMATED = { prompt: anyCount, completion: anyCount, cached: 0, reasoning: 0 };

const containing = (text: string): unknown => expect.stringContaining(text);

/** Chat streams break off, so that no client takes them for whole; the others end with an event of their own. */
const cutAnswer = (client: ClientName, after: string, { message }: ExpectedError): object => ({
  status: 200,
  attempts: 1,
  isCut: client === 'chat',
  hasEndMark: false,
  answer: { text: after },
  official: { message: containing(message) },
  billed: { status: 502 },
});

/** The statuses that tell clients of OpenAI a fault of their request. */
const PASSED = [400, 404, 408, 409, 413, 415, 422, 429];
const MESSAGES_TYPES: Readonly<Record<number, string>> = {
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  529: 'overloaded_error',
};

/** The status that clients get for a status of an upstream. */
export function statusFor(client: ClientName, status: number): number {
  if (PASSED.includes(status)) return status;
  if (client !== 'messages') return 502;
  return status === 503 || status === 529 ? 529 : 500;
}

function refusal(
  client: ClientName,
  expected: ExpectedError & { readonly status: number },
): object {
  const { message, code, type, param, retryAfter } = expected;
  const status = statusFor(client, expected.status);
  const isPassed = PASSED.includes(status);
  const fields = {
    chat: isPassed ? present({ code, type, param }) : {},
    responses: isPassed ? present({ code, param }) : {},
    messages: { type: MESSAGES_TYPES[status] ?? 'invalid_request_error' },
  };
  return {
    status,
    attempts: 1,
    ...(retryAfter === undefined ? {} : { retryAfter: String(retryAfter) }),
    error: { message: containing(message), ...fields[client] },
    official: { status, message: containing(message) },
  };
}

/** What clients get that show nothing of themselves: the specification to the letter. */
export const specified = ({ message }: ExpectedError): object => ({
  status: 502,
  error: { message: containing(message), type: 'server_error' },
});
