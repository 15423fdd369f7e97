interface Page {
  readonly has_more: boolean;
  readonly after: string | null;
}

/** Every page of a list whose answers say where the next one begins. */
export async function allPages<Answer extends Page>(
  read: (after: string | null) => Promise<Answer>,
): Promise<readonly [Answer, ...Answer[]]> {
  const first = await read(null);
  const pages: [Answer, ...Answer[]] = [first];
  for (let last = first; last.has_more && last.after !== null;) {
    last = await read(last.after);
    pages.push(last);
  }
  return pages;
}
