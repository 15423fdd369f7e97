/** Makes calls; one with the same name as a call that is under way gets the result of that one. */
export type SharedCall = <Result>(name: string, call: () => Promise<Result>) => Promise<Result>;

/** Two clicks before the page is drawn again would otherwise create two of something. */
export function sharedCall(): SharedCall {
  const underWay = new Map<string, Promise<unknown>>();
  return <Result>(name: string, call: () => Promise<Result>): Promise<Result> => {
    const known = underWay.get(name) as Promise<Result> | undefined;
    if (known !== undefined) return known;
    const made = call().finally(() => underWay.delete(name));
    underWay.set(name, made);
    return made;
  };
}
