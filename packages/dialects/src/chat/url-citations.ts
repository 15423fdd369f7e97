import type { UrlCitation } from '@model-gateway/contracts';
import { countField, fieldOf, listField, textField } from '../turn/fields.ts';

const TYPE = 'url_citation';
const NONE: readonly UrlCitation[] = [];

/** The citations of a chat message or delta, in its `annotations`. */
export function citationsOf(message: unknown): readonly UrlCitation[] {
  const annotations = listField(message, 'annotations');
  // This runs for each token.
  if (annotations.length === 0) return NONE;
  return annotations.flatMap((annotation) => {
    const cited = fieldOf(annotation, TYPE);
    const url = textField(cited, 'url');
    if (url === undefined) return [];
    const start = countField(cited, 'start_index') ?? 0;
    const end = countField(cited, 'end_index') ?? start;
    return [{ url, title: textField(cited, 'title') ?? '', start, end }];
  });
}

/** The same citations as a field of a chat message or delta. */
export function citationFields(
  citations: readonly UrlCitation[],
): Readonly<Record<string, unknown>> {
  if (citations.length === 0) return {};
  const annotations = citations.map(({ url, title, start, end }) => ({
    type: TYPE,
    [TYPE]: { url, title, start_index: start, end_index: end },
  }));
  return { annotations };
}

/** A citation as an annotation of the Responses API. */
export const annotationOf = ({ url, title, start, end }: UrlCitation) => ({
  type: TYPE,
  start_index: start,
  end_index: end,
  url,
  title,
});
