/** The size of an image in pixels, and its file format. */
interface ImageSize {
  readonly format: string;
  readonly width: number;
  readonly height: number;
}

/** The size of a JPEG stands after its preview, which can be large. */
const HEAD_BASE64_MAX = 512 * 1024;
const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)?(?:;[\w=.+-]+)*,/;

/** What is known of an image: its format and size for a data URL or base64, `a link` for other URLs. */
export function describeImage(source: string): string {
  const head = source.slice(0, 256);
  if (/^https?:/i.test(head)) return 'a link';
  const [prefix = '', type] = DATA_URL.exec(head) ?? [];
  const encoded = source.slice(prefix.length, prefix.length + HEAD_BASE64_MAX);
  const size = imageSize(Buffer.from(encoded, 'base64'));
  if (size !== undefined) return `${size.format}, ${size.width}×${size.height} pixels`;
  return type === undefined ? '' : `${type}, whose size cannot be read`;
}

/** Reads the header of a PNG, JPEG, GIF or WebP file. */
export function imageSize(bytes: Buffer): ImageSize | undefined {
  if (startsWith(bytes, '\x89PNG\r\n\x1a\n') && bytes.length >= 24)
    return { format: 'PNG', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  if ((startsWith(bytes, 'GIF87a') || startsWith(bytes, 'GIF89a')) && bytes.length >= 10)
    return { format: 'GIF', width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
  if (startsWith(bytes, 'RIFF') && startsWith(bytes.subarray(8), 'WEBP')) return webpSize(bytes);
  return startsWith(bytes, '\xff\xd8') ? jpegSize(bytes) : undefined;
}

const startsWith = (bytes: Buffer, text: string): boolean =>
  bytes.subarray(0, text.length).toString('latin1') === text;

/** The three forms of WebP: lossy, lossless, and extended. */
function webpSize(bytes: Buffer): ImageSize | undefined {
  if (bytes.length < 30) return undefined;
  const format = 'WebP';
  switch (bytes.subarray(12, 16).toString('latin1')) {
    case 'VP8 ':
      return {
        format,
        width: bytes.readUInt16LE(26) & 0x3fff,
        height: bytes.readUInt16LE(28) & 0x3fff,
      };
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21);
      return { format, width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return { format, width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    default:
      return undefined;
  }
}

/** Follows the segments of a JPEG to the one that starts a frame. */
function jpegSize(bytes: Buffer): ImageSize | undefined {
  let at = 2;
  while (at + 9 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    // C4, C8 and CC are tables, not frames.
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame)
      return {
        format: 'JPEG',
        width: bytes.readUInt16BE(at + 7),
        height: bytes.readUInt16BE(at + 5),
      };
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}
