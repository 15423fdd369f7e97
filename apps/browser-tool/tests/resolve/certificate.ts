import { createSign, generateKeyPairSync, randomBytes } from 'node:crypto';

const DAY_MS = 24 * 60 * 60 * 1000;
const SEQUENCE = 0x30;
const SET = 0x31;
const OBJECT_ID = 0x06;
const OCTETS = 0x04;
const BITS = 0x03;
const INTEGER = 0x02;
const BOOLEAN = 0x01;
const UTF8 = 0x0c;
const UTC_TIME = 0x17;
const CONTEXT_0 = 0xa0;
const CONTEXT_3 = 0xa3;
const DNS_NAME = 0x82;
const IP_ADDRESS = 0x87;

/** A key and a certificate for this machine, signed by itself, both as PEM. */
export interface Certificate {
  readonly key: string;
  readonly certificate: string;
}

/** Makes one that lasts for a day; Node itself only reads certificates. */
export function makeCertificate(): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = der(SEQUENCE, oid('2a8648ce3d040302'));
  const name = der(SEQUENCE, der(SET, der(SEQUENCE, oid('550403'), der(UTF8, 'a little server'))));
  const now = Date.now();
  const validity = der(
    SEQUENCE,
    der(UTC_TIME, utcTime(now - DAY_MS)),
    der(UTC_TIME, utcTime(now + DAY_MS)),
  );
  const names = der(
    SEQUENCE,
    der(IP_ADDRESS, Buffer.from([127, 0, 0, 1])),
    der(DNS_NAME, 'localhost'),
    der(DNS_NAME, 'mirror.test'),
  );
  const isAuthority = der(SEQUENCE, der(BOOLEAN, Buffer.from([0xff])));
  const extensions = der(
    SEQUENCE,
    der(SEQUENCE, oid('551d13'), der(BOOLEAN, Buffer.from([0xff])), der(OCTETS, isAuthority)),
    der(SEQUENCE, oid('551d11'), der(OCTETS, names)),
  );
  const content = der(
    SEQUENCE,
    der(CONTEXT_0, der(INTEGER, Buffer.from([2]))),
    der(INTEGER, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(CONTEXT_3, extensions),
  );
  const signature = createSign('sha256').update(content).sign(privateKey);
  const whole = der(SEQUENCE, content, algorithm, der(BITS, Buffer.from([0]), signature));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    certificate: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join(
      '\n',
    ),
  };
}

function der(tag: number, ...parts: ReadonlyArray<Buffer | string>): Buffer {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const { length } = body;
  const size =
    length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}

function oid(hex: string): Buffer {
  return der(OBJECT_ID, Buffer.from(hex, 'hex'));
}

function utcTime(time: number): string {
  return `${new Date(time).toISOString().replaceAll(/[-:T]/g, '').slice(2, 14)}Z`;
}
