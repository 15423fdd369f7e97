import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createUploadFiles, type UploadFile } from './upload-files.ts';

let folder = '';
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'model-gateway-uploads-')), 'uploads');
});
afterEach(() => rm(join(folder, '..'), { recursive: true, force: true }));

async function textOf(file: UploadFile): Promise<string> {
  let text = '';
  for await (const chunk of file.read()) text += chunk.toString();
  return text;
}

test('a file can be read any number of times, and has no name', async () => {
  const file = await createUploadFiles({ folder, bytesMax: 1_000_000 }).create('ann');
  await file.write(Buffer.from('first '));
  await file.write(Buffer.alloc(200_000, 'a'));
  expect(file.bytes).toBe(200_006);
  expect(await textOf(file)).toBe(`first ${'a'.repeat(200_000)}`);
  expect(await textOf(file)).toHaveLength(200_006);
  expect(await readdir(folder)).toEqual([]);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  await file.close();
  await file.close();
});

test('all files together have a limit, which ends with them', async () => {
  const files = createUploadFiles({ folder, bytesMax: 10 });
  const [first, second] = [await files.create('ann'), await files.create('bob')];
  await first.write(Buffer.from('123456'));
  await expect(second.write(Buffer.from('12345'))).rejects.toMatchObject({
    code: 'rate_limit_exceeded',
    details: { retry_after_secs: 5 },
  });
  await second.write(Buffer.from('1234'));
  await first.close();
  await second.write(Buffer.from('123456'));
  expect(await textOf(second)).toBe('1234123456');
  await second.close();
  const third = await files.create('ann');
  await third.write(Buffer.from('1234567890'));
  await third.close();
});

test('the files of one owner leave room for those of others, however many there are', async () => {
  const files = createUploadFiles({ folder, bytesMax: 100 });
  const opened: UploadFile[] = [];
  const write = async (owner: string, bytes: number): Promise<void> => {
    const file = await files.create(owner);
    opened.push(file);
    await file.write(Buffer.alloc(bytes));
  };
  await write('ann', 20);
  await write('ann', 20);
  await expect(write('ann', 20)).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
  await write('bob', 50);
  await expect(write('cid', 11)).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
  await write('cid', 10);
  for (const file of opened) await file.close();
  await write('ann', 100);
  await opened.at(-1)?.close();
});
