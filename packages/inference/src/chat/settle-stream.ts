import type { TokenUsage } from '@model-gateway/contracts';
import type { BackendKind } from '@model-gateway/router';
import type { ChatDependencies } from './chat-turn.ts';
import { boundedUsage } from '../usage/bounded-usage.ts';
import { estimateUsage } from '../usage/estimate-usage.ts';
import type { PreparedTurn } from './prepare-turn.ts';
import { settleTurn } from './settle-turn.ts';
import type { StreamObserver } from '../stream/stream-observer.ts';

interface StreamOutcome {
  readonly observer: StreamObserver;
  /** The model that answered, as its backend lists it. */
  readonly model: string;
  readonly kind: BackendKind;
  readonly isComplete: boolean;
}

/** The billed usage and stored reply of a stream. */
export interface SettledStream {
  /** Undefined without text or usage: nothing billable was served. */
  readonly usage: TokenUsage | undefined;
  readonly messageId: string | undefined;
}

/** Ends a streamed turn by the observed part of its stream. */
export async function settleStream(
  turn: PreparedTurn,
  dependencies: Pick<ChatDependencies, 'meter' | 'memory'>,
  { observer, model, kind, isComplete }: StreamOutcome,
): Promise<SettledStream> {
  const unbounded = observer.usage ?? estimateOf(turn, observer.text);
  const usage =
    unbounded &&
    boundedUsage(kind, unbounded, () => estimateUsage(turn.full.messages, observer.text));
  const readReply = () => observer.readReply();
  const messageId = await settleTurn(turn, dependencies, { model, usage, isComplete, readReply });
  return { usage, messageId };
}

const estimateOf = ({ full }: PreparedTurn, text: string): TokenUsage | undefined =>
  text === '' ? undefined : estimateUsage(full.messages, text);
