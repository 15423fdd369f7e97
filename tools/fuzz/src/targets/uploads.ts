import * as fc from 'fast-check';
import { bearerAmong, bearerHeader, type Bearer } from '../grammar/bearer.ts';
import { formBody, formType } from '../grammar/form-body.ts';
import { rarely } from '../grammar/rarely.ts';
import { bytesOf, cutAt, cuts, onTheWire, type WireText } from '../grammar/wire-text.ts';
import { checkAnswer } from '../run/check-answer.ts';
import { afterHangUp, send } from '../run/send.ts';
import type { ServiceScene, Target } from '../target.ts';

interface UploadRequest {
  readonly path: string;
  readonly contentType: string;
  readonly bearer: Bearer;
  readonly body: WireText;
  readonly cuts: readonly number[];
  readonly hangsUp: boolean;
}

/** Forms with a file, which pass to an upstream while they arrive. */
export const uploads: Target<UploadRequest, ServiceScene> = {
  name: 'uploads',
  about: 'multipart forms of /v1/audio/transcriptions and translations',
  scene: 'service',
  shortCases: 90,
  cases: () =>
    Promise.resolve(
      fc.record({
        path: fc.constantFrom('/v1/audio/transcriptions', '/v1/audio/translations'),
        contentType: formType,
        bearer: bearerAmong('api_key'),
        body: onTheWire(formBody),
        cuts,
        hangsUp: rarely(),
      }),
    ),
  async run({ path, contentType, bearer, body, cuts: positions, hangsUp }, scene) {
    const answer = await send(scene.restUrl, {
      method: 'POST',
      path,
      headers: { 'content-type': contentType, ...bearerHeader(bearer, scene.values) },
      pieces: cutAt(bytesOf(body, scene.values), positions),
      hangsUp,
    });
    if (hangsUp) return afterHangUp(scene.restUrl);
    if (answer.outcome === 'broken off') return ['the connection broke'];
    return checkAnswer(answer, scene.secrets);
  },
};
