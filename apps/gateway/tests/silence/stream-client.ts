import type { GatewayUnderTest } from '../gateway.ts';

/** A stream as a client reads it. */
export interface ReadStream {
  readonly response: Response;
  /** Reads until the text of the answer so far is as the test says, and returns it; rejects when it never is. */
  until(isEnough: (text: string) => boolean): Promise<string>;
  /** The text of the whole answer, or what came of it. */
  rest(): Promise<string>;
  /** Whether the answer has ended, and its connection did not break. */
  isWhole(): boolean;
}

/** Sends a request and reads what comes as it comes. Resolves when the answer is open. */
export async function readStream(
  { url, key }: Pick<GatewayUnderTest, 'url' | 'key'>,
  path: string,
  body: object,
): Promise<ReadStream> {
  const response = await fetch(`${url}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', stream: true, ...body }),
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  let isWhole = false;
  const read = async (): Promise<boolean> => {
    // A connection that breaks ends the answer too.
    const part = await reader?.read().catch(() => undefined);
    text += part?.value ?? '';
    isWhole = part?.done === true;
    return part?.done === false;
  };
  return {
    response,
    async until(isEnough) {
      while (!isEnough(text)) {
        if (!(await read())) throw new Error(`${response.status}: ${text}`);
      }
      return text;
    },
    async rest() {
      while (await read());
      return text;
    },
    isWhole: () => isWhole,
  };
}

/** How often a text is in another one. */
export const count = (text: string, part: string): number => text.split(part).length - 1;

/** The data of the events of a stream. */
export const dataOf = (text: string): readonly Readonly<Record<string, unknown>>[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)) as Record<string, unknown>);
