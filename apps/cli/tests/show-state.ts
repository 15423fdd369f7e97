import type { CommandLine } from './command-line.ts';

interface SignedIn {
  readonly url: string;
  readonly email: string;
}

/** Shows who is signed in and what runs, and understands other words for commands. */
export async function showState(gateway: CommandLine, { url, email }: SignedIn): Promise<void> {
  expect((await gateway.runHere(['whoami'])).stdout).toBe(
    `${email}, an admin, on the tier enterprise, at ${url}\n`,
  );
  expect((await gateway.runHere(['status'])).stdout).toMatch(
    /^Service +http\S+, version .*\nHealth +ok, postgres ok, redis ok\nModels .*\nRequests .*\n$/,
  );
  expect(await gateway.json(['status'])).toMatchObject({ health: { status: 'ok' } });
  expect((await gateway.runHere(['usage', 'skip'])).stdout).toBe(
    'No event is in the way: usage is recorded.\n',
  );
  expect(await gateway.runHere(['usage', 'skip', 'unknown'])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('no recorder waits at this usage event'),
  });
  const group = { name: 'of the command line' };
  const created = await gateway.json(['rpc', 'group.create', JSON.stringify(group)]);
  expect(created).toMatchObject({ result: group });
  expect(JSON.parse((await gateway.runHere(['rpc', 'group.list'])).stdout)).toMatchObject([group]);
  expect(await gateway.json(['rpc', '--admin', 'webhooks.list', '{}'])).toMatchObject({
    result: expect.anything(),
  });
  expect(await gateway.runHere(['rpc', 'group.none'])).toMatchObject({
    status: 5,
    stderr: expect.stringContaining(`listed at ${url}/docs/rpc`),
  });
  expect(await gateway.runHere(['rpc', 'group.list', '[]'])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('params must be a JSON object'),
  });
  expect(await gateway.runHere(['register'])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('Did you mean gateway login --register?'),
  });
}

/** The models that answer come first; suggestions are marked. */
export async function listModels(gateway: CommandLine): Promise<void> {
  const suggested = Array.from({ length: 6 }, () => ({ status: 'suggested' }));
  expect(await gateway.json(['models'])).toMatchObject({
    models: [{ id: 'gpt-4o-mini' }, ...suggested],
  });
  expect((await gateway.runHere(['models'])).stdout).toMatch(
    /^MODEL .*\ngpt-4o-mini +ready .*\n\S+ +not served /,
  );
}
