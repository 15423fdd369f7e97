/** What arrived of an answer. */
export interface ReadStream {
  readonly text: string;
  /** Whether its connection broke before its end. */
  readonly isCut: boolean;
}

/** Reads an answer to its end, or as far as it came. */
export async function readStream({ body }: Pick<Response, 'body'>): Promise<ReadStream> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    const parts: AsyncIterable<Uint8Array> | undefined = body ?? undefined;
    if (parts !== undefined)
      for await (const part of parts) text += decoder.decode(part, { stream: true });
    return { text, isCut: false };
  } catch {
    return { text, isCut: true };
  }
}
