import {
  asList,
  asText,
  countTokens,
  createChanges,
  createFaultPlan,
  createServedLog,
  embeddingOf,
  extend,
  type AnswerText,
  type FaultPlan,
  type ServedLog,
} from '@model-gateway/demo-model/server-parts';
import {
  RpcRefusal,
  type RpcCall,
  type RpcConnection,
  type RpcMethod,
} from '../wire/json-rpc-call.ts';
import {
  startJsonRpcServer,
  type RpcServerOptions,
  type RunningRpcServer,
} from '../wire/json-rpc-server.ts';
import { createEngineChats } from './engine-chats.ts';
import type { EngineFault, EngineMethod } from './engine-faults.ts';
import { createEngineRealtime } from './engine-realtime.ts';
import { invokeDemo, type Invoke } from './invoke-demo.ts';

/** How an engine is started. */
export interface EngineOptions extends RpcServerOptions {
  /** `demo-engine` by default. */
  readonly models?: readonly string[];
  /** What the handshake declares; everything by default. */
  readonly capabilities?: readonly string[];
  readonly modalities?: readonly string[];
  readonly tokenDelayMs?: number;
  readonly answer?: AnswerText;
  /** Answers `Engine.Invoke`; by default it takes sensor readings and setpoints and echoes the rest. */
  readonly invoke?: Invoke;
}

/** A running engine. */
export interface RunningEngine extends RunningRpcServer, Omit<ServedLog, 'record'> {
  readonly faults: FaultPlan<EngineFault, EngineMethod>;
  /** Streams that were cancelled or whose client left. */
  readonly aborted: number;
  /** Realtime sessions that are open now. */
  readonly openSessions: number;
  /** Ends every realtime session by itself. */
  endSessions(): void;
}

const PROTOCOL = 1;
const DIMENSIONS = 64;
const CAPABILITIES = ['chat', 'embeddings', 'realtime', 'invoke'];
const MODALITIES = ['text', 'audio', 'video'];

/** Starts an engine: the engine protocol over WebSocket, whose first call must be the handshake. */
export async function startEngine(options: EngineOptions = {}): Promise<RunningEngine> {
  const { models = ['demo-engine'], invoke = invokeDemo() } = options;
  const changes = createChanges();
  const log = createServedLog(changes);
  const shaken = new WeakSet<RpcConnection>();
  const chats = createEngineChats({ ...options, log });
  const realtime = createEngineRealtime(options.tokenDelayMs ?? 0);

  function served<Answer>(work: (call: RpcCall<EngineFault>) => Answer) {
    return (call: RpcCall<EngineFault>): Answer => {
      if (!shaken.has(call.connection)) throw new RpcRefusal('handshake first');
      return work(call);
    };
  }
  function forModel<Answer>(work: (call: RpcCall<EngineFault>) => Answer) {
    return served((call) => {
      const model = asText(call.params.model) ?? '';
      if (!models.includes(model)) throw new RpcRefusal(`unknown model: ${model}`);
      return work(call);
    });
  }

  const methods: Record<EngineMethod, RpcMethod<EngineFault>> = {
    'Engine.Handshake': ({ params, connection }) => {
      if (params.protocol !== PROTOCOL) throw new RpcRefusal('only protocol 1 is spoken here');
      shaken.add(connection);
      return {
        engine: { name: 'demo-engine', version: '1.0.0' },
        capabilities: options.capabilities ?? CAPABILITIES,
        modalities: options.modalities ?? MODALITIES,
        models,
      };
    },
    'Engine.Models': served(() => ({ models })),
    'Engine.Chat': forModel(chats.chat),
    'Engine.ChatStart': forModel(chats.start),
    'Engine.ChatCancel': served(chats.cancel),
    'Engine.Embeddings': forModel(({ params }) => {
      const { input } = params;
      const texts = typeof input === 'string' ? [input] : asList(input).map(String);
      const tokens = texts.reduce((sum, text) => sum + countTokens(text), 0);
      return {
        data: texts.map((text) => Array.from(embeddingOf(text, DIMENSIONS))),
        usage: { prompt_tokens: tokens, total_tokens: tokens },
      };
    }),
    'Engine.Invoke': forModel(({ params }) => invoke(asText(params.method) ?? '', params.params)),
    'Engine.RealtimeStart': forModel(realtime.start),
    'Engine.RealtimeEvent': served(realtime.event),
    'Engine.RealtimeStop': served(realtime.stop),
  };

  const faults = createFaultPlan<EngineFault, EngineMethod>([
    'Engine.Chat',
    'Engine.ChatStart',
    'Engine.Embeddings',
    'Engine.Invoke',
  ]);
  const server = await startJsonRpcServer(options, { methods, faults, changes });
  return extend(server, {
    faults,
    get aborted() {
      return chats.aborted;
    },
    get openSessions() {
      return realtime.open;
    },
    endSessions: realtime.endAll,
    get served() {
      return log.served;
    },
    get totals() {
      return log.totals;
    },
  });
}
