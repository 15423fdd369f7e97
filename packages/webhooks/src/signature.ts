import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';
const SECRET_BYTES = 24;

/** A new signing secret, as Standard Webhooks writes it. */
export const newSigningSecret = (): string =>
  `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`;

interface SignedMessage {
  readonly id: string;
  readonly secret: string;
  readonly body: string;
  /** When it is sent, in milliseconds. */
  readonly at: number;
}

/** The headers with which a receiver verifies a body, after Standard Webhooks. */
export function signatureHeaders({ id, secret, body, at }: SignedMessage): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000));
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
}
