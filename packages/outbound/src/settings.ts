import { flag, optional, setting, text, urlWith, withDefault } from '@model-gateway/kernel';

/** Settings of webhooks. */
export const webhookSettings = {
  webhookAllowPrivate: setting('SERVICE_WEBHOOK_ALLOW_PRIVATE', withDefault(flag(), false), {
    description:
      'Whether webhooks may lead to addresses of the own network: private, loopback and link-local ones.',
    defaultText: '0',
  }),
};

/** Settings of mail. */
export const mailSettings = {
  smtpUrl: setting('SERVICE_SMTP_URL', optional(urlWith('smtp', 'smtps')), {
    description:
      'The SMTP server for mails, with user and password: `smtps://user:password@mail.example.com`. Unset: no mails are sent.',
    defaultText: 'unset',
    secret: true,
  }),
  mailFrom: setting('SERVICE_MAIL_FROM', optional(text()), {
    description: 'The sender of mails, such as `Gateway <gateway@example.com>`.',
    defaultText: '`no-reply` at the host of SERVICE_SMTP_URL',
  }),
};
