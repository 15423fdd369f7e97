import { startScriptedEngine } from '@model-gateway/testkit/upstreams';
import { fieldsOf, type Fields, type ModelAnswer } from '../facts.ts';
import { callPieces, chatMessage, chatUsage, readChat } from './chat-api.ts';
import { pieces } from './upstream.ts';
import type { MatrixUpstream } from './wire-server.ts';

const CHATS = ['Engine.Chat', 'Engine.ChatStart'];

/** The kind `engine`. */
export async function startEngineServer(): Promise<MatrixUpstream> {
  const engine = await startScriptedEngine(['m']);
  const requests = () => engine.frames.filter(({ method }) => CHATS.includes(method));
  return {
    url: engine.url,
    get requests() {
      return requests().map(({ params }) => fieldsOf(params));
    },
    answer: (said) =>
      engine.answer({
        result: {
          message: chatMessage(withoutThought(said)),
          finish_reason: said.finish,
          usage: chatUsage(said),
        },
        chunks: chunksOf(said),
      }),
    refuse: (_status, message) => engine.answerError(message),
    answerAfter: (milliseconds) => engine.answerAfter(milliseconds),
    lastText: () => requests().at(-1)?.text ?? '',
    lastAsked: () => readChat(fieldsOf(requests().at(-1)?.params)),
    close: () => engine.close(),
  };
}

/** The protocol has no thoughts. */
const withoutThought = ({ thought: _thought, ...said }: ModelAnswer): ModelAnswer => said;

const chunksOf = (said: ModelAnswer): readonly Fields[] => [
  ...(said.text === undefined ? [] : pieces(said.text).map((delta) => ({ delta }))),
  ...callPieces(said.calls ?? []).map((call) => ({ delta: '', tool_calls: [call] })),
  { delta: '', done: true, finish_reason: said.finish, usage: chatUsage(said) },
];
