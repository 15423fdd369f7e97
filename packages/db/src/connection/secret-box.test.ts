import { randomBytes } from 'node:crypto';
import { createSecretBox } from './secret-box.ts';

const newKey = () => randomBytes(32).toString('base64');

describe('a secret box', () => {
  const box = createSecretBox(newKey());

  it.each(['', 'sk-1', 'schlüssel 🔑', 'x'.repeat(10_000)])(
    'opens what it sealed: %#',
    (secret) => {
      expect(box.open(box.seal(secret, 'a'), 'a')).toBe(secret);
    },
  );

  it('seals the same secret differently every time', () => {
    expect(box.seal('sk-1', 'a')).not.toBe(box.seal('sk-1', 'a'));
  });

  it('does not open what another key sealed, what was sealed for another place, or what was changed', () => {
    const sealed = box.seal('sk-1', 'a');
    expect(() => createSecretBox(newKey()).open(sealed, 'a')).toThrow();
    expect(() => box.open(sealed, 'b')).toThrow();
    const bytes = Buffer.from(sealed.slice(3), 'base64url');
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
    expect(() => box.open(`v1.${bytes.toString('base64url')}`, 'a')).toThrow();
    expect(() => box.open('v1.AAAA', 'a')).toThrow();
    expect(() => box.open(sealed.replace('v1.', 'v2.'), 'a')).toThrow('unknown version');
  });

  it.each(['', 'short', randomBytes(31).toString('base64'), `${newKey()}!`])(
    'refuses a key that is not 32 bytes: %#',
    (key) => {
      expect(() => createSecretBox(key)).toThrow('32 bytes in base64');
    },
  );
});
