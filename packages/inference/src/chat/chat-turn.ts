import type { ConversationStore } from '@model-gateway/accounts';
import type { ChatMessage, ChatRequest } from '@model-gateway/contracts';
import type { OwnRequest } from '@model-gateway/dialects';
import type { Log } from '@model-gateway/kernel';
import type { AnswerWatch, Router } from '@model-gateway/router';
import type { SettledCall } from '../call/settle.ts';
import type { Caller } from './caller.ts';
import type { Reservation } from '../quota/reservation.ts';
import type { Memory } from '../memory/memory.ts';
import type { Meter } from '../usage/meter.ts';
import type { RequestTrace } from '../usage/request-trace.ts';
import type { RequestCounter } from '../usage/request-counter.ts';
import type { UpstreamTelemetry } from '../upstream/upstream-telemetry.ts';
import type { FallbackModel } from '../upstream/fallback-model.ts';

/** One chat turn. */
export interface ChatTurn {
  readonly caller: Caller;
  /** Which surface serves it: `gateway` or `rpc`. */
  readonly surface: string;
  readonly request: ChatRequest;
  /** The request in the API of its client; undefined for chat completions. */
  readonly own?: OwnRequest | undefined;
  /** The target of its model's alias. */
  readonly resolvedModel: string;
  /** Models that are tried when this one cannot answer. */
  readonly fallbacks?: readonly FallbackModel[] | undefined;
  /** The conversation of the turn; its turns go to one backend and are stored. */
  readonly conversationId: string | undefined;
  /** The stored messages before those of the request; `client` if the request contains them, as chat completions do. */
  readonly history: 'client' | readonly ChatMessage[];
  readonly refId: string | null;
  /** When the request arrived, by `performance.now()`. */
  readonly startedAt: number;
  /** Ends when its usage is recorded; the caller ends it in any case. */
  readonly reservation?: Reservation | undefined;
  readonly trace?: RequestTrace | undefined;
  /** Aborted when the client disconnected. */
  readonly signal: AbortSignal;
  /** Calls the listener when the client has the answer, or has left. Absent where that is not known. */
  readonly onEnd?: AnswerWatch['onEnd'];
}

/** The dependencies of serving a turn. */
export interface ChatDependencies {
  readonly router: Pick<Router, 'choose'>;
  readonly telemetry: UpstreamTelemetry;
  readonly meter: Meter;
  readonly requests: Pick<RequestCounter, 'accepted'>;
  readonly memory: Pick<Memory, 'isConfigured' | 'recall' | 'writeBack'>;
  readonly conversations: Pick<ConversationStore, 'addTurn' | 'addToTurn'>;
  readonly log: Log;
}

/** A turn as far as settling it depends on who sent it. */
export const settledCall = ({
  caller,
  surface,
  request,
  refId,
  reservation,
  trace,
  startedAt,
}: Omit<SettledCall, 'model'> & { readonly request: { readonly model: string } }): SettledCall => ({
  caller,
  surface,
  model: request.model,
  refId,
  reservation,
  trace,
  startedAt,
});
