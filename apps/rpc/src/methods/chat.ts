import type { ChatMessage, RpcParams } from '@model-gateway/contracts';
import { createStoredReader } from '@model-gateway/http';
import {
  createRequestTrace,
  expectedChat,
  findStoredHistory,
  HISTORY_LIMITS,
  jwtCaller,
} from '@model-gateway/inference';
import { noteChatFailure } from '../chat/note-chat-failure.ts';
import { WORK } from '../audit/audit-rule.ts';
import type { HandlersOf } from '../protocol/handlers.ts';
import type { Services } from '../services.ts';

export function createChatMethods({
  chatStreams,
  storedConversations: conversations,
  bodyMemory,
  runtime: { quotas, router, meter, memory, storageLimit },
}: Services): HandlersOf<'chat'> {
  /** The messages before a turn. Their memory is held until `onEnd` calls its function. */
  async function historyOf(
    userId: string,
    conversationId: string,
    onEnd: (end: () => void) => void,
  ): Promise<readonly ChatMessage[]> {
    const stored = await findStoredHistory({ conversations, storageLimit }, userId, conversationId);
    const limits = { bytes: HISTORY_LIMITS.bytesMax, items: HISTORY_LIMITS.messagesMax };
    const reader = createStoredReader({ userId, memory: bodyMemory, limits, onEnd });
    return reader.read({ bytes: stored.bytes, items: stored.messages }, () => stored.read());
  }

  return {
    'chat.send': {
      audit: WORK,
      handle: async (params, { user }) => {
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
        const admission = (history: readonly ChatMessage[]) => ({
          model: resolvedModel,
          requested: params.model,
          fallbacks: params.models?.map((model) => ({
            model,
            resolved: router.aliases.resolve(model),
          })),
          expected: () =>
            expectedChat({ ...request, messages: [...history, ...request.messages] }, memory),
        });
        let release = (): void => undefined;
        try {
          const { payer, reservation, ...admitted } = await quotas.admitUserWithFallbacks(
            user.id,
            admission([]),
          );
          let { fallbacks } = admitted;
          let history: readonly ChatMessage[] = [];
          if (params.conversation_id !== undefined) {
            try {
              history = await historyOf(user.id, params.conversation_id, (end) => (release = end));
              fallbacks = await quotas.admitAgain(payer, reservation, admission(history));
            } catch (error) {
              reservation.end();
              throw error;
            }
          }
          const started = await chatStreams.begin({
            ...turn,
            reservation,
            resolvedModel,
            fallbacks,
            conversationId: params.conversation_id,
            history,
            onEnd: release,
          });
          return { stream_id: started.streamId, memory: started.memory };
        } catch (error) {
          release();
          noteChatFailure(meter, turn, error);
          throw error;
        }
      },
    },
    'chat.stop': {
      audit: WORK,
      handle: async ({ stream_id }, { user }) => ({
        stopped: await chatStreams.cancel(user.id, stream_id),
      }),
    },
  };
}

function requestOf({
  conversation_id: _conversation,
  ref_id: _ref,
  ...params
}: RpcParams<'chat.send'>) {
  return { ...params, stream: true };
}
