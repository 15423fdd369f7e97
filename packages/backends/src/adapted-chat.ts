import type { UpstreamChat } from '@model-gateway/contracts';

/** A chat in a form that a model takes. */
export interface AdaptedChat {
  readonly body: UpstreamChat;
  /** What it says otherwise than the client, or not at all. */
  readonly ignored: readonly string[];
}
