import { randomUUID } from 'node:crypto';

/** A text field of a form. */
export interface FormField {
  readonly name: string;
  readonly value: string;
}

/** What a form says about a file. */
export interface FormFile {
  readonly field: string;
  readonly filename: string;
  readonly contentType: string;
}

/** Writes the parts of a multipart form. */
export interface FormParts {
  readonly contentType: string;
  fields(fields: readonly FormField[]): Buffer;
  /** What comes before the bytes of a file; `END_OF_FILE` comes after them. */
  fileHead(file: FormFile): Buffer;
  readonly end: Buffer;
}

export const END_OF_FILE = Buffer.from('\r\n');

export function createFormParts(): FormParts {
  const boundary = `form-${randomUUID()}`;
  const head = (name: string, more = ''): string =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${quoted(name)}"${more}\r\n`;
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    fields: (fields) =>
      Buffer.from(fields.map(({ name, value }) => `${head(name)}\r\n${value}\r\n`).join('')),
    fileHead: ({ field, filename, contentType }) =>
      Buffer.from(
        `${head(field, `; filename="${quoted(filename)}"`)}content-type: ${contentType}\r\n\r\n`,
      ),
    end: Buffer.from(`--${boundary}--\r\n`),
  };
}

/** Escapes a name as browsers do. */
const quoted = (text: string): string =>
  text.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
