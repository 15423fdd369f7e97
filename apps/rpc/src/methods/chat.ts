import type { ChatMessage, RpcParams } from '@model-gateway/contracts';
import {
  createRequestTrace,
  expectedChat,
  jwtCaller,
  readStoredHistory,
} from '@model-gateway/inference';
import { noteChatFailure } from '../chat/note-chat-failure.ts';
import type { HandlersOf } from '../protocol/handlers.ts';
import type { Services } from '../services.ts';

export function createChatMethods({
  chatStreams,
  storedConversations,
  runtime: { quotas, router, meter, memory },
}: Services): HandlersOf<'chat'> {
  /** What is stored before a turn, or why it cannot be read, which is reported after a refusal by the quota. */
  async function historyOf(userId: string, conversationId: string | undefined) {
    if (conversationId === undefined) return { messages: NO_MESSAGES };
    try {
      return { messages: await readStoredHistory(storedConversations, userId, conversationId) };
    } catch (error) {
      return { messages: NO_MESSAGES, error };
    }
  }

  return {
    'chat.send': async (params, { user }) => {
      const resolvedModel = router.aliases.resolve(params.model);
      const request = requestOf(params);
      const turn = {
        caller: jwtCaller(user.id),
        surface: 'rpc',
        request,
        refId: params.ref_id ?? null,
        startedAt: performance.now(),
        trace: createRequestTrace(),
      };
      try {
        // The quota is reserved for the whole prompt.
        const history = await historyOf(user.id, params.conversation_id);
        const messages = [...history.messages, ...request.messages];
        const admission = {
          model: resolvedModel,
          requested: params.model,
          fallbacks: params.models?.map((model) => ({
            model,
            resolved: router.aliases.resolve(model),
          })),
          expected: () => expectedChat({ ...request, messages }, memory),
        };
        const { reservation, fallbacks } = await quotas.admitUserWithFallbacks(user.id, admission);
        if ('error' in history) {
          reservation.end();
          throw history.error;
        }
        const started = await chatStreams.begin({
          ...turn,
          reservation,
          resolvedModel,
          fallbacks,
          conversationId: params.conversation_id,
          history: history.messages,
        });
        return { stream_id: started.streamId, memory: started.memory };
      } catch (error) {
        noteChatFailure(meter, turn, error);
        throw error;
      }
    },
    'chat.stop': async ({ stream_id }, { user }) => ({
      stopped: await chatStreams.cancel(user.id, stream_id),
    }),
  };
}

const NO_MESSAGES: readonly ChatMessage[] = [];

function requestOf({
  conversation_id: _conversation,
  ref_id: _ref,
  ...params
}: RpcParams<'chat.send'>) {
  return { ...params, stream: true };
}
