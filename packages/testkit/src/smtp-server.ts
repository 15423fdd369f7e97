import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { SMTPServer } from 'smtp-server';

/** A mail as the server got it. */
export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Headers and text. */
  readonly text: string;
}

/** A real SMTP server on loopback that asks for a user and a password. */
export interface TestSmtpServer {
  readonly url: string;
  readonly mails: readonly ReceivedMail[];
  close(): Promise<void>;
}

const USER = 'mailer';
const PASSWORD = 'secret';

interface SmtpServerOptions {
  /** Accepts connections and says nothing. */
  readonly isSilent?: boolean;
}

export async function startSmtpServer(options: SmtpServerOptions = {}): Promise<TestSmtpServer> {
  return options.isSilent === true ? startSilentServer() : startRealServer();
}

async function startRealServer(): Promise<TestSmtpServer> {
  const mails: ReceivedMail[] = [];
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    disableReverseLookup: true,
    onAuth({ username, password }, _session, done) {
      if (username === USER && password === PASSWORD) done(null, { user: USER });
      else done(new Error('wrong password'));
    },
    onRcptTo({ address }, _session, done) {
      if (address.startsWith('refused@')) done(new Error('no such mailbox'));
      else done();
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.once('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          text: Buffer.concat(chunks).toString('utf8'),
        });
        done();
      });
    },
  });
  server.on('error', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  return {
    url: `smtp://${USER}:${PASSWORD}@127.0.0.1:${portOf(server.server.address())}`,
    mails,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

async function startSilentServer(): Promise<TestSmtpServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `smtp://127.0.0.1:${portOf(server.address())}`,
    mails: [],
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

const portOf = (address: AddressInfo | string | null): number =>
  address === null || typeof address === 'string' ? 0 : address.port;
