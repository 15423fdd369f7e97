import { ServiceError } from '@model-gateway/contracts';
import { describeError, type Log } from '@model-gateway/kernel';
import type { SecretBox } from '../connection/secret-box.ts';

/** The signing secrets of webhooks: they are stored encrypted, because they have to be read again. */
export interface SigningSecrets {
  seal(secret: string, webhookId: string): string;
  /** Undefined when it cannot be decrypted. */
  open(sealed: string, webhookId: string): string | undefined;
}

export function createSigningSecrets(secretBox: SecretBox | undefined, log: Log): SigningSecrets {
  const placeOf = (webhookId: string): string => `webhook:${webhookId}`;
  return {
    seal(secret, webhookId) {
      if (secretBox !== undefined) return secretBox.seal(secret, placeOf(webhookId));
      throw new ServiceError(
        'store_unavailable',
        'signing secrets cannot be stored, because SERVICE_ENCRYPTION_KEY is not set',
      );
    },
    open(sealed, webhookId) {
      try {
        if (secretBox === undefined) throw new Error('SERVICE_ENCRYPTION_KEY is not set');
        return secretBox.open(sealed, placeOf(webhookId));
      } catch (error) {
        log.error(
          { webhook_id: webhookId, reason: describeError(error) },
          'the signing secret of a webhook cannot be decrypted',
        );
        return undefined;
      }
    },
  };
}
