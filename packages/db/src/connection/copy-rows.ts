import type { ClientBase, Connection } from 'pg';

/** The part of a connection that sends the data of COPY; the types of the driver do not have it. */
interface CopyConnection {
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

/** Runs `COPY … FROM STDIN` with these rows, in its text format. The driver has no call for it, but takes other queries. */
export function copyRows(client: ClientBase, statement: string, rows: string): Promise<void> {
  return new Promise((resolve, reject) => {
    client.query({
      submit: (connection: Connection) => connection.query(statement),
      handleCopyInResponse(connection: CopyConnection) {
        connection.sendCopyFromChunk(Buffer.from(rows));
        connection.endCopyFrom();
      },
      handleCommandComplete: () => undefined,
      handleError(error: unknown) {
        this.callback(error);
      },
      handleReadyForQuery() {
        this.callback(undefined);
      },
      /** The driver replaces it by one that also ends its time limit. */
      callback(error: unknown) {
        if (error === undefined) resolve();
        else reject(error instanceof Error ? error : new Error('COPY failed', { cause: error }));
      },
    });
  });
}

const NULL = String.raw`\N`;
const SPECIAL = /[\\\t\n\r]/;
const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': String.raw`\t`,
  '\n': String.raw`\n`,
  '\r': String.raw`\r`,
};

/** A value in the text format of COPY. */
export function copyText(value: string | number | boolean | null | undefined): string {
  if (value === null || value === undefined) return NULL;
  if (typeof value !== 'string') return String(value);
  return SPECIAL.test(value)
    ? value.replaceAll(/[\\\t\n\r]/g, (character) => ESCAPES[character] ?? character)
    : value;
}
