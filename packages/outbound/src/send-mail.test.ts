import { startSmtpServer, type TestSmtpServer } from '@model-gateway/testkit';
import { createSendMail } from './send-mail.ts';

let smtp: TestSmtpServer;
beforeAll(async () => {
  smtp = await startSmtpServer();
});
afterAll(() => smtp.close());

test('a mail arrives with its sender, subject and text', async () => {
  const send = createSendMail({ smtpUrl: smtp.url, from: 'Gateway <gateway@example.com>' });
  await send({ to: 'ann@example.com', subject: 'Budget', text: 'Half of it is spent.' });
  const [mail] = smtp.mails;
  expect(mail).toMatchObject({ from: 'gateway@example.com', to: ['ann@example.com'] });
  expect(mail?.text).toMatch(/^Subject: Budget\r$/m);
  expect(mail?.text).toMatch(/^From: Gateway <gateway@example.com>\r$/m);
  expect(mail?.text).toContain('Half of it is spent.');
});

test('a subject cannot add a header', async () => {
  const send = createSendMail({ smtpUrl: smtp.url, from: undefined });
  await send({ to: 'bob@example.com', subject: 'a\r\nBcc: eve@example.com', text: '' });
  const mail = smtp.mails.at(-1);
  expect(mail?.to).toEqual(['bob@example.com']);
  expect(mail?.text).not.toMatch(/^Bcc:/m);
});

test('a refused recipient, a wrong password and a missing server reject', async () => {
  const sendOver = (smtpUrl: string, to = 'ann@example.com') =>
    createSendMail({ smtpUrl, from: undefined })({ to, subject: 's', text: 't' });
  await expect(sendOver(smtp.url, 'refused@example.com')).rejects.toThrow();
  await expect(sendOver(smtp.url.replace('secret', 'wrong'))).rejects.toThrow();
  await expect(sendOver('smtp://127.0.0.1:1')).rejects.toThrow('ECONNREFUSED');
});

test('a server that does not greet is given up', async () => {
  const silent = await startSmtpServer({ isSilent: true });
  const send = createSendMail({ smtpUrl: silent.url, from: undefined, timeoutMs: 50 });
  await expect(send({ to: 'ann@example.com', subject: 's', text: 't' })).rejects.toThrow();
  await silent.close();
});
