import type { RpcParams } from '@model-gateway/contracts';
import { jwtCaller, type Quotas } from '@model-gateway/inference';
import type { Router } from '@model-gateway/router';
import type { ChatStreams } from '../chat/chat-streams.ts';
import type { Handlers } from '../protocol/handlers.ts';

/** Dependencies of `chat.send`. */
export interface ChatMethodsDependencies {
  readonly chatStreams: Pick<ChatStreams, 'begin'>;
  readonly quotas: Pick<Quotas, 'assertUserCovered'>;
  readonly router: Pick<Router, 'aliases'>;
}

export function createChatMethods({
  chatStreams,
  quotas,
  router,
}: ChatMethodsDependencies): Pick<Handlers, 'chat.send'> {
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
