import { tryParseJson } from '@model-gateway/kernel';

/** The fields of a JSON error, as the upstream sent them. */
export interface ErrorAnswer {
  readonly message?: string;
  readonly type?: string;
  readonly code?: string;
  readonly param?: string;
}

const CHARS_READ = 64 * 1024;

/** Reads a JSON error in the forms that upstreams use. A body that is no JSON error has no fields. */
export function readUpstreamError(body: string): ErrorAnswer {
  // An error instead of an answer can be as long as one.
  const read = body.length > CHARS_READ ? body.slice(0, CHARS_READ) : body;
  const answer = tryParseJson(read);
  if (answer === undefined) return textField('message', messageOfCut(read));
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
  ];
  return {
    ...textField(
      'message',
      messages.find((message) => typeof message === 'string'),
    ),
    ...textField('type', property(fields, 'type')),
    ...textField('code', property(fields, 'code') ?? property(base, 'status_code')),
    ...textField('param', property(fields, 'param')),
  };
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
