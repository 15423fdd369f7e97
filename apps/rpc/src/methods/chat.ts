import type { RpcParams } from '@model-gateway/contracts';
import { createRequestTrace, expectedChat, jwtCaller } from '@model-gateway/inference';
import { noteChatFailure } from '../chat/note-chat-failure.ts';
import type { HandlersOf } from '../protocol/handlers.ts';
import type { Services } from '../services.ts';

export function createChatMethods({
  chatStreams,
  runtime: { quotas, router, meter },
}: Services): HandlersOf<'chat'> {
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
        const asked = {
          model: resolvedModel,
          requested: params.model,
          fallbacks: params.models?.map((model) => ({
            model,
            resolved: router.aliases.resolve(model),
          })),
          expected: () => expectedChat(request),
        };
        const { reservation, fallbacks } = await quotas.admitUserWithFallbacks(user.id, asked);
        const { streamId, memory } = await chatStreams.begin({
          ...turn,
          reservation,
          resolvedModel,
          fallbacks,
          conversationId: params.conversation_id,
          history: 'stored',
        });
        return { stream_id: streamId, memory };
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

function requestOf({
  conversation_id: _conversation,
  ref_id: _ref,
  ...params
}: RpcParams<'chat.send'>) {
  return { ...params, stream: true };
}
