import type { Clock, Tracing } from '@model-gateway/kernel';
import {
  CAPABILITIES,
  isPassedCapability,
  type Backend,
  type BackendConfig,
  type Capability,
  type KindFacts,
} from '@model-gateway/router';
import type { AnswerMemory } from './transport/answers/answer-memory.ts';
import type { UpstreamTimeouts } from './transport/upstream-http.ts';

/** The options of every backend. */
export interface CreateBackendOptions {
  readonly timeouts: UpstreamTimeouts;
  /** How large a whole answer may be; 32 MiB by default. */
  readonly answerBytesMax?: number | undefined;
  /** Limits the memory of large answers of all backends together. */
  readonly answerMemory?: AnswerMemory | undefined;
  readonly clock: Clock;
  /** Traces the calls, if tracing is on. */
  readonly tracing?: Tracing | undefined;
}

/** What only some kinds take of a registration. */
export type KindOption = 'auth_header' | 'api_keys' | 'dialects';

/** A kind of backend: all that registering and building one needs to know of it. */
export interface BackendKindDefinition {
  readonly name: string;
  /** Other types that operators register it by, such as the names of engines. */
  readonly aliases?: readonly string[];
  /** Whether only the service itself registers it. */
  readonly isInternal?: boolean;
  /** The schemes of its URLs. */
  readonly schemes: readonly string[];
  /** What an operator can declare that a backend of it does. */
  readonly capabilities: ReadonlySet<Capability>;
  readonly options: readonly KindOption[];
  readonly facts: KindFacts;
  /** Whether a model whose id says so does realtime, unless the operator declared what the backend does. */
  readonly findsRealtime?: boolean;
  /** Refuses a new registration that lacks something. */
  assertComplete?(config: BackendConfig): void;
  /** With one key of the registration, and with its URL; nothing is connected yet. */
  create(config: BackendConfig, url: URL, options: CreateBackendOptions): Backend;
}

export const HTTP_SCHEMES: readonly string[] = ['http:', 'https:'];

/** What can be declared of a kind whose requests are translated. */
export const TRANSLATING: ReadonlySet<Capability> = new Set(
  CAPABILITIES.filter((capability) => capability !== 'video' && !isPassedCapability(capability)),
);
