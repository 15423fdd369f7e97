import type { SendMail } from '@model-gateway/webhooks';

interface MailDependencies {
  readonly smtpUrl: string;
  /** The sender. */
  readonly from: string | undefined;
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 10_000;

/** Sends mails over SMTP, with a connection for each. Rejects when the server did not accept one. */
export function createSendMail(dependencies: MailDependencies): SendMail {
  const { smtpUrl, from = defaultSender(smtpUrl), timeoutMs = TIMEOUT_MS } = dependencies;
  return async ({ to, subject, text }) => {
    // Loaded with the first mail: most processes never send one.
    const { createTransport } = await import('nodemailer');
    const transport = createTransport({
      url: smtpUrl,
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      // The text of a mail names neither files nor URLs to read.
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    try {
      await transport.sendMail({ from, to, subject, text });
    } finally {
      transport.close();
    }
  };
}

const defaultSender = (smtpUrl: string): string =>
  `Model Gateway <no-reply@${new URL(smtpUrl).hostname}>`;
