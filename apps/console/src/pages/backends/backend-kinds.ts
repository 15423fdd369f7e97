import type { RpcInput } from '@model-gateway/contracts';

/** What the form asks for, by the kind of a backend. */
export interface BackendKind {
  readonly type: KindName;
  /** An address of this kind, which the form begins with. */
  readonly url: string;
  /** How an address may begin. */
  readonly schemes: readonly string[];
  readonly hasKey: boolean;
  /** Whether it cannot list its models, so that they must be given. */
  readonly needsModels: boolean;
  /** Whether several keys can be used in turn, and their header be named. */
  readonly hasKeys: boolean;
  /** What it can be declared to serve; empty where its kind decides. */
  readonly capabilities: readonly Capability[];
  /** The APIs besides chat completions that it can be declared to speak. */
  readonly dialects: readonly Dialect[];
}

type Addition = RpcInput<'backends.add'>;
export type Capability = NonNullable<Addition['capabilities']>[number];
export type Dialect = NonNullable<Addition['dialects']>[number];

export type KindName =
  | 'external'
  | 'anthropic'
  | 'gemini'
  | 'azure'
  | 'local-server'
  | 'engine'
  | 'cloud-video';

const HTTP = ['https://', 'http://', 'bridge://'];
const SOCKET = ['wss://', 'ws://', 'bridge://'];

/** What servers that speak the API of OpenAI can serve. */
const OPENAI_CAPABILITIES: readonly Capability[] = [
  'chat',
  'embeddings',
  'completions',
  'realtime',
  'rerank',
  'moderations',
  'images',
  'speech',
  'transcription',
];

/** The kinds that can be added; those of GPU nodes come with a deployment. */
export const BACKEND_KINDS: readonly BackendKind[] = [
  {
    type: 'external',
    url: 'https://api.openai.com/v1',
    schemes: HTTP,
    hasKey: true,
    needsModels: false,
    hasKeys: true,
    capabilities: OPENAI_CAPABILITIES,
    dialects: ['responses'],
  },
  {
    type: 'local-server',
    url: 'http://localhost:11434',
    schemes: HTTP,
    hasKey: false,
    needsModels: false,
    hasKeys: false,
    capabilities: ['chat', 'embeddings'],
    dialects: [],
  },
  {
    type: 'anthropic',
    url: 'https://api.anthropic.com',
    schemes: HTTP,
    hasKey: true,
    needsModels: false,
    hasKeys: true,
    capabilities: [],
    dialects: [],
  },
  {
    type: 'gemini',
    url: 'https://generativelanguage.googleapis.com',
    schemes: HTTP,
    hasKey: true,
    needsModels: false,
    hasKeys: true,
    capabilities: [],
    dialects: [],
  },
  {
    type: 'azure',
    url: 'https://NAME.openai.azure.com?api-version=2024-10-21',
    schemes: HTTP,
    hasKey: true,
    needsModels: true,
    hasKeys: true,
    capabilities: OPENAI_CAPABILITIES,
    dialects: ['responses'],
  },
  {
    type: 'engine',
    url: 'ws://localhost:9000',
    schemes: SOCKET,
    hasKey: false,
    needsModels: false,
    hasKeys: false,
    capabilities: [],
    dialects: [],
  },
  {
    type: 'cloud-video',
    url: 'https://api.minimax.io',
    schemes: HTTP,
    hasKey: true,
    needsModels: true,
    hasKeys: false,
    capabilities: [],
    dialects: [],
  },
];

/** The kind of a registered backend; undefined for those of GPU nodes. */
export const kindOf = (type: string): BackendKind | undefined =>
  BACKEND_KINDS.find((kind) => kind.type === type);
