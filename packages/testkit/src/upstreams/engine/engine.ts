import {
  asList,
  asText,
  countTokens,
  embeddingOf,
  type AnswerText,
} from '@model-gateway/demo-model/answers';
import { createChanges } from '../recording/changes.ts';
import { createFaultPlan, type FaultPlan } from '../faults/fault-plan.ts';
import { createServedLog, type ServedLog } from '../recording/served-log.ts';
import { extend } from '../wire/extend.ts';
import {
  RpcMethodError,
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

/** The options of an engine. */
export interface EngineOptions extends RpcServerOptions {
  /** `demo-engine` by default. */
  readonly models?: readonly string[];
  /** The capabilities in the handshake; all by default. */
  readonly capabilities?: readonly string[];
  readonly modalities?: readonly string[];
  readonly tokenDelayMs?: number;
  readonly answer?: AnswerText;
  /** The embedding of a text. */
  readonly vectorOf?: (text: string) => readonly number[];
  /** Handles `Engine.Invoke`; by default it accepts sensor readings and setpoints and echoes everything else. */
  readonly invoke?: Invoke;
}

/** A running engine. */
export interface RunningEngine extends RunningRpcServer, Omit<ServedLog, 'record'> {
  readonly faults: FaultPlan<EngineFault, EngineMethod>;
  /** Streams that were cancelled or whose client disconnected. */
  readonly aborted: number;
  /** Realtime sessions that are open now. */
  readonly openSessions: number;
  /** Ends every realtime session. */
  endSessions(): void;
}

const PROTOCOL = 1;
const DIMENSIONS = 64;
const CAPABILITIES = ['chat', 'embeddings', 'realtime', 'invoke'];
const MODALITIES = ['text', 'audio', 'video'];

/** Starts an engine: the engine protocol over WebSocket, whose first call must be the handshake. */
export async function startEngine(options: EngineOptions = {}): Promise<RunningEngine> {
  const { models = ['demo-engine'], invoke = invokeDemo() } = options;
  const { vectorOf = (text) => Array.from(embeddingOf(text, DIMENSIONS)) } = options;
  const changes = createChanges();
  const log = createServedLog(changes);
  const handshaken = new WeakSet<RpcConnection>();
  const chats = createEngineChats({ ...options, log });
  const realtime = createEngineRealtime(options.tokenDelayMs ?? 0);

  function afterHandshake<Answer>(work: (call: RpcCall<EngineFault>) => Answer) {
    return (call: RpcCall<EngineFault>): Answer => {
      if (!handshaken.has(call.connection)) throw new RpcMethodError('handshake first');
      return work(call);
    };
  }
  function forModel<Answer>(work: (call: RpcCall<EngineFault>) => Answer) {
    return afterHandshake((call) => {
      const model = asText(call.params.model) ?? '';
      if (!models.includes(model)) throw new RpcMethodError(`unknown model: ${model}`);
      return work(call);
    });
  }

  const methods: Record<EngineMethod, RpcMethod<EngineFault>> = {
    'Engine.Handshake': ({ params, connection }) => {
      if (params.protocol !== PROTOCOL) throw new RpcMethodError('only protocol 1 is supported');
      handshaken.add(connection);
      return {
        engine: { name: 'demo-engine', version: '1.0.0' },
        capabilities: options.capabilities ?? CAPABILITIES,
        modalities: options.modalities ?? MODALITIES,
        models,
      };
    },
    'Engine.Models': afterHandshake(() => ({ models })),
    'Engine.Chat': forModel(chats.chat),
    'Engine.ChatStart': forModel(chats.start),
    'Engine.ChatCancel': afterHandshake(chats.cancel),
    'Engine.Embeddings': forModel(({ params }) => {
      const { input } = params;
      const texts = typeof input === 'string' ? [input] : asList(input).map(String);
      const tokens = texts.reduce((sum, text) => sum + countTokens(text), 0);
      return {
        data: texts.map(vectorOf),
        usage: { prompt_tokens: tokens, total_tokens: tokens },
      };
    }),
    'Engine.Invoke': forModel(({ params }) => invoke(asText(params.method) ?? '', params.params)),
    'Engine.RealtimeStart': forModel(realtime.start),
    'Engine.RealtimeEvent': afterHandshake(realtime.event),
    'Engine.RealtimeStop': afterHandshake(realtime.stop),
  };

  const faults = createFaultPlan<EngineFault, EngineMethod>([
    'Engine.Chat',
    'Engine.ChatStart',
    'Engine.Embeddings',
    'Engine.Invoke',
  ]);
  const server = await startJsonRpcServer(options, { methods, faults, changes });
  return extend(extend(server, log), {
    faults,
    get aborted() {
      return chats.aborted;
    },
    get openSessions() {
      return realtime.open;
    },
    endSessions: realtime.endAll,
  });
}
