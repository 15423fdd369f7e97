import type { Fields, ModelAnswer } from './facts.ts';
import { anthropicApi } from './upstreams/anthropic-api.ts';
import { chatApi, plainThought, withoutErrors } from './upstreams/chat-api.ts';
import { startEngineServer } from './upstreams/engine-server.ts';
import { geminiApi } from './upstreams/gemini-api.ts';
import { localApi } from './upstreams/local-api.ts';
import type { UpstreamApi } from './upstreams/upstream.ts';
import { startWireServer, type MatrixUpstream, type WireServer } from './upstreams/wire-server.ts';

/** One kind of upstream: how it is registered, and what its API can say. */
export interface MatrixKind extends Pick<UpstreamApi, 'gets' | 'says'> {
  readonly registration: Fields;
  start(): Promise<MatrixUpstream>;
}

/** One that speaks HTTP. */
interface HttpMatrixKind extends MatrixKind {
  start(): Promise<WireServer>;
}

const kindOf = (api: UpstreamApi, registration: Fields = api.registration): HttpMatrixKind => ({
  ...api,
  registration,
  start: () => startWireServer(api),
});

const PASSING = { models: ['m'], capabilities: ['chat', 'completions', 'embeddings'] };

/** Every kind that serves chats. */
export const KINDS = {
  external: kindOf(chatApi, { type: 'external', ...PASSING }),
  azure: kindOf(chatApi, { type: 'azure', ...PASSING }),
  agent: kindOf(chatApi, { type: 'agent', models: ['m'] }),
  anthropic: kindOf(anthropicApi),
  gemini: kindOf(geminiApi),
  'local-server': kindOf(localApi),
  engine: {
    registration: { type: 'engine' },
    start: startEngineServer,
    gets: withoutErrors,
    // The protocol has no thoughts.
    says: ({ thought: _thought, ...said }: ModelAnswer) => plainThought(said),
  },
} satisfies Readonly<Record<string, MatrixKind>>;

export type Kind = keyof typeof KINDS;
