import { flag, setting, withDefault } from '@model-gateway/kernel';

/** Settings of webhooks. */
export const webhookSettings = {
  webhookAllowPrivate: setting('SERVICE_WEBHOOK_ALLOW_PRIVATE', withDefault(flag(), false), {
    description:
      'Whether webhooks may lead to addresses of the own network: private, loopback and link-local ones.',
    defaultText: '0',
  }),
};
