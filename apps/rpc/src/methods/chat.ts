import type { ChatMessage, RpcParams } from '@model-gateway/contracts';
import { createStoredReader, failureOf } from '@model-gateway/http';
import {
  admit,
  callOfUser,
  expectedChat,
  findStoredHistory,
  HISTORY_LIMITS,
  logFailedCall,
} from '@model-gateway/inference';
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
        const { conversation_id: conversationId, ref_id: refId = null } = params;
        const request = requestOf(params);
        const context = callOfUser({ userId: user.id, surface: 'rpc', refId }, quotas);
        const { log } = context;
        const onFailure = (error: unknown): void => logFailedCall(context, failureOf(error), meter);
        log.model = request.model;
        let release = (): void => undefined;
        try {
          const none: readonly ChatMessage[] = [];
          const admitting = admit(
            context,
            {
              read: async () => ({ ...request, history: none }),
              expected: ({ history, messages }) =>
                expectedChat({ ...request, messages: [...history, ...messages] }, memory),
              complete:
                conversationId === undefined
                  ? undefined
                  : async (asked) => {
                      const onEnd = (end: () => void): void => void (release = end);
                      const history = await historyOf(user.id, conversationId, onEnd);
                      return { body: { ...asked, history }, isLonger: true };
                    },
            },
            { quotas, router },
          );
          return await chatStreams.begin(context, admitting, {
            request,
            conversationId,
            onFailure,
            onEnd: () => release(),
          });
        } catch (error) {
          release();
          onFailure(error);
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
