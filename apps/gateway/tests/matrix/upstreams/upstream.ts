import type { ModelRequest, Fields, ModelAnswer } from '../facts.ts';

/** The API of an upstream kind, as a server of it sees it. */
export interface UpstreamApi {
  /** Its registration, without the name and the address. */
  readonly registration: Fields;
  /** The models listing. */
  readonly listing: Fields;
  whole(said: ModelAnswer): Fields;
  /** The text of a stream. */
  stream(said: ModelAnswer): { readonly type: string; readonly text: string };
  /** What a request says. */
  read(body: Fields): ModelRequest;
  /** The body of an error. */
  error(status: number, message: string): Fields;
  /** What of a request this API can say, where that is not all. */
  gets?(asked: ModelRequest): ModelRequest;
  /** What of an answer this API can say, where that is not all. */
  says?(said: ModelAnswer): ModelAnswer;
}

/** Server-sent events of JSON. */
export const events = (
  datas: readonly (Fields | string)[],
): { readonly type: string; readonly text: string } => ({
  type: 'text/event-stream',
  text: datas
    .map((data) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`)
    .join(''),
});

/** A text in two pieces, as streams have it. */
export const pieces = (text: string): readonly string[] => [text.slice(0, 3), text.slice(3)];
