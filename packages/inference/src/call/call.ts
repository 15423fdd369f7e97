import type { RequestLimit } from '@model-gateway/billing';
import type { AnswerPart, ChangeText, ChatMessage, ChatRequest } from '@model-gateway/contracts';
import type { Caller } from '../chat/caller.ts';
import type { Reply } from '../chat/history/reply-collector.ts';
import type { MemoryState } from '../memory/memory.ts';
import type { Payer } from '../quota/payer.ts';
import type { Reservation } from '../quota/reservation.ts';
import type { FallbackModel } from '../upstream/fallback-model.ts';
import type { RequestTrace } from '../usage/request-trace.ts';
import type { CallEnding } from '../usage/served-status.ts';

/** What a caller may do, as it was known after a number of account changes. */
export interface Grant {
  /** That number; undefined for a caller whose rights are read for each call. */
  readonly epoch: number | undefined;
  readonly caller: Caller;
  readonly payer: Payer;
  /** Over all processes. */
  readonly limits: readonly CallLimit[];
  /** How old a stored answer may be; null: the caller has no cache. */
  readonly cacheTtlSecs: number | null;
  /** Whether bodies are kept in the request log; null: as the service says. */
  readonly logsBodies: boolean | null;
}

/** A limit of requests per minute, and who sets it. */
export interface CallLimit extends RequestLimit {
  readonly setBy: 'key' | 'tier' | 'group';
}

/** Who makes calls: a secret, a sign-in, the key of a session. What it may do can change from call to call. */
export interface Identity {
  /** Looks the rights up again if they must be newer than those of an epoch. Rejects when there are none any more. */
  grant(newerThan?: number): Promise<Grant>;
}

/** Where a call comes from: everything that a surface knows of it. */
export interface CallContext {
  /** `gateway`, `rpc`, `realtime` or `video`. */
  readonly surface: string;
  readonly identity: Identity;
  /** The reference to which its usage is attributed; throws if that is not valid. */
  readonly refId: string | null;
  /** When it arrived, by `performance.now()`. */
  readonly startedAt: number;
  readonly log: CallLog;
}

/** What the request log keeps of a call; nothing before its caller is known. */
export interface CallLog {
  caller: Caller | undefined;
  trace: RequestTrace | undefined;
  /** As the client named it. */
  model: string | undefined;
}

/** A call that hooks may edit until it is routed. An edit holds for every API of clients and every kind of backend. */
export interface EditableCall {
  readonly caller: Caller;
  /** As chat completions, without what was put before its messages. */
  readonly chat: ChatRequest;
  /** The conversation that it belongs to; `client` where its messages are the whole of it. */
  readonly conversation:
    | { readonly id: string; readonly history: 'client' | readonly ChatMessage[] }
    | undefined;
  /** What the client is told about memory. */
  memory: MemoryState;
  /** Puts messages before those of the client, and before those that were put there earlier. */
  insert(messages: readonly ChatMessage[]): void;
  /** Changes the texts of all messages, also of inserted ones, with their documents and results of tools; not the arguments of calls. */
  changeTexts(change: ChangeText): void;
}

/**
 * Does something for the chat turns of every surface, as memory and conversations do. Hooks are registered once, in
 * packages/service, and run in that order.
 */
export interface Hook {
  /** Called before the call is routed: it may edit it, or refuse it by throwing. Undefined if it has no more to do with it. */
  before(call: EditableCall): Promise<HookedCall | undefined>;
}

/** A call that a hook follows. */
export interface HookedCall {
  /** Looks at the answer before the client gets it; without one not a byte is held back. */
  readonly window?: Window;
  /** A backend is asked. Never rejects. */
  accepted?(): Promise<void>;
  /** The call has ended. Never rejects; resolves to the id of a reply that was stored. */
  ended?(end: EndedCall): Promise<string | undefined>;
}

/** Holds parts of an answer back. What was generated is billed, whatever becomes of it. */
export interface Window {
  /**
   * Looks at the parts that the client does not have yet; resolves to how many of them it may get now. After the last part it
   * gets all of them. Rejects to break the answer off with that error.
   */
  look(held: readonly AnswerPart[], isLast: boolean): Promise<number>;
}

/** How a call that was answered ended. */
export interface EndedCall {
  /** What was generated of the reply, without one that a window refused; put together when it is asked for. */
  readonly reply: () => Reply;
  /** As its backend lists it. */
  readonly model: string;
  readonly ending: CallEnding;
}

/** The models that a body names. */
export interface NamedModels {
  readonly model: string;
  /** Tried in this order when the model cannot answer. */
  readonly models?: readonly string[] | null | undefined;
}

/** A call that may be routed: its caller, limits, body and quota have been checked, in this order. */
export interface AdmittedCall<Body> {
  readonly grant: Grant;
  readonly caller: Caller;
  readonly body: Body;
  /** What the alias of its model stands for: resolved once, so that the model that was checked is the one that serves. */
  readonly resolvedModel: string;
  /** Models that may be tried when this one cannot answer. */
  readonly fallbacks: readonly FallbackModel[];
  /** The receiver ends it when the call is over. */
  readonly reservation: Reservation;
}
