/** A field that cannot be translated. It becomes a problem of the request with this path. */
export class FieldProblem extends Error {
  readonly path: readonly (string | number)[];

  constructor(path: readonly (string | number)[], message: string) {
    super(message);
    this.path = path;
  }
}

/** Where a value is in the request. */
export type Path = readonly (string | number)[];
