import type { UrlCitation } from '@model-gateway/contracts';
import { textOf } from '../fields.ts';

/** A citation of a text block that names a page; those of the user's own documents have no address. */
export function urlCitation(
  citation: unknown,
  span: Pick<UrlCitation, 'start' | 'end'>,
): readonly UrlCitation[] {
  const url = textOf(citation, 'url') ?? textOf(citation, 'source');
  if (url === undefined || !/^https?:/i.test(url)) return [];
  return [{ url, title: textOf(citation, 'title') ?? '', ...span }];
}
