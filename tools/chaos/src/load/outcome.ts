/** What a client does. */
export type LoadKind =
  | 'chat'
  | 'stream'
  | 'node-chat'
  | 'node-stream'
  | 'embeddings'
  | 'rpc-chat'
  | 'rpc-call'
  | 'points'
  | 'video';

/**
 * How a request ended for its client: `complete`, `cut` after its answer began, `refused` with a status of the service,
 * `unavailable` when the front had no answer for it, or `failed` without any answer.
 */
export type OutcomeName = 'complete' | 'cut' | 'refused' | 'unavailable' | 'failed';

/** What a client saw. */
export interface Outcome {
  readonly name: OutcomeName;
  readonly detail?: string;
  /** The tokens that the answer reported, if it did. */
  readonly tokens?: { readonly prompt: number; readonly completion: number };
  /** The id of an accepted video job. */
  readonly jobId?: string;
}

/** How long one call took: a kind of the load, or a method of the management plane. */
export interface Call {
  readonly name: string;
  readonly ms: number;
}

/** One request of the load. */
export interface Sent {
  readonly ref: string;
  readonly kind: LoadKind;
  readonly ms: number;
  /** The calls that it consisted of. */
  readonly calls: readonly Call[];
  readonly outcome: Outcome;
}
