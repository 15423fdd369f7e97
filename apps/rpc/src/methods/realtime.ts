import { WORK } from '../audit/audit-rule.ts';
import type { HandlersOf } from '../protocol/handlers.ts';
import type { Services } from '../services.ts';

export function createRealtimeMethods({ realtime: sessions }: Services): HandlersOf<'realtime'> {
  return {
    'realtime.start': {
      audit: WORK,
      handle: async ({ model, config, conversation_id, ref_id }, { user, signIn }) => {
        const request = {
          userId: user.id,
          model,
          config,
          conversationId: conversation_id,
          refId: ref_id === undefined || ref_id === '' ? null : ref_id,
        };
        const { sessionId, streamId } = await sessions.start(request, signIn);
        return { session_id: sessionId, stream_session: streamId };
      },
    },
    'realtime.event': {
      audit: WORK,
      handle: async ({ session_id, event }, { user }) => {
        await sessions.send(user.id, session_id, event);
        return { ok: true };
      },
    },
    'realtime.stop': {
      audit: WORK,
      handle: async ({ session_id }, { user }) => ({
        removed: await sessions.stop(user.id, session_id),
      }),
    },
  };
}
