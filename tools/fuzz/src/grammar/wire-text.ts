import * as fc from 'fast-check';

/** What is sent: text, or bytes that are not valid UTF-8. Both can be kept in a JSON file. */
export type WireText = { readonly text: string } | { readonly base64: string };

/** The bytes, with `{{name}}` replaced by the value of the scene. */
export function bytesOf(wire: WireText, values: Readonly<Record<string, string>> = {}): Buffer {
  const bytes = 'text' in wire ? Buffer.from(wire.text) : Buffer.from(wire.base64, 'base64');
  const filled = bytes
    .toString('latin1')
    .replaceAll(/\{\{(\w+)\}\}/g, (whole, name: string) => values[name] ?? whole);
  return Buffer.from(filled, 'latin1');
}

/** Bytes in the form that is easiest to read. */
function wireOf(bytes: Buffer): WireText {
  const text = bytes.toString('utf8');
  return Buffer.from(text).equals(bytes) ? { text } : { base64: bytes.toString('base64') };
}

const BROKEN_BYTES = ['ff', 'c0af', 'eda080', 'f8808080', 'e282', '00', 'efbbbf', '0d0a', '0a0a'];

const filler = fc.oneof(
  fc.constantFrom(...BROKEN_BYTES).map((hex) => Buffer.from(hex, 'hex')),
  fc.string({ maxLength: 4 }).map((text) => Buffer.from(text)),
  fc.constant(Buffer.alloc(0)),
);

/** Cut off, or with a part removed, repeated or replaced. */
const byteChange = fc.record({
  kind: fc.constantFrom('replace', 'replace', 'repeat', 'cut'),
  at: fc.nat(100_000),
  length: fc.nat(8),
  filler,
});

interface ByteChange {
  readonly kind: string;
  readonly at: number;
  readonly length: number;
  readonly filler: Buffer;
}

function changeBytes(bytes: Buffer, change: ByteChange): Buffer {
  const from = change.at % (bytes.length + 1);
  const before = bytes.subarray(0, from);
  if (change.kind === 'cut') return before;
  const part = bytes.subarray(from, from + change.length);
  const middle = change.kind === 'repeat' ? [part, part] : [change.filler];
  return Buffer.concat([before, ...middle, bytes.subarray(from + change.length)]);
}

/** Mostly the text; sometimes with changes to its bytes. */
export function onTheWire(text: fc.Arbitrary<string>): fc.Arbitrary<WireText> {
  return fc
    .tuple(
      text,
      fc.oneof(
        { weight: 3, arbitrary: fc.constant([]) },
        { weight: 1, arbitrary: fc.array(byteChange, { minLength: 1, maxLength: 3 }) },
      ),
    )
    .map(([whole, changes]) => wireOf(changes.reduce(changeBytes, Buffer.from(whole))));
}

/** Where a message is cut into pieces. */
export const cuts: fc.Arbitrary<readonly number[]> = fc.oneof(
  { weight: 3, arbitrary: fc.constant([]) },
  { weight: 1, arbitrary: fc.array(fc.nat(2000), { maxLength: 6 }) },
);

/** The pieces of a message, none of them empty. */
export function cutAt(bytes: Buffer, positions: readonly number[]): readonly Buffer[] {
  const bounds = [0, ...positions.map((at) => at % (bytes.length + 1)), bytes.length].toSorted(
    (a, b) => a - b,
  );
  return bounds
    .slice(1)
    .map((end, index) => bytes.subarray(bounds[index], end))
    .filter((piece) => piece.length > 0);
}
