import type { ModelRequest, Fields, Result, ModelAnswer } from '../facts.ts';

/** An API that clients speak, as a client of it sees it. */
export interface MatrixClient {
  readonly path: string;
  /** The body of a request. */
  write(asked: ModelRequest): Fields;
  /** The next request: after an answer with calls, their results. */
  continued(body: Fields, answer: Fields, results: readonly Result[]): Fields;
  /** The whole answer out of the data of a stream's events. */
  joined(events: readonly Fields[]): Fields;
  read(answer: Fields): ModelAnswer;
  readError(body: Fields): { readonly type: unknown; readonly message: unknown };
  /** What of an answer this API can say. */
  hears(said: ModelAnswer): ModelAnswer;
}
