import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A certificate for `localhost` and 127.0.0.1, and the authority that signed it, as files of one folder. */
export interface TestCertificates {
  readonly ca: string;
  /** For `NODE_EXTRA_CA_CERTS`. */
  readonly caFile: string;
  readonly keyFile: string;
  readonly certificateFile: string;
}

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

export async function makeCertificates(folder: string): Promise<TestCertificates> {
  const run = promisify(execFile);
  const openssl = (command: string, ...flags: readonly string[]) =>
    run('openssl', [command, ...flags], { cwd: folder });
  const output = (name: string) => ['-keyout', `${name}.key`, '-out'];
  await openssl('req', '-x509', ...KEY, ...output('ca'), 'ca.pem', '-subj', '/CN=test-ca');
  await openssl('req', ...KEY, ...output('server'), 'server.csr', '-subj', '/CN=localhost');
  await writeFile(join(folder, 'names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1');
  const signing = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'names'];
  await openssl('x509', '-req', '-in', 'server.csr', ...signing, '-out', 'server.pem');
  const caFile = join(folder, 'ca.pem');
  return {
    ca: await readFile(caFile, 'utf8'),
    caFile,
    keyFile: join(folder, 'server.key'),
    certificateFile: join(folder, 'server.pem'),
  };
}
