import { describeError, type Counters, type Log } from '@model-gateway/kernel';
import type { Mail, SendMail } from '@model-gateway/webhooks';

/** Mails about accounts. Without mail, or without a public URL for their links, none is sent. */
export interface AccountMails {
  /** Whether a mail with the link is sent. */
  resetLink(reset: {
    readonly email: string;
    readonly link: string;
    readonly expiresAt: Date;
  }): Promise<boolean>;
  /** Whether a mail with the invitation is sent. */
  invitation(invitation: {
    readonly senderId: string;
    readonly email: string;
    readonly groupName: string;
    readonly token: string;
    readonly expiresAt: Date;
  }): Promise<boolean>;
}

interface AccountMailsDependencies {
  /** Undefined without mail. */
  readonly sendMail: SendMail | undefined;
  readonly publicUrl: string | undefined;
  readonly counters: Pick<Counters, 'add'>;
  /** Runs it at once, or after the transaction of the change. */
  readonly afterCommit: (announce: () => Promise<unknown>) => Promise<void>;
  readonly log: Log;
}

/** Every user can have a group and invite: without a limit, they could mail anyone anything. */
const INVITATIONS_PER_HOUR_MAX = 30;
const HOUR_MS = 3_600_000;

export function createAccountMails(dependencies: AccountMailsDependencies): AccountMails {
  const { sendMail, publicUrl, counters, afterCommit, log } = dependencies;

  /** Sent after the change is stored. A mail that fails does not fail the call: its caller has the link too. */
  async function send(mail: Mail): Promise<boolean> {
    if (sendMail === undefined) return false;
    await afterCommit(() =>
      sendMail(mail).catch((error: unknown) => {
        log.warn({ reason: describeError(error) }, 'a mail was not sent');
      }),
    );
    return true;
  }

  return {
    async resetLink({ email, link, expiresAt }) {
      if (publicUrl === undefined) return false;
      return send({
        to: email,
        subject: 'Set a new password',
        text: `An admin of Model Gateway made a link with which you set a new password:\n\n${link}\n\nIt works once, until ${expiresAt.toISOString()}. If you did not ask for it, ignore this mail.\n`,
      });
    },
    async invitation({ senderId, email, groupName, token, expiresAt }) {
      if (sendMail === undefined || publicUrl === undefined) return false;
      const key = `invitation-mails:${senderId}`;
      const count = await counters.add(key, 1, { expiresAfterMs: HOUR_MS }).catch(() => 0);
      if (count > INVITATIONS_PER_HOUR_MAX) return false;
      const name = groupName.replaceAll(/\s+/g, ' ');
      return send({
        to: email,
        subject: 'An invitation to a group',
        text: `You are invited to the group "${name}" of Model Gateway at ${publicUrl}\n\nSign in with this email address and accept the invitation ${token}\n\nIt is valid until ${expiresAt.toISOString()}. If you do not know the group, ignore this mail.\n`,
      });
    },
  };
}
