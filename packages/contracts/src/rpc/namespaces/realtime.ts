import { z } from 'zod';
import { checkRealtimeCounts } from '../../counts.ts';
import { passAllFields, passFurtherFields } from '../../open-object.ts';
import { method } from '../method.ts';
import { modelId, refId } from './records.ts';

/** The events that a client may send in a realtime session. */
const CLIENT_EVENTS = [
  'session.update',
  'input_audio_buffer.append',
  'input_audio_buffer.commit',
  'input_audio_buffer.clear',
  'input_image_buffer.append',
  'response.create',
  'response.cancel',
  'session.stop',
] as const;

const options = z.unknown().check(checkRealtimeCounts).optional();

const sessionId = z.string().min(1).max(128);

export const realtimeMethods = {
  'realtime.start': method({
    auth: 'jwt',
    summary: 'Open a realtime session; events of the model arrive on its notification stream.',
    params: z.object({
      model: modelId,
      config: passAllFields(
        z.record(z.string(), z.unknown()).check(checkRealtimeCounts),
      ).optional(),
      conversation_id: z.uuid().optional(),
      ref_id: refId.optional(),
    }),
    passesParams: true,
    result: z.object({ session_id: z.string(), stream_session: z.string() }),
  }),
  'realtime.event': method({
    auth: 'jwt',
    isOrdered: true,
    summary: 'Send an event to one of your realtime sessions.',
    params: z.object({
      session_id: sessionId,
      event: passFurtherFields(z.looseObject({ type: z.enum(CLIENT_EVENTS) }), {
        session: options,
        response: options,
      }),
    }),
    passesParams: true,
    result: z.object({ ok: z.literal(true) }),
  }),
  'realtime.stop': method({
    auth: 'jwt',
    isOrdered: true,
    summary: 'Close one of your realtime sessions.',
    params: z.object({ session_id: sessionId }),
    result: z.object({ removed: z.boolean() }),
  }),
};
