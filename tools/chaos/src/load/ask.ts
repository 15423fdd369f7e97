import type { Outcome } from './outcome.ts';

/** An HTTP request of a client. */
export interface Question {
  readonly url: string;
  readonly bearer: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; a request without one is a GET. */
  readonly body?: object;
}

interface Answer {
  readonly outcome: Outcome;
  readonly text: string;
}

/** Longer than any fault. */
const CLIENT_TIMEOUT_MS = 120_000;

/** Sends a request once and reads all of its answer; never rejects. */
export async function ask({ url, bearer, headers, body }: Question): Promise<Answer> {
  let text = '';
  let hasBegun = false;
  try {
    const response = await fetch(url, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${bearer}`,
        'content-type': 'application/json',
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(CLIENT_TIMEOUT_MS),
    });
    hasBegun = response.status === 200;
    for await (const part of partsOf(response)) text += part;
    if (response.headers.has('x-front'))
      return { text, outcome: { name: 'unavailable', detail: String(response.status) } };
    if (response.status >= 300)
      return { text, outcome: { name: 'refused', detail: `${response.status} ${codeOf(text)}` } };
    return { text, outcome: { name: 'complete' } };
  } catch (error) {
    const detail = error instanceof Error ? error.name : 'unknown';
    return { text, outcome: { name: hasBegun ? 'cut' : 'failed', detail } };
  }
}

/** The error code of an answer, for the report. */
function codeOf(text: string): string {
  return /"code":\s*"?([\w-]+)/.exec(text)?.[1] ?? '';
}

/** The parts of an answer as they arrive. */
export async function* partsOf({ body }: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const parts: AsyncIterable<Uint8Array> | undefined = body ?? undefined;
  if (parts === undefined) return;
  for await (const part of parts) yield decoder.decode(part, { stream: true });
}
