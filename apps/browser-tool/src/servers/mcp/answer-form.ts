const JSON_TYPE = 'application/json';
const STREAM_TYPE = 'text/event-stream';
const BOTH = `${JSON_TYPE}, ${STREAM_TYPE}`;

/** How the answers of a session are sent: as an event stream, or as one JSON document. */
export type AnswerForm = 'stream' | 'json';

/** The form that a client asks for with the Accept header of its first request. */
export function answerForm(accept: string | undefined): AnswerForm {
  const listsStream = mediaTypes(accept).includes(STREAM_TYPE);
  return !listsStream && accepts(accept, JSON_TYPE) ? 'json' : 'stream';
}

/**
 * The Accept header for the transport. The transport wants both types by name; clients such as curl send a wildcard, or only the
 * type that they get.
 */
export function transportAccept(accept: string | undefined, form: AnswerForm): string {
  const isAccepted = accepts(accept, form === 'json' ? JSON_TYPE : STREAM_TYPE);
  return isAccepted ? BOTH : (accept ?? '');
}

function accepts(accept: string | undefined, type: string): boolean {
  const types = mediaTypes(accept);
  const family = `${type.split('/')[0]}/*`;
  return types.length === 0 || [type, family, '*/*'].some((each) => types.includes(each));
}

/** The media types of a header, without their parameters. */
function mediaTypes(accept = ''): readonly string[] {
  return accept
    .split(',')
    .map((each) => (each.split(';')[0] ?? '').trim().toLowerCase())
    .filter((each) => each !== '');
}
