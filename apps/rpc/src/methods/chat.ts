import type { RpcParams } from '@model-gateway/contracts';
import { expectedChat, jwtCaller } from '@model-gateway/inference';
import type { HandlersOf } from '../protocol/handlers.ts';
import type { Services } from '../services.ts';

export function createChatMethods({
  chatStreams,
  runtime: { quotas, router },
}: Services): HandlersOf<'chat'> {
  return {
    'chat.send': async (params, { user }) => {
      const startedAt = performance.now();
      const resolvedModel = router.aliases.resolve(params.model);
      const request = requestOf(params);
      const reservation = await quotas.admitUser(user.id, {
        model: resolvedModel,
        expected: () => expectedChat(request),
      });
      const { streamId, memory } = await chatStreams.begin({
        caller: jwtCaller(user.id),
        surface: 'rpc',
        request,
        reservation,
        resolvedModel,
        conversationId: params.conversation_id,
        history: 'stored',
        refId: params.ref_id ?? null,
        startedAt,
      });
      return { stream_id: streamId, memory };
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
