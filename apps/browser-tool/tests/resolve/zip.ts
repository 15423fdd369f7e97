import { crc32, deflateRawSync } from 'node:zlib';

const FILE_MODE = 0o100644;
const PROGRAM_MODE = 0o100755;
const LINK_MODE = 0o120777;

/** An entry of an archive; its name is written as it is, however harmful. */
export interface ZipEntry {
  readonly name: string;
  readonly content?: string | Buffer;
  readonly kind?: 'file' | 'program' | 'link';
}

/** Makes an archive in memory. */
export function makeZip(entries: readonly ZipEntry[]): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content = '', kind = 'file' } of entries) {
    const bytes = Buffer.from(content);
    const packed = deflateRawSync(bytes);
    const mode = { file: FILE_MODE, program: PROGRAM_MODE, link: LINK_MODE }[kind];
    const title = Buffer.from(name);
    // Version, flags, method, time, date, checksum, sizes and the length of the name are the same in both headers.
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(8, 4);
    facts.writeUInt32LE(crc32(bytes), 10);
    facts.writeUInt32LE(packed.length, 14);
    facts.writeUInt32LE(bytes.length, 18);
    facts.writeUInt16LE(title.length, 22);
    const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), facts, title, packed]);
    const ending = Buffer.alloc(14);
    ending.writeUInt32LE((mode << 16) >>> 0, 6);
    ending.writeUInt32LE(offset, 10);
    const madeByUnix = Buffer.from([20, 3]);
    directory.push(
      Buffer.concat([Buffer.from('PK\u0001\u0002'), madeByUnix, facts, ending, title]),
    );
    locals.push(local);
    offset += local.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006', 'latin1');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, listed, end]);
}

/** The archive of a browser that only prints its version. */
export function makeBrowserZip(platform: string, version: string): Buffer {
  const folder = `chrome-headless-shell-${platform}`;
  return makeZip([
    { name: `${folder}/` },
    {
      name: `${folder}/chrome-headless-shell`,
      content: `#!/bin/sh\necho 'Chrome for Testing ${version}'\n`,
      kind: 'program',
    },
    { name: `${folder}/locales/en.pak`, content: 'words' },
  ]);
}
