import * as fc from 'fast-check';
import { formBody, formType } from '../grammar/form-body.ts';
import { onTheWire } from '../grammar/wire-text.ts';
import type { ServiceScene, Target } from '../target.ts';
import { checkCase, httpCases, sendCase, withCredential, type HttpCase } from './http-case.ts';

/** Forms with a file, which pass to an upstream while they arrive. */
export const uploads: Target<HttpCase, ServiceScene> = {
  name: 'uploads',
  about: 'multipart forms of /v1/audio/transcriptions and translations',
  scene: 'service',
  shortCases: 90,
  cases: () =>
    Promise.resolve(
      httpCases({
        path: fc.constantFrom('/v1/audio/transcriptions', '/v1/audio/translations'),
        headers: withCredential(
          ['api_key'],
          formType.map((type) => ({ 'content-type': type })),
        ),
        body: onTheWire(formBody),
      }),
    ),
  async run(each, scene) {
    const answer = await sendCase(each, scene.restUrl, scene.values);
    return checkCase(each, answer, scene.restUrl, scene);
  },
};
