import { createSession, type Session } from './session.ts';

const SIGNED_IN = {
  access_token: 'access',
  expires_in: 900,
  user: { id: '1', email: 'ann@example.com', name: 'Ann', is_admin: false },
};

const refusal = (): Response =>
  Response.json(
    { error: { message: 'there is no session: sign in', code: 'unauthorized' } },
    { status: 401 },
  );

/** A session with a service that answers in this order. */
function sessionWith(...answers: readonly Response[]): Session {
  const left = [...answers];
  return createSession(async () => left.shift() ?? Response.error());
}

test('someone who opens the page without a session is not told that one has ended', async () => {
  const session = sessionWith(refusal());
  expect(await session.restore()).toEqual({ status: 'signed-out', hasEnded: false });
});

test('a session that loses its cookie while the page is open has ended', async () => {
  const session = sessionWith(Response.json(SIGNED_IN), refusal());
  expect(await session.restore()).toMatchObject({ status: 'signed-in' });
  expect(await session.renew()).toBeUndefined();
  expect(session.getState()).toEqual({ status: 'signed-out', hasEnded: true });
});

test('a page does not go on with the session of another account, and learns whose it is', async () => {
  const other = { ...SIGNED_IN, user: { ...SIGNED_IN.user, id: '2', email: 'bob@example.com' } };
  const session = sessionWith(Response.json(SIGNED_IN), Response.json(other));
  await session.restore();
  await expect(session.renew()).rejects.toThrow('another account is signed in');
  expect(session.getState()).toMatchObject({ status: 'signed-in', user: { id: '2' } });
});

test('who signs out knows that the session is over', async () => {
  const session = sessionWith(Response.json(SIGNED_IN), Response.json({ ok: true }));
  await session.restore();
  await session.signOut();
  expect(session.getState()).toEqual({ status: 'signed-out', hasEnded: false });
});

test('signing out ends the session of the other pages too', async () => {
  const listeners: (() => void)[] = [];
  const openPage = (...answers: Response[]): Session =>
    createSession(async () => answers.shift() ?? Response.error(), undefined, {
      announce: () => listeners[1]?.(),
      onAnnounced: (listener) => void listeners.push(listener),
    });
  const first = openPage(Response.json(SIGNED_IN), Response.json({ ok: true }));
  const second = openPage(Response.json(SIGNED_IN));
  await Promise.all([first.restore(), second.restore()]);
  await first.signOut();
  expect(second.getState()).toEqual({ status: 'signed-out', hasEnded: true });
});
