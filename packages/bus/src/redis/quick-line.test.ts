import { commandText, createReplyReader, RedisRefusal } from './quick-line.ts';

const bytesOf = (text: string): string => Buffer.from(text).toString('latin1');

/** What is read when the bytes come in pieces of so many. */
function read(text: string, pieceBytes = Infinity): unknown[] {
  const replies: unknown[] = [];
  const reader = createReplyReader((reply) => replies.push(reply));
  const bytes = bytesOf(text);
  const step = Math.min(pieceBytes, bytes.length);
  for (let at = 0; at < bytes.length; at += step) reader.read(bytes.slice(at, at + step));
  return replies;
}

const EVERYTHING =
  '+OK\r\n:42\r\n:-7\r\n$5\r\nhello\r\n$0\r\n\r\n$-1\r\n*-1\r\n*0\r\n' +
  '$8\r\nlines\r\n!\r\n$11\r\nzweimäßig\r\n' +
  '*3\r\n$3\r\n日\r\n*2\r\n:1\r\n$-1\r\n-ERR not this one\r\n+done\r\n';

const READ: readonly unknown[] = [
  'OK',
  42,
  -7,
  'hello',
  '',
  null,
  null,
  [],
  'lines\r\n!',
  'zweimäßig',
  ['日', [1, null], new RedisRefusal('ERR not this one')],
  'done',
];

test.each([Infinity, 1, 2, 3, 5, 7, 11, 64])('answers that come %s bytes at a time', (pieces) => {
  expect(read(EVERYTHING, pieces)).toEqual(READ);
});

test('a refusal is distinguished from a reply with the same text', () => {
  const [refusal, status] = read('-NOSCRIPT No matching script.\r\n+NOSCRIPT\r\n');
  expect(refusal).toBeInstanceOf(RedisRefusal);
  expect(refusal).toMatchObject({ message: 'NOSCRIPT No matching script.' });
  expect(status).toBe('NOSCRIPT');
});

test('what is no answer of Redis is not taken for one', () => {
  expect(() => read('HTTP/1.1 400 Bad Request\r\n\r\n')).toThrow('another protocol');
});

test('a command says how many bytes each of its values has', () => {
  expect(commandText('set', ['k', ''])).toBe('*3\r\n$3\r\nset\r\n$1\r\nk\r\n$0\r\n\r\n');
  expect(commandText('set', ['schlüssel', '日'])).toBe(
    '*3\r\n$3\r\nset\r\n$10\r\nschlüssel\r\n$3\r\n日\r\n',
  );
});
