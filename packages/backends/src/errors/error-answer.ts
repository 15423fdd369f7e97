import { tryParseJson } from '@model-gateway/kernel';

/** The fields of a JSON error, as the upstream sent them. */
export interface ErrorAnswer {
  readonly message?: string;
  readonly type?: string;
  readonly code?: string;
  readonly param?: string;
}

const CHARS_READ = 64 * 1024;

const LINE_CHARS_MAX = 300;
/** How many of the reasons of a list are told. */
const REASONS_MAX = 3;

/** Reads an error in the forms that upstreams use. Of plain text the first line is the message; a page has none. */
export function readUpstreamError(body: string): ErrorAnswer {
  // An error instead of an answer can be as long as one.
  const read = body.length > CHARS_READ ? body.slice(0, CHARS_READ) : body;
  const answer = tryParseJson(read);
  if (answer === undefined) return textField('message', messageOfCut(read) ?? firstLine(read));
  // Gemini puts its errors into a list.
  const parsed: unknown = Array.isArray(answer) ? answer[0] : answer;
  const error = property(parsed, 'error');
  const base = property(parsed, 'base_resp');
  // Some upstreams put the fields beside each other, without an object for the error.
  const fields = error ?? parsed;
  const messages = [
    error,
    property(fields, 'message'),
    property(parsed, 'detail'),
    property(base, 'status_msg'),
    reasonsOf(property(parsed, 'detail')),
    reasonsOf(property(fields, 'errors') ?? property(parsed, 'errors')),
    property(parsed, 'message'),
  ];
  const message = messages.find((one) => typeof one === 'string' && one !== '');
  return {
    ...textField('message', withReason(message, property(property(error, 'metadata'), 'raw'))),
    ...textField('type', property(fields, 'type')),
    ...textField('code', property(fields, 'code') ?? property(base, 'status_code')),
    ...textField('param', property(fields, 'param')),
  };
}

/** A router of other providers, such as OpenRouter, says what a provider answered beside a message of its own. */
function withReason(message: unknown, raw: unknown): unknown {
  if (typeof message !== 'string' || typeof raw !== 'string') return message;
  const { message: reason } = readUpstreamError(raw);
  return reason === undefined ? message : `${message}: ${reason}`;
}

/** The reasons of a list, or of a field with a list: texts, or objects with a text and the place of the problem. */
function reasonsOf(value: unknown): string | undefined {
  if (!Array.isArray(value)) return reasonOf(value);
  const reasons = value.slice(0, REASONS_MAX).flatMap((reason: unknown) => reasonOf(reason) ?? []);
  return reasons.length === 0 ? undefined : reasons.join('; ');
}

function reasonOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  const texts = [property(value, 'msg'), property(value, 'message'), property(value, 'detail')];
  const text = texts.find((candidate) => typeof candidate === 'string');
  const place = property(value, 'loc');
  if (text === undefined || !Array.isArray(place)) return text;
  return `${place.slice(0, REASONS_MAX * 2).join('.')}: ${text}`;
}

/** The first line of a plain text; undefined for pages and for JSON of which only the beginning was read. */
function firstLine(body: string): string | undefined {
  const line = body.trimStart().split(/[\r\n]/, 1)[0] ?? '';
  return /^[<{[]/.test(line) ? undefined : line.slice(0, LINE_CHARS_MAX);
}

/** Many upstreams send numbers as codes. */
function textField(name: keyof ErrorAnswer, value: unknown): ErrorAnswer {
  if (typeof value !== 'string' && typeof value !== 'number') return {};
  return value === '' ? {} : { [name]: String(value) };
}

const CUT_MESSAGE =
  /^\s*\[?\s*\{.*?"(?:message|error|detail|status_msg)"\s*:\s*"([^"\\]*(?:\\.[^"\\]*)*)/s;

/** The message of a JSON error of which only the beginning was read. */
function messageOfCut(body: string): string | undefined {
  const text = CUT_MESSAGE.exec(body)?.[1]?.replace(/\\u[0-9a-f]{0,3}$/i, '');
  const message = text === undefined ? undefined : tryParseJson(`"${text}"`);
  return typeof message === 'string' ? message : undefined;
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
