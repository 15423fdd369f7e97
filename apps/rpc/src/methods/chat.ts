import type { RpcParams } from '@model-gateway/contracts';
import { jwtCaller } from '@model-gateway/inference';
import type { HandlersOf } from '../protocol/handlers.ts';
import type { Services } from '../services.ts';

export function createChatMethods({
  chatStreams,
  runtime: { quotas, router },
}: Services): HandlersOf<'chat'> {
  return {
    'chat.send': async (params, { user }) => {
      const resolvedModel = router.aliases.resolve(params.model);
      await quotas.assertUserCovered(user.id, resolvedModel);
      const { streamId, memory } = await chatStreams.begin({
        caller: jwtCaller(user.id),
        surface: 'rpc',
        request: requestOf(params),
        resolvedModel,
        conversationId: params.conversation_id,
        history: 'stored',
        refId: null,
      });
      return { stream_id: streamId, memory };
    },
  };
}

function requestOf({ conversation_id: _conversation, ...params }: RpcParams<'chat.send'>) {
  return { ...params, stream: true };
}
