import { backendOptionsSchema } from '@model-gateway/contracts';
import type { Clock, Tracing } from '@model-gateway/kernel';
import {
  CAPABILITIES,
  isRelayedCapability,
  type Backend,
  type BackendConfig,
  type Capability,
  type KindFacts,
} from '@model-gateway/router';
import type { z } from 'zod';
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
export type KindOption = keyof typeof backendOptionsSchema.shape;

/** What the console, the command line and the reference say of a kind. */
export interface KindForm {
  /** A short name for lists. */
  readonly title: string;
  /** What it is for, in one line. */
  readonly purpose: string;
  readonly exampleUrl: string;
  /** Each kind takes a key; servers of some rarely have one, so that a form does not ask for it. */
  readonly apiKey: { readonly title: string; readonly isUsual: boolean };
  /** Whether it cannot list its models, so that they must be given. */
  readonly needsModels?: boolean;
  /** The capabilities that a form offers to declare; none where the kind decides. */
  readonly capabilities?: readonly Capability[];
}

/** A kind of backend: all that anything outside its folder needs to know of it. */
export interface BackendKindDefinition {
  readonly name: string;
  /** Other types that operators register it by, such as the names of engines. */
  readonly aliases?: readonly string[];
  readonly form: KindForm;
  /** Whether only the service itself registers it. */
  readonly isInternal?: boolean;
  /** The schemes of its URLs. */
  readonly schemes: readonly string[];
  /** What an operator can declare that a backend of it does. */
  readonly capabilities: ReadonlySet<Capability>;
  /** The fields of a registration that not every kind takes. */
  readonly options: z.ZodObject<Partial<typeof backendOptionsSchema.shape>>;
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
  CAPABILITIES.filter((capability) => capability !== 'video' && !isRelayedCapability(capability)),
);

export const NO_OPTIONS = backendOptionsSchema.pick({});
/** The options of clouds, which want a key. */
export const KEY_OPTIONS = backendOptionsSchema.pick({ auth_header: true, api_keys: true });
/** The options of servers that speak the API of the clients. */
export const PASSING_OPTIONS = backendOptionsSchema;
