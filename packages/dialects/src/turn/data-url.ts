const BASE64 = ';base64,';

/** The media type and the base64 of a data URL; undefined for anything else. */
export function dataUrl(
  url: string,
): { readonly type: 'data'; readonly mediaType: string; readonly data: string } | undefined {
  if (!url.startsWith('data:')) return undefined;
  const at = url.indexOf(BASE64);
  if (at === -1) return undefined;
  const [mediaType = ''] = url.slice('data:'.length, at).split(';');
  return { type: 'data', mediaType, data: url.slice(at + BASE64.length) };
}
