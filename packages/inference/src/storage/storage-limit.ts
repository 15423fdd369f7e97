import type { StoredBytes } from '@model-gateway/accounts';
import { ServiceError } from '@model-gateway/contracts';
import type { ResponseStore } from '../responses/response-store.ts';

/** Limits how many bytes of conversations and responses a user stores. */
export interface StorageLimit {
  /**
   * Called before a turn of a conversation. A user at the limit loses the oldest stored responses; refuses the turn where
   * conversations alone reach the limit. Requests in progress may pass together, so that their turns can exceed it once.
   */
  assertRoom(userId: string, stored: StoredBytes): Promise<void>;
}

interface StorageLimitDependencies {
  readonly responses: Pick<ResponseStore, 'removeBeyond'>;
  readonly bytesMax: number;
}

export const createStorageLimit = ({
  responses,
  bytesMax,
}: StorageLimitDependencies): StorageLimit => ({
  async assertRoom(userId, stored) {
    if (stored.conversations >= bytesMax) throw storageFull(stored.conversations, bytesMax);
    if (stored.conversations + stored.responses >= bytesMax)
      await responses.removeBeyond(userId, bytesMax - 1);
  },
});

const storageFull = (bytes: number, bytesMax: number): ServiceError =>
  new ServiceError(
    'storage_full',
    `your conversations take ${bytes} bytes, and at most ${bytesMax} bytes are stored for a user; delete ` +
      'conversations (conversations.delete), or send the messages without conversation_id. An operator raises the ' +
      'limit with SERVICE_STORED_BYTES_PER_USER',
  );
