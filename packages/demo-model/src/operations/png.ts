import { createHash } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';

const CELLS = 8;
const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

/** A PNG file with a pattern of two colors that depends only on the text. */
export function pngOf(text: string, width: number, height: number): Buffer {
  const hash = createHash('sha256').update(text).digest();
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // One bit for each pixel, which selects a color of the palette.
  header.set([1, 3, 0, 0, 0], 8);
  const palette = Buffer.concat([hash.subarray(0, 3), Buffer.from([250, 250, 250])]);
  return Buffer.concat([
    SIGNATURE,
    chunkOf('IHDR', header),
    chunkOf('PLTE', palette),
    chunkOf('IDAT', deflateSync(pixels(hash.subarray(8), width, height), { level: 1 })),
    chunkOf('IEND', Buffer.alloc(0)),
  ]);
}

/** Rows of bits, each after a byte that says that it is not filtered. The left half mirrors the right one. */
function pixels(cells: Buffer, width: number, height: number): Buffer {
  const rowBytes = 1 + Math.ceil(width / 8);
  const rows = Array.from({ length: CELLS }, (_, cellY) => {
    const row = Buffer.alloc(rowBytes);
    for (let x = 0; x < width; x += 1) {
      const cellX = Math.floor((x * CELLS) / width);
      const isSet = ((cells[cellY] ?? 0) >> Math.min(cellX, CELLS - 1 - cellX)) & 1;
      if (isSet === 1) row[1 + (x >> 3)] = (row[1 + (x >> 3)] ?? 0) | (0x80 >> (x & 7));
    }
    return row;
  });
  const image = Buffer.alloc(rowBytes * height);
  for (let y = 0; y < height; y += 1) {
    const row = rows[Math.floor((y * CELLS) / height)];
    if (row !== undefined) image.set(row, y * rowBytes);
  }
  return image;
}

function chunkOf(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(data.length, 0);
  chunk.set(body, 4);
  chunk.writeUInt32BE(crc32(body), body.length + 4);
  return chunk;
}
