import type { VideoJobStatus, VideoRequest, VideoResult } from '@model-gateway/contracts';
import type { Caller } from '../chat/caller.ts';

/** A video job as its owner may see it. */
export interface VideoJob {
  readonly id: string;
  readonly userId: string;
  /** As it was asked for. */
  readonly model: string;
  readonly status: VideoJobStatus;
  /** 0–99 until it is done, and never less than it was. */
  readonly progress: number;
  readonly result: VideoResult | null;
  readonly error: string | null;
  /** USD; 0 until it is done. */
  readonly cost: number;
  readonly createdAt: Date;
}

/** What is to be generated: the request without what is kept beside it. */
export type VideoOrder = Omit<VideoRequest, 'model' | 'images'>;

/** A picture that a video is to be made from. */
export interface VideoImage {
  readonly mimeType: string;
  readonly data: Uint8Array;
}

/** Who pays, as the usage row will say it. */
export type VideoPayer = Omit<Caller, 'modelPolicy'>;

/** A job with everything that is needed to submit it and to bill it. */
export interface VideoWork extends VideoJob {
  readonly payer: VideoPayer;
  /** What the model's alias meant when the job was created; prices go by it. */
  readonly resolvedModel: string;
  readonly order: VideoOrder;
  /** Where it was submitted, or was about to be; null as long as it may go anywhere. */
  readonly backend: string | null;
  /** What that backend calls the model. */
  readonly servedModel: string | null;
}

/** A running job that it is time to ask the upstream about. */
export interface VideoPoll {
  readonly id: string;
  readonly backend: string;
  readonly taskId: string;
  readonly startedAt: Date;
}
