import type { CustomFetch } from 'openid-client';

/** The provider did not answer, or reported a failure of its own. */
export class ProviderUnavailable extends Error {
  override readonly name = 'ProviderUnavailable';
}

const ANSWER_BYTES_MAX = 1024 * 1024;
const SERVER_ERROR = 500;

/** A fetch that tells an unavailable provider from one that refuses, and reads answers up to a limit. */
export const createProviderFetch = (): CustomFetch => async (url, options) => {
  const response = await fetch(url, options as RequestInit).catch((error: unknown) => {
    throw new ProviderUnavailable(`${new URL(url).origin} cannot be reached`, { cause: error });
  });
  const { status, headers } = response;
  const body = await readBounded(response);
  if (status >= SERVER_ERROR) {
    throw new ProviderUnavailable(`${new URL(url).origin} answered with status ${status}`);
  }
  return new Response(mayHaveBody(status) ? body : null, { status, headers });
};

/** A Response with one of these statuses cannot be built with a body. */
const mayHaveBody = (status: number): boolean => ![204, 205, 304].includes(status);

async function readBounded(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    const body: AsyncIterable<Uint8Array> | null = response.body;
    if (body === null) return new Uint8Array();
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > ANSWER_BYTES_MAX) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw new ProviderUnavailable('the answer of the provider broke off', { cause: error });
  }
  if (bytes > ANSWER_BYTES_MAX) throw new ProviderUnavailable('the answer is too large');
  return new Uint8Array(Buffer.concat(chunks));
}
