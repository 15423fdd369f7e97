import { createTestDatabase } from '@model-gateway/testkit';
import { rejectUsage, runRejectedUsage } from './rejected-usage-program.ts';

test('the program of the image works on the database of DATABASE_URL', async () => {
  const database = await createTestDatabase();
  const env = { DATABASE_URL: database.url };
  const id = await rejectUsage(database.url);
  expect(await runRejectedUsage('video-worker', ['delete', id], env)).toEqual({
    code: 0,
    output: expect.stringMatching(/ deleted\n$/),
  });
  expect(await runRejectedUsage('video-worker', [], {})).toMatchObject({
    code: 1,
    output: expect.stringContaining('DATABASE_URL'),
  });
  await database.drop();
});
