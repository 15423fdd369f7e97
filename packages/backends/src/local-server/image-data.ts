import { ServiceError } from '@model-gateway/contracts';
import { z } from 'zod';
import { cannotSend } from '../errors/cannot-send.ts';

const imageSchema = z.union([
  z.string(),
  z.looseObject({ data: z.string() }).transform(({ data }) => data),
  z.looseObject({ data_base64: z.string() }).transform(({ data_base64 }) => data_base64),
  z
    .looseObject({ image_url: z.looseObject({ url: z.string() }) })
    .transform(({ image_url }) => image_url.url),
]);

const DATA_URL = /^data:[^,]*;base64,/i;
const REMOTE_URL = /^[a-z][a-z0-9+.-]*:/i;

/** The bare base64 of an image in any accepted form: base64, a data URL, or an object with either in it; `where` is its field. */
export function imageData(image: unknown, where: string): string {
  const { data } = imageSchema.safeParse(image);
  if (data === undefined) {
    throw new ServiceError(
      'invalid_request',
      `${where}: an image must be base64, a data URL, or an object with data_base64`,
    );
  }
  const base64 = data.replace(DATA_URL, '');
  // The gateway fetches nothing on behalf of a client, and neither do these servers.
  if (REMOTE_URL.test(base64)) {
    throw cannotSend('local-server', where, 'take images as base64 data URLs only');
  }
  return base64;
}
