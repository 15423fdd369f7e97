import type { ConversationStore } from '@model-gateway/accounts';
import type { ChatRequest } from '@model-gateway/contracts';
import type { Cancel, Log } from '@model-gateway/kernel';
import type { Router } from '@model-gateway/router';
import type { Caller } from './caller.ts';
import type { Memory } from '../memory/memory.ts';
import type { Meter } from '../usage/meter.ts';
import type { RequestCounter } from '../usage/request-counter.ts';
import type { UpstreamTelemetry } from '../upstream/upstream-telemetry.ts';

/** One chat turn. */
export interface ChatTurn {
  readonly caller: Caller;
  /** Which surface serves it: `gateway` or `rpc`. */
  readonly surface: string;
  readonly request: ChatRequest;
  /** What the alias of its model stands for. */
  readonly resolvedModel: string;
  /** The conversation that the turn belongs to; its turns go to one backend, and are written down. */
  readonly conversationId: string | undefined;
  /** Who knows what was said before: clients of the chat-completions convention send it along, others leave it to us. */
  readonly history: 'client' | 'stored';
  readonly refId: string | null;
  /** Aborted when the client went away. */
  readonly signal: Cancel;
}

/** What a turn is served with. */
export interface ChatDependencies {
  readonly router: Pick<Router, 'choose'>;
  readonly telemetry: UpstreamTelemetry;
  readonly meter: Meter;
  readonly requests: Pick<RequestCounter, 'accepted'>;
  readonly memory: Pick<Memory, 'isConfigured' | 'recall' | 'writeBack'>;
  readonly conversations: Pick<ConversationStore, 'history' | 'addTurn' | 'addToTurn'>;
  readonly log: Log;
}
