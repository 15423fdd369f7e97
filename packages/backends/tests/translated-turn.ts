import type { ChatMessage, UpstreamChat, UpstreamTurn } from '@model-gateway/contracts';
import { ownTurn } from '@model-gateway/dialects';

/** A turn of a client of another API, which became this chat. */
export const translatedTurn = (
  chat: UpstreamChat,
  added: readonly ChatMessage[] = [],
): UpstreamTurn =>
  ownTurn(
    { api: 'messages', messages: [], bodyWith: () => ({}), lost: [] },
    { model: chat.model, added, chat: () => chat },
  );
